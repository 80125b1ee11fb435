// A file being written. It has its final name only after `commit`: until then the bytes are in
// `<name>.partial` (docs/design.md, rule 8), or, while another writer holds that one, in
// `<name>.1.partial` and so on: two writers of one name never mix their bytes, and the last to
// commit wins. A killed writer leaves its `.partial`, which the next writer of the name takes over.
// Where a file system has no files of its own to show (memory), nothing can be seen before
// `commit`.
//
// A writer that may be gone on with says so by `leave_partial`; FileSystem::resume opens what it,
// or a killed one, has left.
#pragma once

#include <cstdint>
#include <string>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// Destroyed without commit = aborted: what was written is removed, except in a forked child, which
// only lets go of what is its parent's. Threads: one at a time.
class Sink {
 public:
  virtual ~Sink() = default;
  Sink& operator=(Sink&&) = delete;

  virtual const std::string& uri() const = 0;

  // Appends. Errors: IoError (a full disk names itself and the bytes that were wanted), after which
  // the sink can only be destroyed; StateError after `commit`, after an error, and in a forked
  // child.
  virtual void write(Bytes bytes) = 0;

  // Bytes appended so far, less what was cut off: the file's size.
  virtual uint64_t position() const = 0;

  // For formats whose table stands before what it describes. All three work on the file as it
  // stands: what was appended or replaced before is seen, whether it has left memory or not, and
  // appending goes on at the end. What lies past `position` is refused with an OutOfRangeError,
  // which changes nothing; all other errors are as `write`'s, also in what follows them.

  // Replaces bytes that were appended; `position` stays.
  virtual void rewrite(uint64_t offset, Bytes bytes) = 0;

  // Fills `into` with bytes that were appended.
  virtual void read_back(uint64_t offset, MutableBytes into) = 0;

  // Cuts the end off: `size` bytes stay. Never makes a file longer.
  virtual void truncate(uint64_t size) = 0;

  // Whether nobody else was writing the name when this writer began. It holds `<name>.partial`
  // then, so that of several writers at once one is the first: for files that belong together, of
  // which the others must not make some. Default: true.
  virtual bool is_first_writer() const { return true; }

  // Hands what was appended to the system, so that it outlives this process, if not the machine.
  // Default: does nothing. Errors: as write.
  virtual void flush() {}

  // Whether what was written stays, under its `.partial` name, when the sink is destroyed without
  // commit. Not called: it goes. Default: does nothing; nothing can stay then.
  virtual void leave_partial(bool) {}

  // Flushes what was appended to the device, which takes as long as the device takes; `commit` then
  // has little left to do, and can hardly fail. For files that get their names together. Default:
  // does nothing. Errors: as write.
  virtual void sync() {}

  // Flushes to the device and gives the file its final name, replacing what had it. Called at most
  // once; nothing may be written after it. Errors: as write; the file then still has no final name
  // (or, when the directory's own flush was what failed, has it, but may lose it with the power).
  void commit() { commit_as(uri()); }

  // The same under another name in the directory, which is not locked: of two writers that give it,
  // the last wins.
  virtual void commit_as(const std::string& uri) = 0;

  // As commit, but replaces nothing: of several that give one name, one succeeds. Returns: whether
  // the file has its name; false when that was taken (by a file, a directory or a link, dangling
  // or not), after which the sink can only be destroyed. Errors: as commit; IoError where the file
  // system can give no name without replacing.
  [[nodiscard]] virtual bool commit_new() = 0;

 protected:
  // Errors: OutOfRangeError for what is not all below `position`.
  void check_appended(uint64_t offset, uint64_t length) const;
};

}  // namespace fuelrail
