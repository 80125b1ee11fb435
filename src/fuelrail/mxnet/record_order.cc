#include "fuelrail/mxnet/record_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/index_file.h"

namespace fuelrail::mxnet {
namespace {

// The size of dmlc's chunk buffer in words of four bytes. While a record does not fit, n words
// become 2 n + 1.
constexpr uint64_t kChunkWords = uint64_t{1} << 21;
constexpr uint64_t kWordBytes = 4;
constexpr uint64_t kHeadBytes = 8;  // of a record; dmlc finds only heads that end in the buffer
constexpr double kMebibyte = 0x1p20;
constexpr double kSubPartsMore = 1.1;  // factor on the number of sub-parts

// The number of sub-parts, such that each is about as large as shuffle_chunk_size.
uint64_t sub_parts_of(const RecordFiles& files, const RecordOrderOptions& options) {
  if (options.indexed || options.shuffle_chunk_size == 0) return 1;
  const double wanted = static_cast<double>(options.num_parts) *
                        static_cast<double>(options.shuffle_chunk_size) * kMebibyte;
  const double parts = std::ceil(static_cast<double>(files.total_bytes()) * kSubPartsMore / wanted);
  return std::max<uint64_t>(1, static_cast<uint64_t>(parts));
}

// The records whose heads are in part `part` of `parts` of the bytes.
split::PartRange by_bytes(const RecordFiles& files, uint64_t part, uint64_t parts) {
  const split::PartRange bytes =
      split::ByteParts{.total_bytes = files.total_bytes()}.raw(part, parts);
  return {files.first_from(bytes.begin), files.first_from(bytes.end)};
}

std::vector<split::PartRange> ranges_of(const RecordFiles& files,
                                        const RecordOrderOptions& options) {
  if (options.indexed) {
    return {split::CountParts{.records = files.size()}.part(options.part_index, options.num_parts)};
  }
  const uint64_t shuffled = sub_parts_of(files, options);
  if (shuffled == 1) return {by_bytes(files, options.part_index, options.num_parts)};
  const split::PartRange numbers =
      split::sub_parts(options.part_index, options.num_parts, shuffled);
  std::vector<split::PartRange> ranges;
  for (uint64_t part = numbers.begin; part < numbers.end; ++part) {
    ranges.push_back(by_bytes(files, part, options.num_parts * shuffled));
  }
  return ranges;
}

// The end of the chunk that begins at record `begin`. dmlc's reader fills its buffer and begins the
// next chunk at the last record head in the buffer.
uint64_t chunk_end(const RecordFiles& files, const split::PartRange& range, uint64_t begin) {
  const uint64_t from = files.offset(begin);
  const uint64_t left = files.offset(range.end) - from;
  for (uint64_t words = kChunkWords;; words = 2 * words + 1) {
    const uint64_t bytes = words * kWordBytes;
    if (left < bytes) return range.end;
    const uint64_t next = files.first_from(from + bytes - kHeadBytes + 1);
    if (next - 1 > begin) return next - 1;
  }
}

constexpr const char* kNewIndex =
    "Rebuild the index for these files with MXNet's rec2idx or im2rec";

[[noreturn]] void throw_bad_index(const std::string& uri, const RecordFiles& files,
                                  const recordio::IndexEntry& entry, uint64_t record) {
  const bool begins = entry.offset < files.total_bytes() &&
                      files.offset(files.first_from(entry.offset)) == entry.offset;
  throw CorruptError(
      begins ? "a record is missing from the index"
             : fmt::format("no record begins at the offset in line {} of the index", entry.line),
      {.path = uri,
       .expected = record < files.size()
                       ? fmt::format("record {} at offset {}", record, files.offset(record))
                       : "no more entries",
       .found = fmt::format("offset {} in line {}", entry.offset, entry.line),
       .remedy = kNewIndex});
}

}  // namespace

uint64_t RecordPass::chunk_begin(uint64_t i) const {
  if (!chunks.empty()) return *(std::upper_bound(chunks.begin(), chunks.end(), i) - 1);
  return i < first_chunk ? 0 : i - (i - first_chunk) % chunk_records;
}

RecordOrder::RecordOrder(std::shared_ptr<const RecordFiles> files,
                         const RecordOrderOptions& options)
    : files_(std::move(files)), options_(options) {
  split::check_part(options_.part_index, options_.num_parts);
  ranges_ = ranges_of(*files_, options_);
  for (const split::PartRange& range : ranges_) size_ += range.length();
  if (size_ == 0) {
    throw InvalidArgumentError(
        "the part has no records",
        {.path = files_->place(0).path,
         .found = fmt::format("part_index {}, num_parts {}, total number of records {}",
                              options_.part_index, options_.num_parts, files_->size()),
         .remedy = options_.indexed ? "Use fewer parts"
                                    : "Use fewer parts, or give `path_imgidx` to divide the files "
                                      "by number of records instead of bytes"});
  }
}

std::shared_ptr<const RecordPass> RecordOrder::pass(uint32_t number) const {
  const Lock lock(mutex_);
  for (const Made& made : made_) {
    if (made.pass && made.number == number) return made.pass;
  }
  if (!maker_ || maker_->next > number) maker_ = first_maker();
  while (maker_->next < number) make(*maker_);
  std::shared_ptr<const RecordPass> pass = make(*maker_);
  std::swap(made_[0], made_[1]);
  made_[0] = {number, pass};
  return pass;
}

RecordOrder::Maker RecordOrder::first_maker() const {
  std::vector<size_t> visits(ranges_.size());
  std::iota(visits.begin(), visits.end(), size_t{0});
  return {.next = 0,
          .records = options_.detection ? split::DmlcShuffle::of_detection_records(options_.seed)
                                        : split::DmlcShuffle::of_records(options_.seed),
          .sub_parts = split::DmlcShuffle::of_sub_parts(
              options_.part_index, options_.num_parts, ranges_.size(), options_.shuffle_chunk_seed),
          .visits = std::move(visits)};
}

std::shared_ptr<const RecordPass> RecordOrder::make(Maker& maker) const {
  auto pass = std::make_shared<RecordPass>();
  pass->first = ranges_[0].begin;
  pass->records = size_;
  const uint32_t number = maker.next++;
  if (options_.indexed) {
    pass->chunk_records = options_.batch_size;
    const uint64_t over = static_cast<uint64_t>(number) * size_ % options_.batch_size;
    pass->first_chunk = over == 0 ? 0 : options_.batch_size - over;
    if (!options_.shuffle) return pass;
    pass->order = maker.records.permutation(size_);
    for (uint64_t& record : pass->order) record += pass->first;
    return pass;
  }
  if (ranges_.size() > 1) maker.sub_parts.shuffle(maker.visits);
  for (const size_t visit : maker.visits) add_range(ranges_[visit], maker, *pass);
  return pass;
}

void RecordOrder::add_range(const split::PartRange& range, Maker& maker, RecordPass& pass) const {
  uint64_t at = ranges_.size() == 1 ? 0 : pass.order.size();
  const bool listed = options_.shuffle || ranges_.size() > 1;
  for (uint64_t begin = range.begin; begin < range.end;) {
    const uint64_t end = chunk_end(*files_, range, begin);
    pass.chunks.push_back(at);
    at += end - begin;
    if (options_.shuffle) {
      for (const uint64_t place : maker.records.permutation(end - begin)) {
        pass.order.push_back(begin + place);
        pass.places.push_back(static_cast<uint32_t>(place));
      }
    } else if (listed) {
      for (uint64_t record = begin; record < end; ++record) pass.order.push_back(record);
    }
    begin = end;
  }
}

void check_index(const std::string& uri, const RecordFiles& files) {
  const recordio::IndexText text = recordio::read_index(*files.extent(0).source, uri);
  std::vector<recordio::IndexEntry> entries = recordio::parse_index(text.bytes, text.uri);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.offset < b.offset; });
  uint64_t record = 0;  // the next record that an entry must name
  for (const recordio::IndexEntry& entry : entries) {
    if (record < files.size() && entry.offset == files.offset(record)) {
      ++record;
    } else if (record == 0 || entry.offset != files.offset(record - 1)) {
      throw_bad_index(uri, files, entry, record);
    }
  }
  if (record == files.size()) return;
  throw CorruptError(
      "the index ends before the last record",
      {.path = uri,
       .expected = fmt::format("entries up to record {}", files.size() - 1),
       .found = record == 0 ? "no entries" : fmt::format("entries up to record {}", record - 1),
       .remedy = kNewIndex});
}

}  // namespace fuelrail::mxnet
