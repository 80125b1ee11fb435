#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "buffer.h"
#include "fuelrail/base/own_process.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/storage/file_system.h"
#include "native_handle.h"

namespace fuelrail::python {
namespace {

using recordio::IndexReader;
using recordio::IndexWriter;
using recordio::RecordReader;
using recordio::RecordWriter;

std::string name_from(const nb::bytes& uri) { return {uri.c_str(), uri.size()}; }

std::optional<nb::bytes> bytes_of(const std::optional<recordio::Record>& record) {
  const GilTaken taken;
  if (!record) return std::nullopt;
  return nb::bytes(record->payload.data(), record->payload.size());
}

// Reads records in order from an offset, or one record by its offset, on any thread. A forked child
// continues from its parent's position with its own readers, and never touches readers and locks
// that a thread of the parent was using.
class RecordioReader {
 public:
  explicit RecordioReader(std::shared_ptr<const Source> source)
      : source_(std::move(source)), open_(new Readers(source_, 0)) {}
  ~RecordioReader() {
    Readers* const readers = open_.load();
    if (!readers->process.is_parents()) delete readers;
  }
  RecordioReader& operator=(RecordioReader&&) = delete;

  std::optional<nb::bytes> next() {
    const GilReleased released;
    Readers& readers = here();
    const std::lock_guard hold(readers.mutex);
    const std::optional<recordio::Record> record = readers.onward.next();
    readers.position = readers.onward.position();
    return bytes_of(record);
  }

  // Returns the record at `offset`; `next` continues after it.
  std::optional<nb::bytes> read_at(uint64_t offset) {
    const GilReleased released;
    Readers& readers = here();
    const std::lock_guard hold(readers.mutex);
    readers.picked.seek(offset);
    const std::optional<recordio::Record> record = readers.picked.next();
    readers.go_to(readers.picked.position());
    return bytes_of(record);
  }

  void seek(uint64_t offset) {
    Readers& readers = here();
    const std::lock_guard hold(readers.mutex);
    readers.go_to(offset);
  }

  // Errors: those of recordio::check_complete.
  void check_index(uint64_t entries, const nb::bytes& uri) const {
    const std::string name = name_from(uri);
    const GilReleased released;
    recordio::check_complete(entries, *source_, name);
  }

 private:
  struct Readers {
    Readers(const std::shared_ptr<const Source>& source, uint64_t begin)
        : onward(source), picked(source, {.block_bytes = uint64_t{64} << 10}) {
      go_to(begin);
    }
    void go_to(uint64_t offset) {
      onward.seek(offset);
      position = offset;
    }

    const OwnProcess process;
    std::mutex mutex;
    RecordReader onward;
    RecordReader picked;  // for single records: reads small blocks
    std::atomic<uint64_t> position = 0;
  };

  Readers& here() {
    Readers* readers = open_.load();
    if (!readers->process.is_parents()) return *readers;
    auto own = std::make_unique<Readers>(source_, readers->position.load());
    if (open_.compare_exchange_strong(readers, own.get())) readers = own.release();
    return *readers;
  }

  const std::shared_ptr<const Source> source_;
  std::atomic<Readers*> open_;
};

std::unique_ptr<RecordioReader> open_reader(const nb::bytes& uri) {
  const std::string name = name_from(uri);
  const GilReleased released;
  return std::make_unique<RecordioReader>(file_system_for(name).open(name));
}

// A record file and, optionally, its index.
class RecordioWriter {
 public:
  RecordioWriter(const std::string& uri, const std::optional<std::string>& index_uri)
      : files_(uri, std::make_unique<Files>(uri, index_uri)) {}

