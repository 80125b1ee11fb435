#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "buffer.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/ffrecord/file_reader.h"
#include "fuelrail/container/ffrecord/file_writer.h"
#include "fuelrail/container/ffrecord/packed_folder.h"
#include "fuelrail/storage/file_system.h"
#include "native_handle.h"
#include "numpy_arrays.h"
#include "option_values.h"
#include "warnings.h"

namespace fuelrail::python {
namespace {

using ffrecord::FileReader;
using ffrecord::FileReaderOptions;
using ffrecord::FileWriter;
using ffrecord::PackedEntries;
using ffrecord::RecordBytes;

struct Reader {
  std::shared_ptr<Warnings> warnings = std::make_shared<Warnings>();
  std::shared_ptr<FileReader> files;
};

std::unique_ptr<Reader> open_reader(const std::vector<nb::bytes>& uris, const OptionValues& values,
                                    bool check_data) {
  std::vector<std::string> names;
  for (const nb::bytes& uri : uris) names.emplace_back(uri.c_str(), uri.size());
  import_numpy();
  auto reader = std::make_unique<Reader>();
  FileReaderOptions options{.check_data = check_data, .warn = Warnings::into(reader->warnings)};
  set_options(options.read, ReadOptions::table(), values);
  reader->files = PythonTurns().run([names = std::move(names), options = std::move(options)] {
    return std::make_shared<FileReader>(names, options);
  });
  return reader;
}

template <typename T>
using Vector = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T, typename Value>
Vector<T> numbers(size_t count, Value value) {
  auto memory = std::make_unique<T[]>(count);
  for (size_t i = 0; i < count; ++i) memory[i] = static_cast<T>(value(i));
  const nb::capsule owner(memory.get(),
                          [](void* held) noexcept { delete[] static_cast<T*>(held); });
  return Vector<T>(memory.release(), 1, &count, owner);
}

using RecordArray = nb::typed<nb::object, nb::ndarray<nb::numpy, uint8_t>>;

// The text of an integer beyond 64 bits. Python refuses to print more than 4,300 digits.
std::string shown_number(nb::handle number, bool negative) {
  const nb::object bits = number.attr("bit_length")();
  if (nb::cast<size_t>(bits) <= 128) return nb::str(number).c_str();
  return fmt::format("a {} integer of {} bits", negative ? "negative" : "positive",
                     nb::cast<size_t>(bits));
}

// Converts a Python index; a negative index counts from the end.
uint64_t index_of(nb::handle item, uint64_t size) {
  if (PyBool_Check(item.ptr())) throw nb::type_error("the index must be an integer, not a bool");
  const nb::object number =
      PyLong_CheckExact(item.ptr())
          ? nb::borrow(item)
          : call_python(import_module("operator").attr("index"), nb::make_tuple(item));
  int overflow = 0;
  const long long index = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  const auto count = static_cast<long long>(size);
  if (overflow == 0 && index >= -count && index < count) {
    return static_cast<uint64_t>(index < 0 ? index + count : index);
  }
  throw OutOfRangeError(
      size == 0 ? "the record index is out of range, because there are no records"
                : "the record index is out of range",
      {.expected = size == 0 ? "" : fmt::format("an index in [-{}, {})", size, size),
       .found = overflow == 0 ? fmt::to_string(index) : shown_number(number, overflow < 0)});
}

// Returns: an array for record `index`. `memory` is set to the array's memory.
nb::object array_for(const Reader& self, uint64_t index, RecordBytes& memory) {
  if (!self.files->reuses_memory_for(index)) {
    return new_array(static_cast<size_t>(self.files->length(index)), memory.bytes);
  }
  memory = self.files->memory_for(index);
  auto owner = std::make_unique<std::shared_ptr<std::byte>>(std::move(memory.owner));
  nb::capsule capsule(owner.get(), [](void* held) noexcept {
    delete static_cast<std::shared_ptr<std::byte>*>(held);
  });
  owner.release();
  return array_of(memory.bytes, std::move(capsule));
}

// Reads records into the memory of `arrays`, which are kept alive meanwhile.
void read_into(const Reader& self, const nb::object& arrays, std::vector<uint64_t> wanted,
               std::vector<RecordBytes> memory) {
  PythonTurns().run_short([files = self.files, kept = shared_object(nb::borrow(arrays)),
                           wanted = std::move(wanted),
                           memory = std::move(memory)] { files->read(wanted, memory); });
}

// Checks the records before memory is allocated for them.
void require_held(const Reader& self, const std::vector<uint64_t>& wanted) {
  if (std::ranges::none_of(wanted, [&](uint64_t index) {
        return self.files->length(index) > kDefaultMaxRecordBytes;
      })) {
    return;
  }
  const PythonTurns turns;
  turns.run([turns, files = self.files, wanted] {
    files->require_held(wanted, [&] { return turns.keep_going(); });
  });
}

ListOf<RecordArray> read(const Reader& self, const ListOf<nb::any>& indices) {
  // Uses a copy, because an index may be any object, whose code may change the list.
  const nb::tuple items(indices);
  std::vector<uint64_t> wanted;
  wanted.reserve(items.size());
  for (const nb::handle item : items) wanted.push_back(index_of(item, self.files->size()));
  require_held(self, wanted);
  std::vector<RecordBytes> memory(items.size());
  nb::list arrays;
  for (size_t i = 0; i < wanted.size(); ++i) arrays.append(array_for(self, wanted[i], memory[i]));
  read_into(self, arrays, std::move(wanted), std::move(memory));
  return arrays;
}

// The number of records from `begin` on that together have at most `most_bytes` bytes; at least
// one.
uint64_t run_of(const Reader& self, uint64_t begin, uint64_t most_records, uint64_t most_bytes) {
  const uint64_t end = begin + std::min(most_records, self.files->size() - begin);
  uint64_t bytes = 0;
  uint64_t i = begin;
  while (i < end && (bytes += self.files->length(i)) <= most_bytes) ++i;
  return std::max(i - begin, uint64_t{1});
}

// Whether the very last record begins like that of a packed folder. The rest of it is not read.
bool is_packed_folder(const Reader& self) {
  const std::vector<std::string>& uris = self.files->uris();
  size_t end = uris.size();
  while (end > 0 && self.files->table(end - 1).size() == 0) --end;
  if (end == 0) return false;
  return PythonTurns().run([files = self.files, file = end - 1] {
    const std::string& uri = files->uris()[file];
    return ffrecord::is_packed_folder(*file_system_for(uri).open(uri), files->table(file));
  });
}

RecordArray read_one(const Reader& self, nb::handle index) {
  std::vector<uint64_t> wanted{index_of(index, self.files->size())};
  require_held(self, wanted);
  std::vector<RecordBytes> memory(1);
  nb::object array = array_for(self, wanted[0], memory[0]);
  read_into(self, array, std::move(wanted), std::move(memory));
  return array;
}

ListOf<TupleOf<uint64_t, nb::str>> verify(
    const Reader& self, std::optional<nb::typed<nb::callable, nb::object(uint64_t)>> progress) {
  using Bad = std::vector<std::pair<uint64_t, std::string>>;
  const PythonTurns turns;
  // A handle, because the work must not own Python objects.
  const nb::handle told = progress ? nb::handle(*progress) : nb::handle();
  const Bad bad = turns.run([turns, told, files = self.files] {
    Bad found;
    files->verify(
        [&](uint64_t index, const std::exception_ptr& failure) {
          try {
            std::rethrow_exception(failure);
          } catch (const Error& error) {
            found.emplace_back(index, error.what());
          }
        },
        [&](uint64_t done) {
          return turns.take([&] {
            if (told.is_valid()) call_python(told, nb::make_tuple(done));
          });
        });
    return found;
  });
  nb::list list;
  for (const auto& [index, error] : bad) list.append(nb::make_tuple(index, printable(error)));
  return list;
}

Vector<int64_t> offsets(const Reader& self, size_t file) {
  const ffrecord::RecordTable& table = self.files->table(file);
  const auto count = static_cast<size_t>(table.size());
  return numbers<int64_t>(
      count + 1, [&](size_t i) { return i < count ? table.offset(i) : table.file_bytes(); });
}

Vector<uint32_t> checksums(const Reader& self, size_t file) {
  const ffrecord::RecordTable& table = self.files->table(file);
  return numbers<uint32_t>(static_cast<size_t>(table.size()),
                           [&](size_t i) { return table.crc(i); });
}

class Writer {
 public:
  // `records`: the announced number of records, which is also the limit; empty if it is unknown.
  Writer(const std::string& uri, std::optional<uint64_t> records)
      : most_(records.value_or(UINT64_MAX)),
        files_(uri, std::make_unique<Files>(uri, records.value_or(0))) {}

