#include "fuelrail/split/input_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/own_process.h"
#include "fuelrail/base/threaded_iter.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/split/chunk_reader.h"
#include "fuelrail/split/dmlc_shuffle.h"
#include "fuelrail/split/part_bytes.h"
#include "fuelrail/split/partition.h"
#include "fuelrail/split/record_cutter.h"
#include "fuelrail/split/split_cache.h"
#include "fuelrail/split/split_files.h"
#include "fuelrail/split/split_uri.h"

namespace fuelrail::split {
namespace {

constexpr std::array<std::string_view, 3> kTypeNames{"text", "recordio", "indexed_recordio"};

constexpr size_t kChunksAhead = 2;

// Enough for any file, and small enough that its double does not overflow.
constexpr uint64_t kMaxChunkBytes = uint64_t{1} << 60;

void check(bool good, const char* failure, const char* remedy) {
  if (!good) throw InvalidArgumentError(failure, {.remedy = remedy});
}

const InputSplitOptions& checked(const InputSplitOptions& options) {
  const bool indexed = options.type == SplitType::kIndexedRecordIo;
  check_part(options.part, options.nsplit);
  check(!indexed || !options.index_uri.empty(), "indexed_recordio needs an index",
        "Set index_uri (x.idx), or use the type recordio");
  check(indexed || options.index_uri.empty(),
        "an index is given, but this type does not use an index",
        "Use the type indexed_recordio, or omit index_uri");
  check(indexed || !options.shuffle, "records of this type cannot be shuffled one by one",
        "Use the type indexed_recordio with an index, or shuffle sub-parts (shuffle_parts)");
  check(!indexed || options.shuffle_parts == 0, "indexed_recordio has no sub-parts to shuffle",
        "Set shuffle to shuffle the records");
  check(options.batch_size > 0, "`batch_size` is 0", "Use at least 1");
  check(options.chunk_bytes > 0, "the chunk size is 0 bytes", "Use at least 1");
  return options;
}

[[noreturn]] void throw_other_index(const std::string& uri, const std::string& expected,
                                    const std::string& found) {
  throw CorruptError("the index does not belong to the data",
                     {.path = uri,
                      .expected = expected,
                      .found = found,
                      .remedy = "Build one index for all input files, with offsets as if the files "
                                "were joined end to end"});
}

// The sorted offsets of an index, which count from the beginning of the first file in the files
// joined end to end; the keys do not matter. dmlc-core ignores lines of an index that it cannot
// read, and loses records. Here the index must belong to the data, but may lack records; such a
// record is read with the record before it. Errors: CorruptError for an index that does not belong
// to the data (it is empty, does not begin at offset 0, repeats an offset or has an offset after
// the end); those of recordio::parse_index; the source's.
std::vector<uint64_t> read_split_index(const std::string& uri, const SplitFiles& files) {
  const uint64_t total_bytes = files.total_bytes();
  const recordio::IndexText text = recordio::read_index(files.source(0), uri);
  std::vector<uint64_t> places;
  for (const recordio::IndexEntry& entry : recordio::parse_index(text.bytes, text.uri)) {
    places.push_back(entry.offset);
  }
  std::sort(places.begin(), places.end());
  if (places.empty()) throw_other_index(uri, "an entry for each record", "an empty index");
  if (places.front() != 0) {
    throw_other_index(uri, "an entry with offset 0",
                      fmt::format("{} as the smallest offset", places.front()));
  }
  if (places.back() >= total_bytes) {
    throw_other_index(uri, fmt::format("offsets below {}", total_bytes),
                      fmt::format("{}", places.back()));
  }
  const auto twice = std::adjacent_find(places.begin(), places.end());
  if (twice != places.end()) {
    throw_other_index(uri, "a different offset in each entry", fmt::format("{} twice", *twice));
  }
  return places;
}

}  // namespace

SplitType split_type_of(const std::string& name) {
  for (size_t i = 0; i < kTypeNames.size(); ++i) {
    if (kTypeNames[i] == name) return static_cast<SplitType>(i);
  }
  const std::vector<std::string> known(kTypeNames.begin(), kTypeNames.end());
  throw InvalidArgumentError(fmt::format("unknown input split type '{}'", name),
                             {.remedy = suggest(name, known)});
}

const char* name_of(SplitType type) { return kTypeNames[static_cast<size_t>(type)].data(); }

struct InputSplit::Impl {
  Impl(const std::string& list, const InputSplitOptions& given);
  ~Impl() {
    if (part.bytes) part.bytes->stop();
    chunks.destroy();
  }
  Impl& operator=(Impl&&) = delete;

  // The part that is being read.
  struct Part {
    std::unique_ptr<PartBytes> bytes;
    std::unique_ptr<ChunkReader> reader;
  };

  Part open_part(uint64_t number, uint64_t nsplit);
  std::unique_ptr<PartBytes> open_bytes(PartRange range, uint64_t number, uint64_t nsplit) const;
  void go_to(const std::function<void()>& move);
  void start();
  void check_process() const;
  bool take_chunk();
  bool have_records();
  std::optional<RecordCutter::Cut> next_cut();

