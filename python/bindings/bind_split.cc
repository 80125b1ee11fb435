#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.h"
#include "fuelrail/base/errand.h"
#include "fuelrail/base/error.h"
#include "fuelrail/split/input_split.h"
#include "native_handle.h"

namespace fuelrail::python {
namespace {

using Made = std::optional<std::vector<std::byte>>;  // a result of a split; empty at its end

// The split and results that came after Ctrl-C. An abandoned call keeps it alive.
struct SplitCore {
  enum Kind : uint8_t { kRecord, kChunk, kBatch };

  SplitCore(const std::string& uri, const split::InputSplitOptions& options)
      : split(std::in_place, uri, options) {}

  // Errors: StateError if the split is closed.
  split::InputSplit& open() {
    if (split) return *split;
    throw StateError("the input split is closed", {.remedy = "Create a new input split"});
  }
  std::optional<Made> take_late(Kind kind) {
    const std::lock_guard hold(late_mutex);
    if (late[kind].empty()) return std::nullopt;
    Made made = std::move(late[kind].front());
    late[kind].pop_front();
    return made;
  }

  std::mutex mutex;  // for the split: one call at a time
  std::optional<split::InputSplit> split;
  std::mutex late_mutex;                 // never held for long
  std::array<std::deque<Made>, 3> late;  // by kind: results after Ctrl-C, for the next call
};

// A split whose methods any thread may call. The calls run one at a time.
class SharedSplit {
 public:
  SharedSplit(const std::string& uri, const split::InputSplitOptions& options)
      : core_(PythonTurns().run(
            [uri, options] { return std::make_shared<SplitCore>(uri, options); })) {}
  ~SharedSplit() { close(); }
  SharedSplit& operator=(SharedSplit&&) = delete;

  // For calls that neither read nor wait. Releases the GIL while it waits for another call, which
  // needs the GIL to end.
  class Use {
   public:
    explicit Use(SharedSplit& shared) : core_(shared.core()) {
      hold_ = std::unique_lock(core_->mutex, std::try_to_lock);
      if (hold_) return;
      const GilReleased released;
      hold_.lock();
    }
    split::InputSplit* operator->() const { return &core_->open(); }

   private:
    std::shared_ptr<SplitCore> core_;
    std::unique_lock<std::mutex> hold_;
  };

  // The next record, if it is available and no other call is running; else empty. Lifetime: as long
  // as `hold`.
  std::optional<Bytes> record_at_hand(std::unique_lock<std::mutex>& hold) {
    SplitCore& core = *this->core();
    hold = std::unique_lock(core.mutex, std::try_to_lock);
    if (!hold || !core.open().has_record_at_hand()) return std::nullopt;
    const std::lock_guard late(core.late_mutex);
    if (!core.late[SplitCore::kRecord].empty()) return std::nullopt;
    return core.open().next_record();
  }

  // Returns the result of `make(split)`. If Ctrl-C ends the call before the result is ready, the
  // next call returns the result.
  template <typename Make>
  Made next(SplitCore::Kind kind, Make make) {
    struct Delivery {
      bool refused = false;  // like the other, guarded by the core's late_mutex
      std::optional<Made> made;
    };
    const auto core = this->core();
    const auto delivery = std::make_shared<Delivery>();
    try {
      PythonTurns().run([core, delivery, kind, make] {
        const std::lock_guard one_at_a_time(core->mutex);
        std::optional<Made> made = core->take_late(kind);
        if (!made) {
          const std::optional<Bytes> bytes = make(core->open());
          made = bytes ? Made(std::in_place, bytes->begin(), bytes->end()) : Made();
        }
        const std::lock_guard hold(core->late_mutex);
        if (delivery->refused) {
          core->late[kind].push_back(*std::move(made));
        } else {
          delivery->made = std::move(made);
        }
      });
    } catch (...) {
      const std::lock_guard hold(core->late_mutex);
      delivery->refused = true;
      if (delivery->made) core->late[kind].push_back(*std::move(delivery->made));
      throw;
    }
    return *std::move(delivery->made);
  }

