// Shared by the targets for a record file with a sidecar beside it: where the two are stored, and
// the contracts of samples and `verify` for any format. A target that includes this defines its own
// `check_pair`.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/cli/record_checker.h"
#include "fuelrail/cli/record_info.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/open.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuzzing.h"

namespace fuelrail::fuzzing {

inline std::vector<std::byte> contents(const std::string& uri) {
  return read_whole(*memory_file_system().open(uri));
}

// Keeps the pair, and a cache directory, in memory for its lifetime.
class PairFiles {
 public:
  // `uri`: the file's, in memory://pair.
  PairFiles(const std::string& uri, Bytes file, Bytes sidecar) {
    memory_file_system().make_directory("memory://pair");
    write(uri, file);
    write(sidecar_uri(uri), sidecar);
  }
  ~PairFiles() {
    for (const char* directory : {"memory://pair", "memory://cache/fuelrail"}) {
      if (!memory_file_system().stat(directory)) continue;
      for (const FileInfo& info : memory_file_system().list(directory)) {
        memory_file_system().remove(info.uri);
      }
    }
  }
  PairFiles(const PairFiles&) = delete;
  PairFiles& operator=(const PairFiles&) = delete;

  // A sidecar that cannot be written beside its file goes to a cache, which is in memory too.
  // Called once.
  static void cache_in_memory() {
    ::setenv("XDG_CACHE_HOME", "/cache", 1);
    static const FileSystemOverride instead("file", memory_file_system());
  }

 private:
  static void write(const std::string& uri, Bytes bytes) {
    const std::unique_ptr<Sink> sink = memory_file_system().create(uri);
    sink->write(bytes);
    sink->commit();
  }
};

// The two parts of an input, which consists of a u16 (the file's length), the file, and the
// sidecar.
struct Pair {
  Bytes file;
  Bytes sidecar;
};
inline Pair pair_of(Bytes input) {
  if (input.size() < 2) return {};
  const size_t length = load_le<uint16_t>(input.data());
  const Bytes rest = input.subspan(2);
  const Bytes file = rest.first(std::min(length, rest.size()));
  return {file, rest.subspan(file.size())};
}

template <typename Opened>
struct OpenedFile {
  std::shared_ptr<const Opened> container;  // null if opening failed
  std::vector<std::string> warnings;
};

// Opens the file by its name, as users do.
template <typename Opened>
OpenedFile<Opened> open_file(const std::string& uri) {
  OpenedFile<Opened> opened;
  const OpenOptions options{.warn = [&](const std::string& w) { opened.warnings.push_back(w); }};
  succeeds([&] {
    opened.container = std::dynamic_pointer_cast<const Opened>(open_container(uri, options));
    require(opened.container != nullptr, "a file is opened as what its name says");
  });
  return opened;
}

inline void check_label(const FieldSpec& spec, const FieldValue& label, const ImageRecord& record) {
  const auto width = static_cast<int64_t>(record.label_count());
  const bool differs = !spec.shape.empty() && spec.shape[0] == -1;
  require(label.shape == (differs ? std::vector<int64_t>{width} : std::vector<int64_t>{}),
          "a sample's shape is given where the schema leaves it open");
  require(differs || width == (spec.shape.empty() ? 1 : spec.shape[0]), "labels are of one width");
  if (spec.dtype == DType::kInt64) {
    require(label.bytes.size() == 8 &&
                static_cast<float>(load_le<int64_t>(label.bytes.data())) == record.label(0),
            "a whole label is the record's");
  } else {
    require(std::ranges::equal(label.bytes, record.labels), "labels are the record's");
  }
}

inline void check_sample(const RecordFile& container, uint64_t i, const Sample& sample,
                         Bytes payload) {
  const Schema& schema = container.schema();
  if (container.sidecar().payloads().samples) {
    std::vector<std::byte> written;
    SampleEncoder(schema).append(sample.id, sample.fields, written);
    require(std::ranges::equal(written, payload), "a sample has all that its record has");
    return;
  }
  if (!container.sidecar().labels()) {
    require(sample.id == i && std::ranges::equal(sample.fields[0].bytes, payload),
            "a sample is its payload");
    return;
  }
  const ImageRecord record = parse_image_record(payload);
  require(sample.id == record.id, "an id is the record's");
  require(std::ranges::equal(sample.fields[0].bytes, record.image), "an image is the record's");
  check_label(schema.fields[1], sample.fields[1], record);
}

// `verify`, `info` and `ls` report a record that cannot be read and continue. `read_record` returns
// whether record i can be read.
template <typename ReadRecord>
void verify_records(const RecordFile& container, uint64_t most, ReadRecord read_record) {
  cli::RecordChecker checker(container, false);
  cli::RecordInspector inspector(container);
  for (uint64_t i = 0; i < std::min(container.size(), most); ++i) {
    const bool readable = read_record(i);
    require(checker.check(i).finding.has_value() || readable, "verify finds what cannot be read");
    require(succeeds([&] { inspector.inspect(i); }) == readable, "info reads what can be read");
  }
  succeeds([&] { container.sidecar().verify(); });
}

// The sidecar, if it is valid and was built for a file that is at least as long and has another
// identity: it may be this file's, damaged or truncated. Else null.
inline std::unique_ptr<Sidecar> sidecar_of_longer_file(Bytes bytes, const Source& file) {
  std::unique_ptr<Sidecar> sidecar;
  const bool whole =
      succeeds([&] { sidecar = Sidecar::open(memory_source("longer", copied(bytes))); });
  if (!whole || sidecar->identity() == identify(file)) return nullptr;
  return sidecar->identity().size_bytes >= file.size_bytes() ? std::move(sidecar) : nullptr;
}

// Whether the file was opened, or refused, as a damaged or truncated file with its sidecar beside
// it.
template <typename Opened>
bool is_judged_damaged(const OpenedFile<Opened>& opened) {
  if (opened.container == nullptr) return opened.warnings.empty();
  return opened.container->sidecar_location().place == SidecarPlace::kBeside;
}

}  // namespace fuelrail::fuzzing
