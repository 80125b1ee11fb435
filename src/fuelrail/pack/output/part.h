// One packed file with its companions: `X.rec` with the index `X.idx` and the sidecar `X.rec.frx`;
// or `X.ffr` with `X.ffr.frx`, or `X.bzna` with `X.bzna.frx`.
//
// How the files get their names: before any name changes, all bytes of all files are on the device
// under `.partial` names. Each name then changes in one rename. For all parts of a job:
//   1. `begin_commit`;
//   2. `commit_companions`: the sidecar gets the name X.rec.frx, the index X.idx;
//   3. `commit_data`: X.rec gets its name, unless that name is taken.
// So an existing X.rec is always complete and the companions beside it are its own, even if the
// process is killed at any moment. A kill between steps 2 and 3 leaves no X.rec but a complete
// X.rec.partial. If the next job finds that file, it treats companions without their X.rec as left
// by such a kill, and replaces them. Other companions without an X.rec belong to a file that was
// lost or moved; they are replaced only if an X.rec could be replaced too.
//
// If an X.rec exists and may be replaced:
//   2. the sidecar gets the name X.rec.frx.next, the index X.idx.next;
//   3. X.rec gets its name, replacing the old file in one step; then X.idx.next gets the name
//      X.idx, and then X.rec.frx.next the name X.rec.frx.
// So at every moment X.rec is complete, either as the old file or as the new one, and one of the
// two sidecars belongs to it; fuelrail's readers find that sidecar
// (container/sidecar/sidecar_store.h). While it is X.rec.frx.next, X.idx.next, if it exists, is the
// index of X.rec. The next run that writes X.rec finishes an interrupted step 3. A run that fails
// before the new X.rec has its name leaves the old files unchanged, and the new files complete as
// X.rec.partial with its companions.
//
// X.rec.partial is also the lock for all these files: a writer takes it first, and a second writer
// fails at once. The lock ends when X.rec gets its name, and is taken again for the rest of step 3.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/hint_workers.h"
#include "fuelrail/container/payload.h"
#include "fuelrail/container/record_file_writer.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::pack {

// Whether the file exists under its name and is the expected file.
bool is_named(const std::string& uri, const FileIdentity& identity);

// Finishes step 3 of a writer that was killed. Errors: IoError, including a file that another job
// is writing.
void complete_names(const std::string& uri);

// Errors: IoError if the file exists, or if a companion of it exists that no killed job left.
void refuse_existing(const std::string& uri);

// Threads: one at a time. If the part is destroyed before `commit_data` has succeeded, none of its
// files keeps a final name, unless X.rec already has its name.
class Part {
 public:
  enum class Begin : uint8_t {
    kEmpty,
    kAsLeft,  // keep the records in the `.partial` file, for `adopt_image`; a part that is
              // destroyed before `commit_data` leaves them there for the next `Part`
  };

  // Creates the `.partial` files of the format that the name implies. `expected`: the approximate
  // number of records to come. Errors: those of format_for and FileSystem::create; IoError while
  // another part is writing the same file.
  Part(std::string uri, uint64_t expected, bool overwrite, Begin begin = Begin::kEmpty);
  ~Part();
  Part& operator=(Part&&) = delete;

  // Takes over the next record in the file, that of the image or sample `id`, if it has
  // `framed_bytes` bytes and its payload has the checksum `crc`. Adds it to `hint_workers`.
  // Returns: whether it does. Errors: IoError; those of HintWorkers::add.
  bool adopt_image(uint64_t framed_bytes, uint32_t crc, uint64_t id, HintWorkers& hint_workers);
  // Removes the bytes after the last record that was taken over. Call before the first record is
  // appended.
  void end_adopting();

  // Appends the record of the image or sample `id`, which is also its key. Requires: `payload` has
  // the content of the format's records (RecordContent), or is a sample record; `crc` is its
  // CRC-32. Errors: IoError.
  void append_image(Bytes payload, uint32_t crc, uint64_t id);
  // Appends any record. `id`: the id in the record; default: the record's number. If the
  // format has no index, this takes 8 bytes of memory for each record, and the sidecar stores the
  // keys if any key differs from its record's id. Errors: those of RecordFileWriter::append.
  void append(Bytes payload, uint32_t crc, uint64_t key, std::optional<uint64_t> id = {});

  // The file's identity, as its sidecar stores it. Requires: `finish` has been called.
  const FileIdentity& identity() const { return identity_; }

  // Sets the splits of the file, before `finish`. Errors: UnsupportedError if the format stores
  // none.
  void set_splits(std::vector<RecordSplit> splits);

  // For data that the records do not contain; add it before `finish`.
  SidecarWriter& sidecar() { return sidecar_writer_; }

  // Passes the records so far to the operating system, so that they survive the end of this
  // process. Errors: IoError.
  void flush() { data_->flush(); }

  // Completes the files and flushes them to the device. Errors: IoError.
  void finish();
  // As `finish`, but stores the labels of the images, or the fields of the samples, and the class
  // names in the sidecar first, and then the sections of `source` that cannot be rebuilt, except
  // keys. Requires: the part has all records of the source, in order. Errors: CorruptError for a
  // damaged `source`. `field_classes`: the class names of other fields of samples.
  void finish_images(const std::vector<std::string>& classes, const Sidecar* source = nullptr,
                     const FieldClasses& field_classes = {});

  // Makes the destructor remove the files if `commit_data` has not succeeded, even with
  // Begin::kAsLeft.
  void leave_nothing() { data_->leave_partial(false); }

  // For a single finished part: calls the following three functions. Errors: those of the three.
  void commit();

  // Errors: IoError, including an old file that exists and may not be overwritten.
  void begin_commit();
  void commit_companions();
  void commit_data();

  const std::string& uri() const { return uri_; }
  uint64_t records() const { return records_; }
  uint64_t bytes() const { return data_->position(); }

 private:
  void write(Bytes payload, uint32_t crc, uint64_t key);
  void add_image(Bytes payload, uint64_t id);
  void add_key(uint64_t key, uint64_t default_key);
  void leave_partials();
  bool data_has_its_name() const;
  void remove_companions();

  std::string uri_;
  const FileFormat& format_;
  bool overwrite_;
  bool replaces_ = false;        // X.rec existed at begin_commit
  std::unique_ptr<Sink> data_;   // before the other sinks, because it is their lock
  std::unique_ptr<Sink> index_;  // null if the format has none
  std::unique_ptr<Sink> sidecar_;
  SidecarWriter sidecar_writer_;
  std::unique_ptr<RecordFileWriter> records_writer_;
  PayloadTally tally_;
  std::vector<uint64_t> keys_;  // used only if the file has no index
  bool keys_differ_ = false;
  uint64_t records_ = 0;
  uint64_t adopted_ = 0;  // bytes of the file that were taken over
  std::vector<std::byte> framed_;
  FileIdentity identity_;
  enum class State { kOpen, kCommitting, kCommitted } state_ = State::kOpen;
};

}  // namespace fuelrail::pack
