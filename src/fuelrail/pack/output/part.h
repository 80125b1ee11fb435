// One packed file with its companions: `X.rec`, the standard index `X.idx`, the sidecar
// `X.rec.frx`; or `X.ffr` and `X.ffr.frx`.
//
// How they get their names. All bytes of all of them are on the device under `.partial` names
// before any name changes, and each step is one rename. Over all parts of a job:
//   1. `begin_commit`;
//   2. `commit_companions`: the sidecar gets the name X.rec.frx, the index X.idx;
//   3. `commit_data`: X.rec gets its name, unless that is taken.
// So whenever an X.rec is there, it is whole and what stands beside it is its own, at whatever
// moment the process is killed. A kill between 2 and 3 leaves no X.rec but the whole X.rec.partial,
// by which the next pack knows that companions without their X.rec are such a kill's, and replaces
// them. Otherwise they are somebody's (of an X.rec that was lost or is elsewhere) and are replaced
// only where an X.rec would be.
//
// Where there is an X.rec that may be replaced:
//   2. the sidecar gets the name X.rec.frx.next, the index X.idx.next;
//   3. X.rec gets its name, which is taken from the old file in one step; then X.idx.next gets the
//   name X.idx, and then X.rec.frx.next the name X.rec.frx.
// So at every moment X.rec is the old file or the new one, whole, and one of the two sidecars
// belongs to it, which readers of fuelrail find (container/sidecar/sidecar_store.h); as long as
// that is X.rec.frx.next, X.idx.next is the index of X.rec where it is there. What a killed run has
// not done of step 3 is done by the next one that writes X.rec. A run that fails before X.rec has
// its name leaves the old files, and its own as X.rec.partial with its companions.
//
// X.rec.partial is also the lock of all: it is the first that is taken, and whoever finds it taken
// gives up at once. It ends when X.rec gets its name, and is taken again for the rest of step 3.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/record_file_writer.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::pack {

// Whether the file has its name, and is the one that was meant.
bool is_named(const std::string& uri, const FileIdentity& identity);

// What a writer of the file that was killed has not done of step 3. Errors: IoError, also while
// another one is writing the file.
void complete_names(const std::string& uri);

// Errors: IoError when there is such a file, or what would go with it and is no killed pack's.
void refuse_existing(const std::string& uri);

// Threads: one at a time. Destroyed before `commit_data` has succeeded: nothing of it keeps a final
// name, unless X.rec has its own.
class Part {
 public:
  enum class Begin : uint8_t {
    kEmpty,
    kAsLeft,  // with the records that are in the `.partial`, for `adopt_image`; destroyed before
              // `commit_data`, the part leaves its records for the next one
  };

  // Begins the `.partial` files of the format that the name says. `expected`: how many records will
  // come, or nearly. Errors: those of format_for and FileSystem::create; IoError while
  // another part is writing the same file.
  Part(std::string uri, uint64_t expected, bool overwrite, Begin begin = Begin::kEmpty);
  ~Part();
  Part& operator=(Part&&) = delete;

  // Takes over the next image record that is there. Returns: whether there is one of these bytes in
  // the file whose payload has this checksum. Errors: IoError.
  bool adopt_image(uint64_t framed_bytes, uint32_t crc);
  // Cuts off what was not taken over. Required before the first record is appended.
  void end_adopting();

  // An image record, whose key is its id. Requires: `payload` begins with an image header; `crc` is
  // its CRC-32. Errors: IoError.
  void append_image(Bytes payload, uint32_t crc);
  // Any record, whose key is `key`. `id`: what the record says itself, where it is an image; else
  // that is its number. A file without an index has the keys in its sidecar, where one of them is
  // not what its record says. Memory: 8 bytes a record then. Errors: as RecordFileWriter::append.
  void append(Bytes payload, uint32_t crc, uint64_t key, std::optional<uint64_t> id = {});

  // What ties the file to a sidecar. Requires: finish.
  const FileIdentity& identity() const { return identity_; }

  // Takes what the records themselves do not say, before `finish`.
  SidecarWriter& sidecar() { return sidecar_writer_; }

  // Hands the records so far to the system, so that they outlive this process. Errors: IoError.
  void flush() { data_->flush(); }

  // Completes the files and flushes them to the device. Errors: IoError.
  void finish();
  // The same, of images, whose labels and classes the sidecar says.
  void finish_images(const std::vector<std::string>& classes);

  // What is destroyed before `commit_data` leaves nothing, whatever it began with.
  void leave_nothing() { data_->leave_partial(false); }

  // Of a part by itself, which is finished: all three of the following. Errors: theirs.
  void commit();

  // Errors: IoError, also when there is an old file and it may not be overwritten.
  void begin_commit();
  void commit_companions();
  void commit_data();

  const std::string& uri() const { return uri_; }
  uint64_t records() const { return records_; }
  uint64_t bytes() const { return data_->position(); }

 private:
  void write(Bytes payload, uint32_t crc, uint64_t key);
  void leave_partials();
  bool data_has_its_name() const;
  void remove_companions();

  std::string uri_;
  bool overwrite_;
  bool replaces_ = false;        // an X.rec that was there at begin_commit
  std::unique_ptr<Sink> data_;   // before the others: it is their lock
  std::unique_ptr<Sink> index_;  // null where the format has none
  std::unique_ptr<Sink> sidecar_;
  SidecarWriter sidecar_writer_;
  std::unique_ptr<RecordFileWriter> records_writer_;
  LabelTally labels_;
  std::vector<uint64_t> keys_;  // where the file has no index
  bool keys_differ_ = false;
  uint64_t records_ = 0;
  uint64_t adopted_ = 0;  // bytes of the file that were taken over
  std::vector<std::byte> framed_;
  FileIdentity identity_;
  enum class State { kOpen, kCommitting, kCommitted } state_ = State::kOpen;
};

}  // namespace fuelrail::pack
