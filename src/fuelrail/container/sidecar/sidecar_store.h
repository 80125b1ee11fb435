// Finds the sidecar of a data file and writes new ones (docs/formats/frx.md): beside the file as
// `X.frx`, else in the cache directory, else only in memory. Independent of the data format.
//
// A writer that replaces a data file first renames the new sidecar to `X.frx.next`, then renames
// the data file, then the sidecar to its final name (pack/output/part.h). So at every moment, even
// after a kill, one of the two sidecars belongs to the file. The identity tells which one. If both
// identities are equal, `X.frx.next` belongs to the file unless the new file is still `X.partial`.
// Readers rename nothing.
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

// A record that is missing or incomplete in its file.
struct MissingRecord {
  uint64_t record = 0;
  uint64_t offset = 0;
};

struct SidecarLocation {
  SidecarPlace place = SidecarPlace::kMemory;
  std::string uri{};  // empty in memory
  bool made = false;  // written while the file was opened, because it had none
};

struct StoredSidecar {
  std::shared_ptr<const Sidecar> sidecar;
  SidecarLocation location;
  ChangedEnds changed{};  // ends of the file that were damaged since the sidecar was built
};

// Builds a sidecar from `writer` in memory without writing a file. Errors: only out of memory.
StoredSidecar sidecar_in_memory(const SidecarWriter& writer, const FileIdentity& identity);

// `X.frx` for `X`.
std::string sidecar_uri(const std::string& data_uri);

// `X.next` for `X`: the name of a companion of a data file (its sidecar, its index) until the data
// file has been renamed.
std::string next_uri(const std::string& uri);

// Whether `X.frx.next` is the sidecar that belongs to the data file. If so, the file's index is
// `X.idx.next`, if that exists. Errors: IoError.
bool is_next_in_use(const Source& data);

// For a caller that has committed a data file without a sidecar: removes the sidecars beside it
// that belong to another file. Errors: none; a sidecar that cannot be removed is ignored when the
// file is opened.
void remove_foreign_sidecar(const std::string& data_uri);

// The data file's number of records according to the sidecar beside it; empty if no sidecar there
// belongs to the file. Errors: IoError.
std::optional<uint64_t> records_beside(const Source& data);

// The cache directory for sidecars: $XDG_CACHE_HOME/fuelrail, else $HOME/.cache/fuelrail; empty if
// neither variable is set. A variable with a relative path counts as not set.
std::optional<std::string> sidecar_cache_directory();

// A format's checks of its files' sidecars. Lifetime: the objects that these functions refer to
// outlive the SidecarStore.
struct SidecarRules {
  // Throws an Error that says why the format cannot use this sidecar of the file.
  std::function<void(const Sidecar&)> accept;

  // Called for a sidecar that `accept` accepts, but whose identity differs from the file's and is
  // that of a file at least as long. Returns whether the file's content shows that it is the
  // sidecar's file, damaged or truncated. Default: it is not.
  std::function<bool(const Sidecar&, const ChangedEnds&)> agrees{};

  // The first record that is missing or incomplete in this file, which is shorter than the file the
  // sidecar was built for. Default: unknown.
  std::function<MissingRecord(const Sidecar&)> first_missing{};
};

// How to handle a file that is shorter than its sidecar says.
enum class CutFile : uint8_t { kRefused, kUsed };

// The data file was replaced while it was being opened, so the companions beside it no longer
// belong to it.
class ReplacedError : public StateError {
  using StateError::StateError;
};
// What to do with a replaced file: throw a ReplacedError, or use it.
enum class Replaced : uint8_t { kRefused, kIgnored };

// Errors: ReplacedError if the file's name now leads to a different file, unless `replaced` is
// kIgnored.
void check_still_named(const Source& data, Replaced replaced);

// Calls `open` again each time it throws a ReplacedError. After many attempts, calls it one last
// time and ignores replacement.
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

// Finds, writes or replaces the sidecar of one data file that is being opened. Several processes
// may open, index and pack the same file at once: each publishes whole files by rename. A scan
// never replaces a sidecar, and `fuelrail index` replaces only the sidecar that it found when it
// started. Threads: one at a time.
class SidecarStore {
 public:
  // Reads the ends of `data` and the sidecars beside it in one parallel round, to wait for storage
  // only once. `warn` is called for ignored sidecars and for places that cannot be written.
  // `replaced`: what `find` does if the file was replaced. `ignore_sidecars`: read nothing beside
  // the file, `find` returns nothing, and `publish` keeps the sidecar in memory.
  SidecarStore(std::shared_ptr<const Source> data, Warn warn,
               Replaced replaced = Replaced::kIgnored, bool ignore_sidecars = false);

  const FileIdentity& identity() const { return identity_; }

  // The first 64 KiB of the data file, or all of it if it is shorter. Always available.
  Bytes head() const { return head_; }

  // Finds the file's sidecar: beside the file, else in the cache. A sidecar with the file's
  // identity belongs to the file. If a sidecar beside the file was built for a file at least as
  // long, it belongs to this file too if SidecarRules::agrees returns true; this file is then
  // damaged or truncated. A sidecar is ignored if it cannot be read, belongs to a different file or
  // is not accepted: `warn` is called with the reason, and an ignored sidecar beside the file is
  // not overwritten. If only its hints are damaged, `warn` is called and the rest of the sidecar is
  // used. Returns: empty if there is no usable sidecar. Errors: ReplacedError;
  // TruncatedError if the file is shorter than its sidecar says, unless `cut` is kUsed.
  std::optional<StoredSidecar> find(const SidecarRules& rules, CutFile cut = CutFile::kRefused);

  // Call after `find` returned nothing. Writes the sidecar beside the file, else into the cache,
  // else keeps it in memory with a warning. If another process writes a sidecar there first, that
  // sidecar is used and not overwritten. If the data file has changed by then, nothing is written
  // beside it. A place that cannot be written is not an error.
  StoredSidecar publish(const SidecarWriter& writer);

  // Replaces the sidecar that `find` returned, or writes a new one beside the file, else into the
  // cache. Errors: those of check_replaceable; IoError; StateError, with nothing written, if the
  // data file has changed or is being written (X.partial is locked, pack/output/part.h), or if the
  // sidecar to be replaced is no longer the one that `find` returned.
  StoredSidecar replace(const SidecarWriter& writer);

  // Errors: CorruptError if `find` ignored a file that `replace` would overwrite.
  void check_replaceable() const;

 private:
  struct Candidate {
    SidecarLocation location;
    bool set_aside = false;
  };

  std::optional<StoredSidecar> find_beside();
  struct Look;  // the sidecars found beside the file
  // A file beside the data file; its beginning is read together with the data file's.
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
  std::vector<Beside> read_beside_;  // not used yet
  Warn warn_;
  Replaced replaced_;
  bool ignore_sidecars_;
  Candidate beside_;
  std::optional<Candidate> cache_;
  SidecarRules rules_{.accept = [](const Sidecar&) {}};
  CutFile cut_ = CutFile::kRefused;
  std::optional<StoredSidecar> found_;
};

// Calls open(source, store) with a data file's source and its SidecarStore. If the file is replaced
// while `open` runs, calls `open` again with the new file. Returns: the result of `open`. Errors:
// those of FileSystem::open and of `open`.
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
