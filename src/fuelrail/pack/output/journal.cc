#include "fuelrail/pack/output/journal.h"

#include <string_view>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

constexpr std::string_view kJournalMagic = "frpackj1";
constexpr size_t kBlockHeadBytes = 8;
constexpr size_t kBlockBytes = size_t{64} << 10;

enum class EntryKind : uint8_t { kRecord = 1, kLeftOut = 2, kCompleted = 3, kKeep = 4 };

template <typename T>
void put(std::vector<std::byte>& out, T value) {
  out.resize(out.size() + sizeof value);
  store_le(out.data() + out.size() - sizeof value, value);
}

void put_kind(std::vector<std::byte>& out, EntryKind kind) { put(out, static_cast<uint8_t>(kind)); }

void put_text(std::vector<std::byte>& out, std::string_view text) {
  const Bytes bytes = as_bytes(text);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Takes values from the front of bytes. If too few bytes are left for a value, this and all later
// calls fail.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : bytes_(bytes) {}
  bool at_end() const { return failed_ || bytes_.empty(); }
  bool failed() const { return failed_; }

  template <typename T>
  T take() {
    const Bytes bytes = take_bytes(sizeof(T));
    return failed_ ? T{} : load_le<T>(bytes.data());
  }
  Bytes take_bytes(uint64_t count) {
    if (failed_ || count > bytes_.size()) {
      failed_ = true;
      return {};
    }
    const Bytes taken = bytes_.first(static_cast<size_t>(count));
    bytes_ = bytes_.subspan(static_cast<size_t>(count));
    return taken;
  }

 private:
  Bytes bytes_;
  bool failed_ = false;
};

// Returns: the data of the next block, or nothing if the block is truncated or damaged.
std::optional<Bytes> take_block(Cursor& cursor) {
  const auto length = cursor.take<uint32_t>();
  const auto crc = cursor.take<uint32_t>();
  const Bytes data = cursor.take_bytes(length);
  if (cursor.failed() || crc32(data) != crc) return std::nullopt;
  return data;
}

void keep_first(JournalContents& contents, uint64_t items) {
  if (items >= contents.items.size()) return;
  contents.items.resize(static_cast<size_t>(items));
  contents.reasons.erase(contents.reasons.lower_bound(items), contents.reasons.end());
  contents.completed.clear();  // entries that follow add the valid parts again
}

// Returns: whether the entry is valid.
bool take_entry(Cursor& cursor, JournalContents& contents) {
  switch (static_cast<EntryKind>(cursor.take<uint8_t>())) {
    case EntryKind::kRecord: {
      const JournalItem item{.framed_bytes = cursor.take<uint32_t>(),
                             .crc = cursor.take<uint32_t>()};
      if (cursor.failed() || item.framed_bytes == 0) return false;
      contents.items.push_back(item);
      return true;
    }
    case EntryKind::kLeftOut: {
      const Bytes reason = cursor.take_bytes(cursor.take<uint32_t>());
      if (cursor.failed()) return false;
      contents.reasons.emplace(contents.items.size(), as_text(reason));
      contents.items.push_back({});
      return true;
    }
    case EntryKind::kCompleted: {
      const auto part = cursor.take<uint32_t>();
      FileIdentity identity;
      identity.size_bytes = cursor.take<uint64_t>();
      identity.first_crc = cursor.take<uint32_t>();
      identity.last_crc = cursor.take<uint32_t>();
      if (cursor.failed()) return false;
      contents.completed[part] = identity;
      return true;
    }
    case EntryKind::kKeep: {
      const auto items = cursor.take<uint64_t>();
      if (cursor.failed()) return false;
      keep_first(contents, items);
      return true;
    }
  }
  return false;
}

std::vector<std::byte> header_of(const std::string& job) {
  std::vector<std::byte> header;
  put_text(header, kJournalMagic);
  put(header, static_cast<uint32_t>(job.size()));
  put(header, crc32(as_bytes(job)));
  put_text(header, job);
  return header;
}

std::string journal_uri(const std::string& output) { return output + ".journal"; }

// Errors name the output, because the user knows only that file.
template <typename Do>
auto as_of_output(const std::string& output, const Do& work) {
  try {
    return work();
  } catch (const IoError& error) {
    ErrorDetail detail = error.detail();
    if (detail.path == journal_uri(output)) {
      detail.path = output;
      detail.offset.reset();
    }
    throw IoError(error.failure(), detail);
  }
}