  void append(Bytes record) {
    files_.with([&](Files& files) {
      check_room();
      files.writer.append(record);
      records_.fetch_add(1, std::memory_order_relaxed);
    });
  }
  void begin_record() {
    files_.with([&](Files& files) {
      check_room();
      files.writer.begin_record();
    });
  }
  void add(Bytes piece) {
    files_.with([&](Files& files) { files.writer.add(piece); });
  }
  void end_record() {
    files_.with([&](Files& files) {
      files.writer.end_record();
      records_.fetch_add(1, std::memory_order_relaxed);
    });
  }
  void finish() {
    files_.with([](Files& files) {
      files.writer.finish();
      ffrecord::commit_without_sidecar(*files.sink);
    });
  }
  void discard() { files_.discard(); }
  // The number of written records. Does not take the lock, which may be held for a long time.
  uint64_t records() const { return records_.load(std::memory_order_relaxed); }

 private:
  struct Files {
    Files(const std::string& uri, uint64_t records)
        : sink(file_system_for(uri).create(uri)), writer(*sink, records) {}

    std::unique_ptr<Sink> sink;
    FileWriter writer;
  };

  void check_room() const {
    if (records() < most_) return;
    throw OutOfRangeError("the file already has `n` records",
                          {.path = files_.uri(),
                           .expected = fmt::format("at most {} records", most_),
                           .remedy = "Pass a larger `n`, or omit `n`"});
  }

