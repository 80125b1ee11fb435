// Containers whose records a Python program makes: in worker processes, or in threads.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/guarded.h"
#include "fuelrail/base/per_process.h"
#include "fuelrail/container/made/made_container.h"
#include "fuelrail/container/made/record_maker.h"
#include "fuelrail/container/made/worker_channel.h"
#include "fuelrail/container/made/worker_pool.h"
#include "fuelrail/pack/image/image_steps.h"
#include "fuelrail/pack/source/record_encoding.h"
#include "python_samples.h"
#include "warnings.h"

namespace fuelrail::python {
namespace {

// What `description_of` takes.
using Description = TupleOf<nb::any, nb::ellipsis>;

[[noreturn]] void throw_named(const std::string& name, const std::string& failure) {
  if (name == "NotFoundError") throw NotFoundError(failure);
  if (name == "IoError") throw IoError(failure);
  if (name == "TruncatedError") throw TruncatedError(failure);
  if (name == "OutOfMemoryError") throw OutOfMemoryError(failure);
  if (name == "UnsupportedError") throw UnsupportedError(failure);
  throw CorruptError(failure);
}

// Makes the records of a program's samples. `explain(exception)` returns the name of the class of
// the error that an exception of the program becomes, and its text. Threads: any number at once.
class PythonRecords {
 public:
  // `borrows`: whether records are written from the memory of the program's arrays. Requires: the
  // caller holds the GIL.
  PythonRecords(SamplesDescription described, nb::object read, nb::object explain, uint64_t size,
                bool at_once, bool borrows)
      : borrows_(borrows),
        explain_(shared_object(std::move(explain))),
        samples_([described = std::move(described)] { return described; }, std::move(read), size,
                 at_once) {
    static_cast<void>(samples_.schema());  // before threads share them
  }

  // Writes record i at the beginning of `room(its length)`. Returns: its length. Requires: the
  // caller does not hold the GIL. Errors: Error.
  uint64_t write(uint64_t i, const std::function<MutableBytes(uint64_t)>& room) {
    std::unique_ptr<pack::RecordEncoding> encoding = take();
    try {
      const uint64_t bytes = encoding->write(i, room);
      put_back(std::move(encoding));
      return bytes;
    } catch (const pack::StepsError& error) {
      throw_explained(error);
    } catch (const std::bad_alloc&) {
      throw OutOfMemoryError("there is not enough memory for the sample");
    }
  }

 private:
  std::unique_ptr<pack::RecordEncoding> take() {
    {
      const Lock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<pack::RecordEncoding> encoding = std::move(idle_.back());
        idle_.pop_back();
        return encoding;
      }
    }
    return std::make_unique<pack::RecordEncoding>(samples_, borrows_);
  }

  void put_back(std::unique_ptr<pack::RecordEncoding> encoding) {
    const Lock lock(mutex_);
    idle_.push_back(std::move(encoding));
  }

  [[noreturn]] void throw_explained(const pack::StepsError& error) const {
    std::string name;
    std::string failure = error.failure();
    try {
      if (error.cause()) std::rethrow_exception(error.cause());
    } catch (const Raised& raised) {
      const GilTaken taken;
      try {
        const nb::object said = call_python(*explain_, nb::make_tuple(*raised.exception));
        std::tie(name, failure) = nb::cast<std::pair<std::string, std::string>>(said);
      } catch (nb::python_error& unexplained) {
        failure = unexplained.what();
      }
    }
    throw_named(name, failure);
  }

  const bool borrows_;
  const std::shared_ptr<nb::object> explain_;
  const PythonSamples samples_;
  Mutex mutex_;
  std::vector<std::unique_ptr<pack::RecordEncoding>> idle_ FUELRAIL_GUARDED_BY(mutex_);
};

// Makes records in the threads that want them. A forked child makes them anew, because a thread of
// its parent may have been making one.
class ThreadMaker final : public made::RecordMaker {
 public:
  ThreadMaker(PerProcess<PythonRecords>::Make records, size_t threads)
      : records_(std::move(records)), threads_(threads) {}

  std::shared_ptr<const Source> make(uint64_t i, const KeepGoing& keep_going) const override {
    check_keep_going(keep_going);
    std::vector<std::byte> record;
    records_.mine().write(i, [&record](uint64_t bytes) -> MutableBytes {
      record.resize(bytes);
      return record;
    });
    return made::owned_record(std::move(record));
  }
  size_t at_once() const override { return threads_; }