std::unique_ptr<Sink> open_journal(const std::string& output, bool leave) {
  const std::string uri = journal_uri(output);
  FileSystem& files = file_system_for(uri);
  return as_of_output(output, [&] { return leave ? files.resume(uri) : files.create(uri); });
}

}  // namespace

std::optional<JournalContents> parse_journal(Bytes journal, const std::string& job) {
  const std::vector<std::byte> header = header_of(job);
  if (journal.size() < header.size() || as_text(journal.first(header.size())) != as_text(header)) {
    return std::nullopt;
  }
  JournalContents contents;
  contents.valid_bytes = header.size();
  Cursor blocks(journal.subspan(header.size()));
  while (!blocks.at_end()) {
    const std::optional<Bytes> block = take_block(blocks);
    if (!block) break;
    Cursor entries(*block);
    while (!entries.at_end()) {
      // An invalid entry with a correct checksum was written by a different version.
      if (!take_entry(entries, contents)) return std::nullopt;
    }
    contents.valid_bytes += kBlockHeadBytes + block->size();
  }
  return contents;
}

bool PackJournal::is_left(const std::string& output) {
  return file_system_for(output).stat(journal_uri(output) + ".partial").has_value();
}

PackJournal::PackJournal(const std::string& output, const std::string& job, bool leave,
                         std::chrono::milliseconds interval)
    : output_(output),
      job_(job),
      leave_(leave),
      interval_(interval),
      sink_(open_journal(output, leave)),
      flushed_(std::chrono::steady_clock::now()) {
  if (!sink_->is_first_writer()) {
    throw IoError("another job is writing the output",
                  {.path = output,
                   .remedy = "Wait until that job ends; if no job is running, remove " +
                             journal_uri(output) + ".partial"});
  }
  sink_->leave_partial(leave);
  if (sink_->position() > 0) {
    std::vector<std::byte> journal(sink_->position());
    as_of_output(output_, [&] { sink_->read_back(0, journal); });
    left_ = parse_journal(journal, job_);
    is_foreign_ = !left_;
  } else {
    begin_anew();
  }
}

PackJournal::~PackJournal() {
  if (!leave_ || sink_ == nullptr) return;
  try {
    flush();
  } catch (const Error&) {  // the entries flushed earlier can still be used
  }
}

void PackJournal::begin_anew() {
  is_foreign_ = false;
  as_of_output(output_, [&] {
    if (sink_->position() > 0) sink_->truncate(0);
    sink_->write(header_of(job_));
    sink_->flush();
  });
}

void PackJournal::keep(uint64_t items) {
  if (sink_->position() > left_->valid_bytes) {
    as_of_output(output_, [&] { sink_->truncate(left_->valid_bytes); });
  }
  if (items < left_->items.size()) {
    put_kind(entries_, EntryKind::kKeep);
    put(entries_, items);
    flush();
  }
  left_.reset();
}

void PackJournal::add_record(uint64_t framed_bytes, uint32_t crc) {
  put_kind(entries_, EntryKind::kRecord);
  put(entries_, static_cast<uint32_t>(framed_bytes));
  put(entries_, crc);
}

void PackJournal::add_left_out(const std::string& reason) {
  put_kind(entries_, EntryKind::kLeftOut);
  put(entries_, static_cast<uint32_t>(reason.size()));
  put_text(entries_, reason);
}

void PackJournal::add_completed(uint32_t part, const FileIdentity& identity) {
  put_kind(entries_, EntryKind::kCompleted);
  put(entries_, part);
  put(entries_, identity.size_bytes);
  put(entries_, identity.first_crc);
  put(entries_, identity.last_crc);
}

bool PackJournal::due() const {
  return entries_.size() >= kBlockBytes || std::chrono::steady_clock::now() - flushed_ >= interval_;
}

void PackJournal::flush() {
  flushed_ = std::chrono::steady_clock::now();
  if (entries_.empty()) return;
  std::vector<std::byte> head;
  put(head, static_cast<uint32_t>(entries_.size()));
  put(head, crc32(entries_));
  as_of_output(output_, [&] {
    sink_->write(head);
    sink_->write(entries_);
    sink_->flush();
  });
  entries_.clear();
}

void PackJournal::finish() {
  sink_->leave_partial(false);
  sink_.reset();
}

}  // namespace fuelrail::pack
