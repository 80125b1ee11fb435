// A file being written. It gets its final name at `commit`. Until then the bytes are in
// `<name>.partial` (docs/design.md, rule 8), or in `<name>.1.partial` and so on while another
// writer uses that file: two writers of one name never mix their bytes, and the last one to commit
// wins. A killed writer leaves its `.partial`, which the next writer of the name takes over. In the
// memory file system, nothing is visible before `commit`.
//
// A writer that may be resumed calls `leave_partial`; FileSystem::resume opens the `.partial` that
// such a writer, or a killed one, has left.
#pragma once

#include <cstdint>
#include <string>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// If a sink is destroyed without `commit`, the written bytes are removed, except in a forked child,
// which leaves its parent's file alone. Threads: one at a time.
class Sink {
 public:
  virtual ~Sink() = default;
  Sink& operator=(Sink&&) = delete;

  virtual const std::string& uri() const = 0;

  // Appends. Errors: IoError (for a full disk, with the number of bytes needed), after which the
  // sink can only be destroyed; StateError after `commit`, after an error, and in a forked child.
  virtual void write(Bytes bytes) = 0;

  // The file's size: the bytes appended so far, minus those removed by `truncate`.
  virtual uint64_t position() const = 0;

  // The next three functions are for formats whose table precedes the data that it describes. They
  // see all bytes that were appended or replaced before, even if those are still in memory, and
  // `write` continues at the end. A range past `position` is an OutOfRangeError, which changes
  // nothing; all other errors, and their consequences, are as in `write`.

  // Replaces bytes that were appended; `position` does not change.
  virtual void rewrite(uint64_t offset, Bytes bytes) = 0;

  // Reads appended bytes into `into`.
  virtual void read_back(uint64_t offset, MutableBytes into) = 0;

  // Keeps the first `size` bytes and removes the rest. Never makes a file longer.
  virtual void truncate(uint64_t size) = 0;

  // Whether no other writer was writing a file of this name when this writer began. The first
  // writer holds `<name>.partial`, so exactly one of several simultaneous writers is the first; it
  // alone should write the companion files. Default: true.
  virtual bool is_first_writer() const { return true; }

  // Passes the appended bytes to the operating system, so that they survive a crash of this
  // process, but not of the machine. Default: does nothing. Errors: as for `write`.
  virtual void flush() {}

  // Whether the `.partial` file is kept if the sink is destroyed without commit. If never called,
  // it is removed. Default implementation: does nothing; no file can be kept.
  virtual void leave_partial(bool) {}

  // Flushes the appended bytes to the device, which may take long. A following `commit` then has
  // little to do and is unlikely to fail, which helps if several files must get their names
  // together. Default: does nothing. Errors: as for `write`.
  virtual void sync() {}

  // Flushes to the device and gives the file its final name, replacing any file of that name.
  // Called at most once; nothing may be written after it. Errors: as for `write`; the file then
  // does not have its final name (or, if only flushing the directory failed, has it but may lose it
  // in a power failure).
  void commit() { commit_as(uri()); }

  // As `commit`, but the final name is `uri`, in the same directory. That name is not locked: if
  // two writers use it, the last one wins.
  virtual void commit_as(const std::string& uri) = 0;

  // As `commit`, but never replaces a file: if several writers commit to one name, one succeeds.
  // Returns: whether the file got its name; false if the name exists (as a file, a directory, or a
  // link, even a dangling one), after which the sink can only be destroyed. Errors: as for
  // `commit`; IoError if the file system cannot rename without replacing.
  [[nodiscard]] virtual bool commit_new() = 0;

 protected:
  // Errors: OutOfRangeError for a range that ends after `position`.
  void check_appended(uint64_t offset, uint64_t length) const;
};

}  // namespace fuelrail
