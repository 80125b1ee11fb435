#include "fuelrail/container/ffrecord/file_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/ranges.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/ffrecord/record_pieces.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/read_batch.h"
#include "fuelrail/storage/read_memory.h"
#include "fuelrail/storage/read_queue_pool.h"

namespace fuelrail::ffrecord {
namespace {

using Sources = std::vector<std::shared_ptr<const Source>>;

constexpr size_t kVerifiedAtOnce = size_t{32} << 20;  // bytes
constexpr size_t kMostVerifiedAtOnce = 4096;          // records

struct Spot {
  size_t file;
  uint64_t record;
};

bool has_lower_tag(const Completion& a, const Completion& b) { return a.tag < b.tag; }

// The open files. After `close`, the last user closes them. Uses no lock: if another thread held a
// lock while the process forked, the child could never take it.
class OpenFiles {
 public:
  // Keeps the files open while it exists.
  class Use {
   public:
    // Errors: StateError when closed.
    explicit Use(OpenFiles& files) : files_(files) {
      uint64_t now = files_.state_.load(std::memory_order_acquire);
      do {
        if ((now & kClosed) != 0) {
          throw StateError("the reader is closed",
                           {.remedy = "Create a new reader for the same files"});
        }
      } while (
          !files_.state_.compare_exchange_weak(now, now + kOneUser, std::memory_order_acq_rel));
    }
    ~Use() {
      const uint64_t before = files_.state_.fetch_sub(kOneUser, std::memory_order_acq_rel);
      if (before == (kOneUser | kClosed)) files_.sources_.clear();
    }
    Use& operator=(Use&&) = delete;

    const Sources& sources() const { return files_.sources_; }

   private:
    OpenFiles& files_;
  };

  // Call once, before any other method.
  void open(Sources sources) { sources_ = std::move(sources); }
  void close() {
    if (state_.fetch_or(kClosed, std::memory_order_acq_rel) == 0) sources_.clear();
  }

 private:
  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kOneUser = 2;

  std::atomic<uint64_t> state_ = 0;
  Sources sources_;
};

}  // namespace

struct FileReader::Impl {
  std::vector<std::string> uris;
  FileReaderOptions options;
  std::vector<RecordTable> tables;
  Ranges records;  // per file
  mutable OpenFiles files;
  mutable std::atomic<bool> warned_of_refusal = false;