  InputSplitOptions options;
  SplitUri uri;
  std::shared_ptr<const SplitFiles> files;
  std::vector<SplitPlace> searched;  // the places in which the files were found
  std::vector<std::string> uris;
  std::vector<uint64_t> index;  // for kIndexedRecordIo: the offsets at which records begin
  DmlcShuffle shuffle;
  std::vector<uint64_t> sub_part_order;
  std::atomic<uint64_t> chunk_bytes;
  Part part;

  OwnProcess process{OwnProcess::Since::kBegin};  // the process that has started to read
  std::unique_ptr<SplitChunk> chunk;
  size_t at = 0;  // position in `chunk`
  RecordCutter cutter;
  uint64_t missing_in_chunk = 0;  // records that the last chunk lacked
  uint64_t missing_in_batch = 0;
  std::vector<std::byte> batch;
  // The last member, so that its thread ends before the others are destroyed.
  ThreadedIter<SplitChunk> chunks{kChunksAhead};
};

InputSplit::Impl::Impl(const std::string& list, const InputSplitOptions& given)
    : options(checked(given)),
      uri(parse_split_uri(list)),
      shuffle(given.shuffle_parts != 0 ? DmlcShuffle::of_sub_parts(given.part, given.nsplit,
                                                                   given.shuffle_parts, given.seed)
                                       : DmlcShuffle::of_records(given.seed)),
      chunk_bytes(std::min(given.chunk_bytes, kMaxChunkBytes)),
      cutter(given.type) {
  SplitListing listing = find_split_files(uri, given.recurse_directories);
  files = std::make_shared<SplitFiles>(given.type, std::move(listing.files));
  searched = std::move(listing.places);
  uris = files->uris();
  if (given.type == SplitType::kIndexedRecordIo) {
    index = read_split_index(given.index_uri, *files);
  }
  if (given.shuffle_parts != 0) {
    sub_parts(given.part, given.nsplit, given.shuffle_parts);
    sub_part_order = shuffle.permutation(given.shuffle_parts);
  }
  if (!index.empty() && files->size() == 1) {
    recordio::check_complete(index.size(), files->source(0), given.index_uri);
  }
  part = open_part(given.part, given.nsplit);
}

InputSplit::Impl::Part InputSplit::Impl::open_part(uint64_t number, uint64_t nsplit) {
  check_part(number, nsplit);
  Part opened;
  if (options.type == SplitType::kIndexedRecordIo) {
    const PartRange records = CountParts{index.size()}.part(number, nsplit);
    std::vector<uint64_t> places(index.begin() + static_cast<ptrdiff_t>(records.begin),
                                 index.begin() + static_cast<ptrdiff_t>(records.end));
    places.push_back(records.end < index.size() ? index[static_cast<size_t>(records.end)]
                                                : files->total_bytes());
    opened.bytes = open_bytes({places.front(), places.back()}, number, nsplit);
    opened.reader = std::make_unique<IndexReader>(
        *opened.bytes, std::move(places), options.batch_size, options.shuffle ? &shuffle : nullptr);
    return opened;
  }
  const uint64_t divided = std::max<uint64_t>(options.shuffle_parts, 1);
  const PartRange numbers = sub_parts(number, nsplit, divided);
  const uint64_t all = nsplit * divided;
  const PartRange range{files->part(numbers.begin, all).begin,
                        files->part(numbers.end - 1, all).end};
  opened.bytes = open_bytes(range, number, nsplit);
  opened.reader = std::make_unique<RunReader>(
      *opened.bytes,
      SubParts(files, numbers, all, options.shuffle_parts != 0 ? &shuffle : nullptr,
               sub_part_order),
      chunk_bytes);
  return opened;
}

std::unique_ptr<PartBytes> InputSplit::Impl::open_bytes(PartRange range, uint64_t number,
                                                        uint64_t nsplit) const {
  std::optional<SplitCache> opened;
  if (!uri.cache.empty()) {
    std::string cache = split_cache_uri(uri.cache, number, nsplit);
    check_cache_is_no_source(cache, *files, searched);
    opened.emplace(std::move(cache), split_cache_identity(*files, range, number, nsplit),
                   range.length());
  }
  return std::make_unique<PartBytes>(files, range, std::move(opened));
}

void InputSplit::Impl::check_process() const {
  if (!process.is_parents()) return;
  throw StateError("the input split belongs to the parent process, which has started reading it",
                   {.remedy = "Create a new input split after the fork"});
}

void InputSplit::Impl::start() {
  if (process.begun()) return;
  chunks.init([this](std::unique_ptr<SplitChunk>& cell) {
    if (cell == nullptr) cell = std::make_unique<SplitChunk>();
    return part.reader->next(*cell);
  });
  process.begin();
}

// Calls `move` while the thread does not read.
void InputSplit::Impl::go_to(const std::function<void()>& move) {
  check_process();
  if (chunk != nullptr) chunks.recycle(std::move(chunk));
  if (!process.begun()) {
    move();
  } else {
    chunks.before_first(move);
  }
}

// Returns: false at the end.
bool InputSplit::Impl::take_chunk() {
  start();
  if (chunk != nullptr) chunks.recycle(std::move(chunk));
  chunk = chunks.next();
  at = 0;
  cutter.restart();
  if (chunk == nullptr) return false;
  missing_in_chunk = chunk->missing_records;
  if (options.type == SplitType::kText) {
    const Bytes bytes = chunk->bytes();
    at = static_cast<size_t>(std::find_if_not(bytes.begin(), bytes.end(), is_line_end) -
                             bytes.begin());
  }
  return true;
}

// Takes the next chunk if the present one is used up. Returns: false at the end.
bool InputSplit::Impl::have_records() {
  check_process();
  while (chunk == nullptr || at == chunk->size()) {
    if (!take_chunk()) return false;
  }
  return true;
}

std::optional<RecordCutter::Cut> InputSplit::Impl::next_cut() {
  if (!have_records()) return std::nullopt;
  const auto cut = cutter.next(*chunk, at, *files);
  at = cut->next;
  return cut;
}

InputSplit::InputSplit(const std::string& uri, const InputSplitOptions& options)
    : impl_(std::make_unique<Impl>(uri, options)) {}

InputSplit::~InputSplit() = default;

std::optional<Bytes> InputSplit::next_record() {
  const auto cut = impl_->next_cut();
  if (!cut) return std::nullopt;
  return cut->record;
}

std::optional<Bytes> InputSplit::next_chunk() {
  if (!impl_->have_records()) return std::nullopt;
  const Bytes left = impl_->chunk->bytes().subspan(impl_->at);
  impl_->at = impl_->chunk->size();
  return left;
}

std::optional<Bytes> InputSplit::next_batch(uint64_t records) {
  check(records > 0, "the batch has 0 records", "Use at least 1");
  Impl& split = *impl_;
  const uint64_t wanted = split.missing_in_batch != 0 ? split.missing_in_batch : records;
  split.batch.clear();
  Bytes run;  // records of the present chunk that are not copied yet
  uint64_t got = 0;
  for (; got < wanted; ++got) {
    if (!run.empty() && split.at == split.chunk->size()) {
      split.batch.insert(split.batch.end(), run.begin(), run.end());
      run = {};
    }
    std::optional<RecordCutter::Cut> cut;
    try {
      cut = split.next_cut();
    } catch (const Error&) {
      if (got == 0) throw;  // otherwise the next call throws it again
    }
    if (!cut) break;
    const Bytes bytes = split.chunk->bytes();
    const size_t begin = run.empty() ? cut->begin : static_cast<size_t>(run.data() - bytes.data());
    run = bytes.subspan(begin, cut->next - begin);
  }
  if (got == 0) return std::nullopt;
  split.missing_in_batch = wanted - got;
  if (split.batch.empty()) return run;
  split.batch.insert(split.batch.end(), run.begin(), run.end());
  return split.batch;
}

std::vector<std::vector<std::byte>> InputSplit::records_of(Bytes chunk) const {
  RecordCutter cutter(impl_->options.type);
  std::vector<std::vector<std::byte>> records;
  for (size_t at = 0; const auto cut = cutter.next(chunk, at);) {
    records.emplace_back(cut->record.begin(), cut->record.end());
    at = cut->next;
  }
  return records;
}

bool InputSplit::has_record_at_hand() const {
  return impl_->chunk != nullptr && impl_->at != impl_->chunk->size();
}

void InputSplit::before_first() {
  impl_->go_to([this] { impl_->part.reader->rewind(impl_->missing_in_chunk); });
}

void InputSplit::reset_partition(uint64_t part, uint64_t nsplit) {
  check_part(part, nsplit);
  Impl& split = *impl_;
  check(split.options.shuffle_parts == 0 || nsplit == split.options.nsplit,
        "the number of parts cannot change while sub-parts are shuffled",
        "Create a new split for a different number of parts");
  split.go_to([&] {
    Impl::Part opened = split.open_part(part, nsplit);
    split.part = std::move(opened);
    split.options.part = part;
    split.options.nsplit = nsplit;
    split.missing_in_chunk = 0;
    split.missing_in_batch = 0;
  });
}

void InputSplit::hint_chunk_size(uint64_t bytes) {
  check(bytes > 0, "the chunk size is 0 bytes", "Use at least 1");
  impl_->options.chunk_bytes = std::min(bytes, kMaxChunkBytes);
  impl_->chunk_bytes = impl_->options.chunk_bytes;
}

uint64_t InputSplit::total_size() const { return impl_->files->total_bytes(); }
const InputSplitOptions& InputSplit::options() const { return impl_->options; }
const std::vector<std::string>& InputSplit::files() const { return impl_->uris; }

}  // namespace fuelrail::split
