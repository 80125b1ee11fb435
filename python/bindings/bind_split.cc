#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bindings.h"
#include "fuelrail/base/error.h"
#include "fuelrail/split/input_split.h"

namespace fuelrail::python {
namespace {

// A split that any thread may call; one call at a time goes on.
class SharedSplit {
 public:
  SharedSplit(const std::string& uri, const InputSplitOptions& options)
      : split_(std::in_place, uri, options) {}
  // Ends the thread without the GIL: it finishes the read that it is in.
  ~SharedSplit() {
    const GilReleased released;
    split_.reset();
  }
  SharedSplit(const SharedSplit&) = delete;
  SharedSplit& operator=(const SharedSplit&) = delete;

  // The GIL is not held while a call is waited for: the one in progress needs it to end.
  class Use {
   public:
    explicit Use(SharedSplit& shared) : shared_(shared) {
      shared.check_process();
      hold_ = std::unique_lock(shared.mutex_, std::try_to_lock);
      if (hold_) return;
      const GilReleased released;
      hold_.lock();
    }
    // Errors: StateError when it is closed.
    InputSplit* operator->() const {
      if (shared_.split_) return &*shared_.split_;
      throw StateError("the input split is closed", {.remedy = "Make a new one"});
    }

   private:
    SharedSplit& shared_;
    std::unique_lock<std::mutex> hold_;
  };

  // Waits for the call in progress. In a forked child whose parent was in a call, nothing.
  void close() {
    notice_fork();
    if (torn_) return;
    const GilReleased released;
    const std::lock_guard lock(mutex_);
    split_.reset();
  }

 private:
  // Called with the GIL, before the mutex: in a forked child it may be held for ever.
  void notice_fork() {
    if (seen_in_ == ::getpid()) return;
    seen_in_ = ::getpid();
    torn_ = !mutex_.try_lock();
    if (!torn_) mutex_.unlock();
  }

  void check_process() {
    notice_fork();
    if (!torn_) return;
    throw StateError("a thread of the parent was using the input split when this process began",
                     {.remedy = "Make a new one after the fork"});
  }

  pid_t seen_in_ = ::getpid();
  bool torn_ = false;
  std::mutex mutex_;
  std::optional<InputSplit> split_;
};

nb::bytes python_bytes(Bytes bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::optional<nb::bytes> bytes_or_none(const std::optional<Bytes>& bytes) {
  if (!bytes) return std::nullopt;
  return python_bytes(*bytes);
}

std::unique_ptr<SharedSplit> open_split(nb::bytes uri, const std::string& type, uint64_t part,
                                        uint64_t nsplit, nb::bytes index_uri,
                                        bool recurse_directories, bool shuffle, int64_t seed,
                                        uint64_t shuffle_parts, uint64_t batch_size,
                                        uint64_t chunk_bytes) {
  const std::string name(uri.c_str(), uri.size());
  const InputSplitOptions options{.type = split_type_of(type),
                                  .part = part,
                                  .nsplit = nsplit,
                                  .index_uri = std::string(index_uri.c_str(), index_uri.size()),
                                  .recurse_directories = recurse_directories,
                                  .shuffle = shuffle,
                                  .seed = seed,
                                  .shuffle_parts = shuffle_parts,
                                  .batch_size = batch_size,
                                  .chunk_bytes = chunk_bytes};
  const GilReleased released;
  return std::make_unique<SharedSplit>(name, options);
}

// Most records are there already: for them the GIL is kept.
std::optional<nb::bytes> next_split_record(SharedSplit& self) {
  const SharedSplit::Use split(self);
  std::optional<Bytes> record;
  if (split->has_record_at_hand()) {
    record = split->next_record();
  } else {
    const GilReleased released;
    record = split->next_record();
  }
  return bytes_or_none(record);
}

std::optional<nb::bytes> next_split_chunk(SharedSplit& self) {
  const SharedSplit::Use split(self);
  std::optional<Bytes> chunk;
  {
    const GilReleased released;
    chunk = split->next_chunk();
  }
  return bytes_or_none(chunk);
}

std::optional<nb::bytes> next_split_batch(SharedSplit& self, uint64_t records) {
  const SharedSplit::Use split(self);
  std::optional<Bytes> batch;
  {
    const GilReleased released;
    batch = split->next_batch(records);
  }
  return bytes_or_none(batch);
}

nb::typed<nb::list, nb::bytes> records_of_chunk(SharedSplit& self, nb::bytes chunk) {
  const SharedSplit::Use split(self);
  nb::list list;
  const Bytes bytes = as_bytes(std::string_view(chunk.c_str(), chunk.size()));
  for (const auto& record : split->records_of(bytes)) list.append(python_bytes(record));
  return list;
}

void rewind_split(SharedSplit& self) {
  const SharedSplit::Use split(self);
  const GilReleased released;
  split->before_first();
}

void move_split(SharedSplit& self, uint64_t part, uint64_t nsplit) {
  const SharedSplit::Use split(self);
  const GilReleased released;
  split->reset_partition(part, nsplit);
}

nb::typed<nb::list, nb::str> split_files(SharedSplit& self) {
  const SharedSplit::Use split(self);
  nb::list names;
  for (const std::string& name : split->files()) names.append(fs_text(name));
  return names;
}

}  // namespace

void bind_split(nb::module_& module) {
  nb::class_<SharedSplit>(module, "InputSplit")
      .def("next_record", next_split_record)
      .def("next_chunk", next_split_chunk)
      .def("next_batch", next_split_batch, nb::arg("records"))
      .def("records_of", records_of_chunk, nb::arg("chunk"))
      .def("before_first", rewind_split)
      .def("reset_partition", move_split, nb::arg("part"), nb::arg("nsplit"))
      .def(
          "hint_chunk_size",
          [](SharedSplit& self, uint64_t bytes) { SharedSplit::Use(self)->hint_chunk_size(bytes); },
          nb::arg("bytes"))
      .def("close", &SharedSplit::close)
      .def("total_size", [](SharedSplit& self) { return SharedSplit::Use(self)->total_size(); })
      .def_prop_ro("files", split_files);
  module.def("open_input_split", open_split, nb::arg("uri"), nb::arg("type"), nb::arg("part"),
             nb::arg("nsplit"), nb::arg("index_uri"), nb::arg("recurse_directories"),
             nb::arg("shuffle"), nb::arg("seed"), nb::arg("shuffle_parts"), nb::arg("batch_size"),
             nb::arg("chunk_bytes"));
}

}  // namespace fuelrail::python