  // Moves the split to another position or part.
  template <typename Move>
  void move(Move move_split) {
    PythonTurns().run([core = core(), move_split] {
      const std::lock_guard one_at_a_time(core->mutex);
      {
        const std::lock_guard hold(core->late_mutex);
        core->late = {};
      }
      move_split(core->open());
    });
  }

  // Ends the split's thread and waits for the running call. If storage hangs, both are abandoned.
  // Does nothing in a forked child whose parent was in a call during the fork.
  void close() {
    notice_fork();
    if (torn_ || !core_) return;
    const GilReleased released;
    end_in_time([core = std::move(core_)] {
      const std::lock_guard one_at_a_time(core->mutex);
      core->split.reset();
    });
  }

 private:
  // Errors: StateError if the split is closed, or was in use by another thread during the fork.
  std::shared_ptr<SplitCore> core() {
    notice_fork();
    if (torn_) {
      throw StateError("another thread was using the input split during the fork",
                       {.remedy = "Create a new input split after the fork"});
    }
    if (core_) return core_;
    throw StateError("the input split is closed", {.remedy = "Create a new input split"});
  }

  // Requires: the caller holds the GIL but not the mutex, which may never be released in a forked
  // child.
  void notice_fork() {
    if (!core_ || !seen_in_.take_over()) return;
    torn_ = !is_free(core_->mutex);
    if (torn_) new std::shared_ptr(core_);  // never destroyed
  }

  OwnProcess seen_in_;
  bool torn_ = false;
  std::shared_ptr<SplitCore> core_;
};

nb::bytes python_bytes(Bytes bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::optional<nb::bytes> bytes_or_none(const Made& made) {
  if (!made) return std::nullopt;
  return python_bytes(*made);
}

std::unique_ptr<SharedSplit> open_split(nb::bytes uri, const std::string& type, uint64_t part,
                                        uint64_t nsplit, nb::bytes index_uri,
                                        bool recurse_directories, bool shuffle, int64_t seed,
                                        uint64_t shuffle_parts, uint64_t batch_size,
                                        uint64_t chunk_bytes) {
  const std::string name(uri.c_str(), uri.size());
  const split::InputSplitOptions options{
      .type = split::split_type_of(type),
      .part = part,
      .nsplit = nsplit,
      .index_uri = std::string(index_uri.c_str(), index_uri.size()),
      .recurse_directories = recurse_directories,
      .shuffle = shuffle,
      .seed = seed,
      .shuffle_parts = shuffle_parts,
      .batch_size = batch_size,
      .chunk_bytes = chunk_bytes};
  return std::make_unique<SharedSplit>(name, options);
}

// Most records are already available, and for them the GIL is kept.
std::optional<nb::bytes> next_split_record(SharedSplit& self) {
  std::unique_lock<std::mutex> hold;
  if (const auto record = self.record_at_hand(hold)) return python_bytes(*record);
  if (hold) hold.unlock();
  return bytes_or_none(
      self.next(SplitCore::kRecord, [](split::InputSplit& split) { return split.next_record(); }));
}

std::optional<nb::bytes> next_split_chunk(SharedSplit& self) {
  return bytes_or_none(
      self.next(SplitCore::kChunk, [](split::InputSplit& split) { return split.next_chunk(); }));
}

std::optional<nb::bytes> next_split_batch(SharedSplit& self, uint64_t records) {
  return bytes_or_none(self.next(SplitCore::kBatch, [records](split::InputSplit& split) {
    return split.next_batch(records);
  }));
}

nb::typed<nb::list, nb::bytes> records_of_chunk(SharedSplit& self, nb::bytes chunk) {
  const SharedSplit::Use split(self);
  nb::list list;
  const Bytes bytes = as_bytes(std::string_view(chunk.c_str(), chunk.size()));
  for (const auto& record : split->records_of(bytes)) list.append(python_bytes(record));
  return list;
}

void rewind_split(SharedSplit& self) {
  self.move([](split::InputSplit& split) { split.before_first(); });
}

void move_split(SharedSplit& self, uint64_t part, uint64_t nsplit) {
  self.move([part, nsplit](split::InputSplit& split) { split.reset_partition(part, nsplit); });
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