 private:
  const PerProcess<PythonRecords> records_;
  const size_t threads_;
};

struct WarningsHandle {
  std::shared_ptr<Warnings> said = std::make_shared<Warnings>();
};

made::MadeRecords records_of(const Description& description, uint64_t size, std::string name,
                             std::string fingerprint) {
  SamplesDescription described = description_of(description);
  made::MadeRecords records{.size = size,
                            .schema = std::move(described.schema),
                            .classes = {},
                            .name = std::move(name),
                            .fingerprint = std::move(fingerprint)};
  for (auto& [field, names] : described.classes) records.classes[field] = std::move(names);
  return records;
}

ContainerHandle open_with_workers(const Description& description, uint64_t size, std::string name,
                                  std::string fingerprint, const nb::bytes& executable,
                                  const std::vector<nb::bytes>& arguments,
                                  const nb::bytes& greeting, size_t workers,
                                  const WarningsHandle& warnings) {
  made::PoolOptions options{
      .program = {.executable = {executable.c_str(), executable.size()}, .arguments = {}},
      .greeting = {},
      .workers = workers,
      .warn = Warnings::into(warnings.said)};
  for (const nb::bytes& argument : arguments) {
    options.program.arguments.emplace_back(argument.c_str(), argument.size());
  }
  const auto* const bytes = static_cast<const std::byte*>(greeting.data());
  options.greeting.assign(bytes, bytes + greeting.size());
  return {open_made(records_of(description, size, std::move(name), std::move(fingerprint)),
                    std::make_shared<made::WorkerPool>(std::move(options)))};
}

ContainerHandle open_with_threads(const Description& description, uint64_t size, std::string name,
                                  std::string fingerprint, nb::object read, nb::object explain,
                                  size_t threads) {
  auto records = [described = description_of(description), read = shared_object(std::move(read)),
                  explain = shared_object(std::move(explain)), size, threads] {
    const GilTaken taken;
    return std::make_unique<PythonRecords>(described, *read, *explain, size, threads > 1,
                                           false);  // another sample may change the arrays
  };
  return {open_made(records_of(description, size, std::move(name), std::move(fingerprint)),
                    std::make_shared<ThreadMaker>(std::move(records), threads))};
}

// Answers requests until the parent wants no more.
void serve(made::WorkerChannel& channel, const Description& description, uint64_t size,
           nb::object read, nb::object explain) {
  PythonRecords records(description_of(description), std::move(read), std::move(explain), size,
                        false, true);
  const GilReleased released;
  channel.ready();
  while (const std::optional<uint64_t> record = channel.next()) {
    try {
      channel.answer(records.write(*record, [&](uint64_t bytes) { return channel.room(bytes); }));
    } catch (const Error& error) {
      channel.fail(error);
    }
  }
}

}  // namespace

void bind_made(nb::module_& module) {
  nb::class_<WarningsHandle>(module, "MakerWarnings",
                             "The warnings of worker processes that make records.")
      .def(nb::init<>())
      .def(
          "take", [](const WarningsHandle& self) { return self.said->take(); },
          "Returns the warnings since the last call.");
  module.def("open_with_workers", open_with_workers, nb::arg("description"), nb::arg("size"),
             nb::arg("name"), nb::arg("fingerprint"), nb::arg("executable"), nb::arg("arguments"),
             nb::arg("greeting"), nb::arg("workers"), nb::arg("warnings"),
             "Returns a container whose records processes make, which run `executable`. Each "
             "creates a WorkerChannel.");
  module.def("open_with_threads", open_with_threads, nb::arg("description"), nb::arg("size"),
             nb::arg("name"), nb::arg("fingerprint"), nb::arg("read"), nb::arg("explain"),
             nb::arg("threads"), "Returns a container whose records threads of this process make.");
  nb::class_<made::WorkerChannel>(module, "WorkerChannel",
                                  "A worker's connection to its parent process.")
      .def(nb::init<int>(), nb::arg("parent"))
      .def("greeting",
           [](const made::WorkerChannel& self) {
             return nb::bytes(self.greeting().data(), self.greeting().size());
           })
      .def("refuse", &made::WorkerChannel::refuse, nb::arg("why"))
      .def_static("end", &made::WorkerChannel::end, "Ends this process and those it has started.")
      .def("serve", serve, nb::arg("description"), nb::arg("size"), nb::arg("read"),
           nb::arg("explain"),
           "Makes records until the parent wants no more. `read` and `explain`: as in "
           "open_with_threads.");
}

}  // namespace fuelrail::python