  uint64_t size() const { return records.size(); }
  // Errors: OutOfRangeError.
  Spot spot(uint64_t index) const;
  ReadRequest request_for(const Sources& sources, Spot spot) const;
  void warn_of_refusal(const Sources& sources) const;
  std::exception_ptr placed(const std::exception_ptr& error, Spot spot) const;
  std::exception_ptr error_of_large(const Sources& sources, Spot spot, MutableBytes buffer,
                                    const std::function<void()>& keep_going) const;
};

Spot FileReader::Impl::spot(uint64_t index) const {
  if (index >= size()) {
    throw OutOfRangeError(
        "the record index is out of range",
        {.expected = fmt::format("an index below {}", size()), .found = fmt::format("{}", index)});
  }
  const auto [file, record] = records.find(index);
  return {file, record};
}

ReadRequest FileReader::Impl::request_for(const Sources& open, Spot spot) const {
  const RecordTable& table = tables[spot.file];
  ReadRequest request;
  request.source = open[spot.file].get();
  request.offset = table.offset(spot.record);
  if (options.check_data) request.crc = table.crc(spot.record);
  return request;
}

void FileReader::Impl::warn_of_refusal(const Sources& open) const {
  if (!options.read.direct || !options.warn) return;
  const auto refused = std::find_if(
      open.begin(), open.end(), [](const auto& source) { return source->refuses_direct_reads(); });
  if (refused == open.end() || warned_of_refusal.exchange(true, std::memory_order_relaxed)) return;
  options.warn(
      fmt::format("the file system of {} refuses direct reads; reads go through the page cache",
                  (*refused)->uri()));
}

// The same error with its place added. Errors: rethrows an exception that is not an Error.
std::exception_ptr FileReader::Impl::placed(const std::exception_ptr& failure, Spot spot) const {
  try {
    std::rethrow_exception(failure);
  } catch (Error& error) {
    error.add({.path = uris[spot.file],
               .record = spot.record,
               .offset = tables[spot.file].offset(spot.record)});
    return std::current_exception();
  }
}

// Checks a record that is longer than the verification buffer. Calls `keep_going` before every
// piece. Returns: the record's error, or null. Errors: anything that `keep_going` throws.
std::exception_ptr FileReader::Impl::error_of_large(const Sources& open, Spot spot,
                                                    MutableBytes buffer,
                                                    const std::function<void()>& keep_going) const {
  RecordPieces pieces(*open[spot.file], tables[spot.file], spot.record);
  while (true) {
    keep_going();
    try {
      if (pieces.next(buffer).empty()) return {};
    } catch (const Error&) {
      return std::current_exception();
    }
  }
}

FileReader::FileReader(std::vector<std::string> uris, FileReaderOptions options)
    : impl_(std::make_unique<Impl>()) {
  impl_->uris = std::move(uris);
  impl_->options = std::move(options);
  const FileReaderOptions& wanted = impl_->options;
  ReadOptions::table().check(wanted.read);
  if (wanted.read.backend == ReadBackend::kIoUring) const QueueLease tried(wanted.read);
  Sources sources;
  for (const std::string& uri : impl_->uris) {
    sources.push_back(file_system_for(uri).open(uri));
    impl_->tables.push_back(RecordTable::read(*sources.back(), wanted.check_data, wanted.warn));
    impl_->records.add(impl_->tables.back().size());
    // Query and cache these now, before the process can fork while other threads query them.
    static_cast<void>(sources.back()->reads_without_waiting());
    if (wanted.read.direct) static_cast<void>(sources.back()->direct_descriptor());
  }
  impl_->files.open(std::move(sources));
}

FileReader::~FileReader() = default;

uint64_t FileReader::size() const { return impl_->size(); }

const std::vector<std::string>& FileReader::uris() const { return impl_->uris; }

const RecordTable& FileReader::table(size_t file) const {
  if (file < impl_->tables.size()) return impl_->tables[file];
  throw OutOfRangeError("the file number is out of range",
                        {.expected = fmt::format("a number below {}", impl_->tables.size()),
                         .found = fmt::format("{}", file)});
}

void FileReader::close() { impl_->files.close(); }

uint64_t FileReader::length(uint64_t index) const {
  const Spot spot = impl_->spot(index);
  return impl_->tables[spot.file].length(spot.record);
}

void FileReader::require_held(std::span<const uint64_t> indices,
                              const KeepGoing& keep_going) const {
  const OpenFiles::Use use(impl_->files);
  for (const uint64_t index : indices) {
    const Spot spot = impl_->spot(index);
    const RecordTable& table = impl_->tables[spot.file];
    const uint64_t length = table.length(spot.record);
    if (length <= kDefaultMaxRecordBytes) continue;
    if (!use.sources()[spot.file]->has_hole(table.offset(spot.record), length)) continue;
    std::vector<std::byte> buffer(size_t{1} << 20);  // fits into the processor's cache
    const std::exception_ptr error = impl_->error_of_large(
        use.sources(), spot, buffer, [&] { check_keep_going(keep_going, uris()[spot.file]); });
    if (error) std::rethrow_exception(error);
  }
}

// For a direct read, the memory must have the same distance from an aligned address as the record
// has from an aligned offset.
RecordBytes FileReader::memory_for(uint64_t index) const {
  const Spot spot = impl_->spot(index);
  const RecordTable& table = impl_->tables[spot.file];
  const auto size = static_cast<size_t>(table.length(spot.record));
  if (!impl_->options.read.direct) {
    std::shared_ptr<std::byte> owner = read_memory(size);
    const MutableBytes bytes(owner.get(), size);
    return {bytes, {}, std::move(owner)};
  }
  const auto before = static_cast<size_t>(table.offset(spot.record) % kDirectAlignment);
  const size_t room = before + size + kDirectAlignment;
  std::shared_ptr<std::byte> owner = read_memory(room, true);
  const MutableBytes all(owner.get(), room);
  return {all.subspan(before, size), all, std::move(owner)};
}

bool FileReader::reuses_memory_for(uint64_t index) const {
  return impl_->options.read.direct || length(index) >= kLeastReusedBytes;
}

void FileReader::read(std::span<const uint64_t> indices, std::span<const RecordBytes> into) const {
  const OpenFiles::Use use(impl_->files);
  const Sources& sources = use.sources();
  std::vector<ReadRequest> requests;
  requests.reserve(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    ReadRequest& request =
        requests.emplace_back(impl_->request_for(sources, impl_->spot(indices[i])));
    request.tag = i;
    request.into = into[i].bytes;
    request.room = into[i].room;
  }
  const std::vector<Completion> failed = read_batch(requests, impl_->options.read);
  impl_->warn_of_refusal(sources);
  if (failed.empty()) return;
  const Completion& first = *std::min_element(failed.begin(), failed.end(), has_lower_tag);
  std::rethrow_exception(impl_->placed(first.error, impl_->spot(indices[first.tag])));
}

std::vector<RecordBytes> FileReader::read(std::span<const uint64_t> indices) const {
  require_held(indices);
  std::vector<RecordBytes> records;
  records.reserve(indices.size());
  for (const uint64_t index : indices) records.push_back(memory_for(index));
  read(indices, records);
  return records;
}

void FileReader::verify(
    const std::function<void(uint64_t index, const std::exception_ptr& error)>& report,
    const std::function<bool(uint64_t done)>& progress,
    const std::function<void(uint64_t index, Bytes record)>& take) const {
  const OpenFiles::Use use(impl_->files);
  const Sources& sources = use.sources();
  const auto memory = read_memory(kVerifiedAtOnce, true);
  const MutableBytes buffer(memory.get(), kVerifiedAtOnce);
  std::vector<ReadRequest> requests;
  uint64_t index = 0;
  const auto keep_going = [&] {
    if (!progress(index)) throw_interrupted();
  };
  while (index < size()) {
    requests.clear();
    size_t used = 0;
    for (; index < size() && requests.size() < kMostVerifiedAtOnce; ++index) {
      const Spot spot = impl_->spot(index);
      const RecordTable& table = impl_->tables[spot.file];
      const uint64_t length = table.length(spot.record);
      if (length > buffer.size() - used) break;
      ReadRequest& request = requests.emplace_back(impl_->request_for(sources, spot));
      request.into = buffer.subspan(used, static_cast<size_t>(length));
      request.tag = index;
      request.crc = table.crc(spot.record);
      used += request.into.size();
    }
    if (requests.empty()) {
      const auto error = impl_->error_of_large(sources, impl_->spot(index), buffer, keep_going);
      if (error) {
        report(index, error);
      } else if (take) {
        take(index, read(std::span(&index, 1)).front().bytes);
      }
      ++index;
    }
    std::vector<Completion> failed = read_batch(requests, impl_->options.read);
    std::sort(failed.begin(), failed.end(), has_lower_tag);
    for (const Completion& completion : failed) {
      report(completion.tag, impl_->placed(completion.error, impl_->spot(completion.tag)));
    }
    auto bad = failed.begin();
    for (const ReadRequest& request : requests) {
      if (bad != failed.end() && bad->tag == request.tag) {
        ++bad;
      } else if (take) {
        take(request.tag, request.into);
      }
    }
    keep_going();
  }
}

void FileReader::verify_tables() const {
  for (size_t file = 0; file < impl_->tables.size(); ++file) {
    impl_->tables[file].verify(impl_->uris[file]);
  }
}

std::string FileReader::read_backend() const {
  const bool threads =
      impl_->options.read.backend == ReadBackend::kPread || !io_uring_refusal().empty();
  return threads ? "pread" : "io_uring";
}

}  // namespace fuelrail::ffrecord