  const uint64_t most_;
  std::atomic<uint64_t> records_ = 0;
  WrittenFiles<Files> files_;
};

std::unique_ptr<Writer> make_writer(nb::bytes uri, std::optional<uint64_t> records) {
  const std::string name(uri.c_str(), uri.size());
  const GilReleased released;
  return std::make_unique<Writer>(name, records);
}

// Builds the Python objects of a packed folder. Repeated names are the same str, as in the file.
class Folders {
 public:
  nb::object made_of(const PackedEntries& folder) {
    nb::object entries = ordered_dict_();
    for (const auto& [name, entry] : folder.entries) {
      const auto* const record = std::get_if<uint64_t>(&entry);
      entries[text_of(name)] = record != nullptr ? nb::object(nb::int_(*record))
                                                 : made_of(std::get<PackedEntries>(entry));
    }
    return entries;
  }

 private:
  nb::handle text_of(std::string_view name) {
    const nb::object text = nb::steal(
        PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "surrogatepass"));
    if (!text.is_valid()) throw nb::python_error();
    // CPython's limited API lacks PyDict_SetDefault.
    if (PyObject* const known = PyDict_GetItemWithError(known_.ptr(), text.ptr())) return known;
    if (PyErr_Occurred()) throw nb::python_error();
    known_[text] = text;
    return text;  // known_ keeps it alive
  }

  nb::object ordered_dict_ = nb::module_::import_("collections").attr("OrderedDict");
  nb::dict known_;
};

nb::object packed_entries(nb::handle last_record, uint64_t records) {
  const Buffer buffer(last_record);
  ffrecord::PackedStructure structure;
  {
    const GilReleased released;
    structure = ffrecord::parse_packed_folder(buffer.bytes(), records);
  }
  return Folders().made_of(structure.root);
}

}  // namespace

void bind_ffrecord(nb::module_& module) {
  nb::class_<Reader>(module, "FfrecordReader", "Reads the records of FFRecord files.")
      .def("read", read, nb::arg("indices"))
      .def("read_one", read_one, nb::arg("index"),
           nb::sig("def read_one(self, index: typing.SupportsIndex) -> "
                   "numpy.typing.NDArray[numpy.uint8]"))
      .def("run_of", run_of, nb::arg("begin"), nb::arg("most_records"), nb::arg("most_bytes"))
      .def("is_packed_folder", is_packed_folder)
      .def("verify", verify, nb::arg("progress").none())
      .def("verify_tables",
           [](const Reader& self) {
             PythonTurns().run([files = self.files] { files->verify_tables(); });
           })
      .def("offsets", offsets, nb::arg("file"))
      .def("checksums", checksums, nb::arg("file"))
      .def(
          "close", [](const Reader& self) { self.files->close(); }, nb::call_guard<GilReleased>())
      .def("take_warnings", [](const Reader& self) { return self.warnings->take(); })
      .def_prop_ro("read_backend", [](const Reader& self) { return self.files->read_backend(); })
      .def("__len__", [](const Reader& self) { return self.files->size(); });
  module.def("open_ffrecord", open_reader, nb::arg("uris"), nb::arg("options"),
             nb::arg("check_data") = FileReaderOptions{}.check_data);
  module.def(
      "reader_options", [] { return option_rows(ReadOptions::table(), FileReaderOptions{}.read); },
      "Returns a tuple (name, kind, default, bounds, meaning) for each option of FfrecordReader.");

  nb::class_<Writer>(module, "FfrecordWriter", "Writes an FFRecord file.")
      .def("append", with_bytes<&Writer::append, Writer>, nb::arg("record"))
      .def("add", with_bytes<&Writer::add, Writer>, nb::arg("piece"))
      .def("begin_record", &Writer::begin_record, nb::call_guard<GilReleased>())
      .def("end_record", &Writer::end_record, nb::call_guard<GilReleased>())
      .def("finish", &Writer::finish, nb::call_guard<GilReleased>())
      .def("discard", &Writer::discard, nb::call_guard<GilReleased>())
      .def_prop_ro("records", &Writer::records);
  module.def("create_ffrecord", make_writer, nb::arg("uri"), nb::arg("records").none());

  module.def("packed_entries", packed_entries, nb::arg("last_record"), nb::arg("records"),
             nb::sig("def packed_entries(last_record: typing.Any, records: int) "
                     "-> collections.OrderedDict[str, typing.Any]"));
}

}  // namespace fuelrail::python
