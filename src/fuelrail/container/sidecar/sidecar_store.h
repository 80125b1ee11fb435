// Where the sidecar of a data file lies, and how a new one gets there (docs/formats/frx.md): beside
// the file as `X.frx`, else in the cache directory, else in memory. Knows no data format.
//
// A writer that replaces a data file first gives its sidecar the name `X.frx.next`, then the data
// file its name, then the sidecar its own (pack/output/part.h). So at every moment, and for ever
// after a kill, one of the two beside the file belongs to it; which one, its identity says, and of
// two files of one identity, whether the new one still is `X.partial`. Readers rename nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

enum class SidecarPlace { kBeside, kCache, kMemory };
const char* name_of(SidecarPlace place);  // "beside", "cache", "memory"

// A record that its file does not have to its end.
struct MissingRecord {
  uint64_t record = 0;
  uint64_t offset = 0;
};

struct SidecarLocation {
  SidecarPlace place = SidecarPlace::kMemory;
  std::string uri{};  // empty in memory
  bool made = false;  // by this opening, which found none
};

struct StoredSidecar {
  std::shared_ptr<const Sidecar> sidecar;
  SidecarLocation location;
  ChangedEnds changed{};  // the file's ends that are not as when the sidecar was made: damage
};

// Opens what `writer` collected without writing it anywhere. Errors: none but a lack of memory.
StoredSidecar sidecar_in_memory(const SidecarWriter& writer, const FileIdentity& identity);

// `X.frx` for `X`.
std::string sidecar_uri(const std::string& data_uri);

// `X.next` for `X`: the name that a companion of a data file (its sidecar, its index) has until the
// data file has got its own.
std::string next_uri(const std::string& uri);

// Whether the sidecar of the data file is `X.frx.next`: that belongs to the file. The index of the
// file is then `X.idx.next`, where there is one. Errors: IoError.
bool is_next_in_use(const Source& data);

// For whoever has given a data file its name and has no sidecar for it: removes those beside it,
// which were another file's, unless they belong to this one. Errors: none; one that cannot be
// removed is set aside when the file is opened.
void remove_foreign_sidecar(const std::string& data_uri);

// How many records the data file has, by the sidecar beside it; empty where none there is the
// file's. Errors: IoError.
std::optional<uint64_t> records_beside(const Source& data);

// $XDG_CACHE_HOME/fuelrail, else $HOME/.cache/fuelrail; empty without either (a relative
// $XDG_CACHE_HOME counts as none).
std::optional<std::string> sidecar_cache_directory();

// What a format knows of sidecars of its files. Lifetime, of what these functions hold: the
// opening's.
struct SidecarRules {
  // Throws an Error that says why the format cannot use a sidecar which belongs to the file.
  std::function<void(const Sidecar&)> accept;

  // Asked of a sidecar that `accept` takes, of another identity, whose file was as long as this one
  // or longer: whether what the file has shows that it is the same file, damaged or cut. Default:
  // it does not.
  std::function<bool(const Sidecar&, const ChangedEnds&)> agrees{};

  // The first record of such a longer file that this one does not have all of. Default: unknown.
  std::function<MissingRecord(const Sidecar&)> first_missing{};
};

// What to do with a file that is shorter than its sidecar says.
enum class CutFile : uint8_t { kRefused, kUsed };

// A data file has been replaced while it was opened: what is beside it is not its own any more.
class ReplacedError : public StateError {
  using StateError::StateError;
};
enum class Replaced : uint8_t { kRefused, kIgnored };

// Errors: ReplacedError where it is to be refused and the name leads to another file by now.
void check_still_named(const Source& data, Replaced replaced);

// Calls `open`, and again where it met a ReplacedError; the last of many times it may ignore that.
template <typename Open>
auto until_not_replaced(const Open& open) {
  constexpr int kMaxOpenings = 64;
  for (int opening = 1; opening < kMaxOpenings; ++opening) {
    try {
      return open(Replaced::kRefused);
    } catch (const ReplacedError&) {
    }
  }
  return open(Replaced::kIgnored);
}

// Serves one opening of one data file. Several processes may open, index and pack the same file at
// once: each publishes whole files by rename. What was scanned replaces nothing, and an index only
// what it was made from.
// Threads: one at a time.
class SidecarStore {
 public:
  // `warn` hears of sidecars set aside and places that cannot be written. Reads the ends of `data`
  // and what lies beside it, at once, so that storage is waited for once.
  // `replaced`: what `find` does where the file has been replaced. `ignore_sidecars`: nothing
  // beside the file is read, `find` gives none, and `publish` keeps the sidecar in memory.
  SidecarStore(std::shared_ptr<const Source> data, Warn warn,
               Replaced replaced = Replaced::kIgnored, bool ignore_sidecars = false);