  uint64_t append(Bytes payload) {
    return files_.with([&](Files& files) { return files.writer.append(payload); });
  }
  // Requires: the writer has an index.
  uint64_t append_keyed(const std::string& key, Bytes payload) {
    return files_.with([&](Files& files) {
      recordio::check_index_key(key, files.index->uri());
      const uint64_t offset = files.writer.append(payload);
      files.keys->add(key, offset);
      return offset;
    });
  }
  uint64_t position() {
    return files_.with([](Files& files) { return files.records->position(); });
  }
  void finish() {
    files_.with(
        [](Files& files) { recordio::commit_record_file(*files.records, files.index.get()); });
  }
  void discard() { files_.discard(); }

 private:
  struct Files {
    Files(const std::string& uri, const std::optional<std::string>& index_uri)
        : records(file_system_for(uri).create(uri)), writer(*records) {
      if (!index_uri) return;
      index = file_system_for(*index_uri).create(*index_uri);
      keys.emplace(*index);
    }

    std::unique_ptr<Sink> records;
    std::unique_ptr<Sink> index;
    RecordWriter writer;
    std::optional<IndexWriter> keys;
  };

  WrittenFiles<Files> files_;
};

std::unique_ptr<RecordioWriter> make_writer(const nb::bytes& uri,
                                            const std::optional<nb::bytes>& index_uri) {
  const std::string name = name_from(uri);
  std::optional<std::string> index_name;
  if (index_uri) index_name = name_from(*index_uri);
  const GilReleased released;
  return std::make_unique<RecordioWriter>(name, index_name);
}

// Returns the reader, and the keys and offsets in the index's order.
TupleOf<RecordioReader, ListOf<TupleOf<nb::str, uint64_t>>> open_indexed(
    const nb::bytes& uri, const nb::bytes& index_uri) {
  const std::string name = name_from(uri);
  const std::string index_name = name_from(index_uri);
  std::unique_ptr<RecordioReader> reader;
  recordio::IndexText text;
  std::vector<recordio::IndexEntry> entries;
  {
    const GilReleased released;
    recordio::IndexedSource opened = recordio::open_with_index(name, index_name);
    reader = std::make_unique<RecordioReader>(std::move(opened.data));
    text = std::move(opened.index);
    entries = recordio::parse_index(text.bytes, text.uri);
  }
  nb::list list;
  for (const recordio::IndexEntry& entry : entries) {
    list.append(nb::make_tuple(fs_text(std::string(entry.key)), entry.offset));
  }
  return nb::make_tuple(nb::cast(std::move(reader)), list);
}

}  // namespace

void bind_recordio(nb::module_& module) {
  nb::class_<RecordioReader>(module, "RecordioReader", "Reads the records of a RecordIO file.")
      .def("next", &RecordioReader::next)
      .def("read_at", &RecordioReader::read_at, nb::arg("offset"))
      .def("check_index", &RecordioReader::check_index, nb::arg("entries"), nb::arg("uri"))
      .def("seek", &RecordioReader::seek, nb::arg("offset"), nb::call_guard<GilReleased>());
  module.def("open_recordio", open_reader, nb::arg("uri"));

  nb::class_<RecordioWriter>(module, "RecordioWriter",
                             "Writes a RecordIO file and, if requested, its index.")
      .def("append", with_bytes<&RecordioWriter::append, RecordioWriter>, nb::arg("payload"))
      .def(
          "append_keyed",
          [](RecordioWriter& self, const std::string& key, const Any& payload) {
            const Buffer buffer(payload);
            const GilReleased released;
            return self.append_keyed(key, buffer.bytes());
          },
          nb::arg("key"), nb::arg("payload"))
      .def("position", &RecordioWriter::position, nb::call_guard<GilReleased>())
      .def("finish", &RecordioWriter::finish, nb::call_guard<GilReleased>())
      .def("discard", &RecordioWriter::discard, nb::call_guard<GilReleased>());
  module.def("create_recordio", make_writer, nb::arg("uri"), nb::arg("index_uri").none());
  module.def("open_indexed_recordio", open_indexed, nb::arg("uri"), nb::arg("index_uri"));
}

}  // namespace fuelrail::python