  const FileIdentity& identity() const { return identity_; }

  // The beginning of the data file, 64 KiB of it or all, which is read in any case.
  Bytes head() const { return head_; }

  // The file's sidecar: beside the file, else in the cache. It belongs to the file if their
  // identities are equal. Beside the file it also does if it was made of a file at least as long,
  // and SidecarRules::agrees says so: then the file is damaged or cut. A sidecar that cannot be
  // read, belongs to another file or is not accepted is set aside: `warn` hears why, it is not
  // used, and beside the file it is not overwritten. Returns: empty when there is none to use.
  // Errors: ReplacedError; TruncatedError where the file is shorter than its sidecar says, unless
  // `cut` is kUsed.
  std::optional<StoredSidecar> find(const SidecarRules& rules, CutFile cut = CutFile::kRefused);

  // After `find` gave none: writes the sidecar beside the file, else into the cache, else keeps it
  // in memory with a warning. One that has appeared there meanwhile is used, not overwritten, up to
  // the moment of the rename. Where the data file has another identity by then, its sidecar's place
  // is left alone. Errors: none of these places'.
  StoredSidecar publish(const SidecarWriter& writer);

  // Replaces what `find` gave, or writes where it gave none: beside the file, else into the cache.
  // Errors: those of check_replaceable; IoError; StateError, with nothing written, when the data
  // file has another identity by then or is being written (X.partial is held, pack/output/part.h),
  // or what stands in the place is not what `find` gave.
  StoredSidecar replace(const SidecarWriter& writer);

  // Errors: CorruptError when `find` set a file aside that `replace` would overwrite.
  void check_replaceable() const;

 private:
  struct Candidate {
    SidecarLocation location;
    bool set_aside = false;
  };

  std::optional<StoredSidecar> find_beside();
  struct Look;  // what was seen beside the file
  // A file beside the data file, of which the beginning is read with the data file's.
  struct Beside {
    std::string uri;
    std::shared_ptr<const Source> source{};
    std::vector<std::byte> head{};
  };
  void read_first();
  std::shared_ptr<const Sidecar> open_sidecar(const std::string& uri);
  std::optional<StoredSidecar> look_beside(Look& look);
  std::optional<StoredSidecar> judged(const Look& look) const;
  bool belongs(const StoredSidecar& other) const;
  [[noreturn]] void throw_cut(const Sidecar& sidecar) const;
  std::optional<StoredSidecar> find_in_cache();
  std::shared_ptr<const Sidecar> try_open(const std::string& uri, Look& look);
  void set_aside(Candidate& candidate, const std::string& refused);
  SidecarLocation own_beside() const;
  bool data_has_changed() const;
  std::unique_ptr<Sink> write(const SidecarWriter& writer, const SidecarLocation& location) const;
  std::optional<StoredSidecar> publish_at(const SidecarWriter& writer, Candidate& candidate);
  StoredSidecar replace_at(const SidecarWriter& writer, const SidecarLocation& location) const;
  std::unique_ptr<Sink> hold_writers_off() const;
  void check_unchanged(const SidecarLocation& location) const;
  StoredSidecar made_at(const SidecarLocation& location) const;
  StoredSidecar open_written(const SidecarLocation& location) const;
  void warn(const std::string& message) const;

  std::shared_ptr<const Source> data_;
  std::string data_uri_;
  FileIdentity identity_;
  std::vector<std::byte> head_;
  std::vector<Beside> read_beside_;  // not looked at yet
  Warn warn_;
  Replaced replaced_;
  bool ignore_sidecars_;
  Candidate beside_;
  std::optional<Candidate> cache_;
  SidecarRules rules_{.accept = [](const Sidecar&) {}};
  CutFile cut_ = CutFile::kRefused;
  std::optional<StoredSidecar> found_;
};

// Calls `open` with the source of a data file and its store, and again, with the file that then has
// the name, where it was replaced meanwhile. Returns: what `open` does. Errors: those of
// FileSystem::open and of `open`.
template <typename Open>
auto open_with_store(const std::string& uri, const Warn& warn, const Open& open,
                     bool ignore_sidecars = false) {
  return until_not_replaced([&](Replaced replaced) {
    const std::shared_ptr<const Source> source = file_system_for(uri).open(uri);
    SidecarStore store(source, warn, replaced, ignore_sidecars);
    return open(source, store);
  });
}

}  // namespace fuelrail
