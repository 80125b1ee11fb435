#include "fuelrail/storage/read_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/storage/local/posix.h"

namespace fuelrail {
namespace {

// Sorted instead of the requests, which are large.
struct Place {
  uintptr_t file;   // 0 without a descriptor
  uint64_t offset;  // 0 without a descriptor
  size_t index;
  friend auto operator<=>(const Place&, const Place&) = default;
};

std::vector<Place> places_of(std::span<const ReadRequest> requests) {
  std::vector<Place> places;
  places.reserve(requests.size());
  const Source* last = nullptr;
  bool held_open = false;
  for (const ReadRequest& request : requests) {
    if (request.source != last) {
      last = request.source;
      held_open = last->descriptor() >= 0;
    }
    const uintptr_t file = held_open ? reinterpret_cast<uintptr_t>(last) : 0;
    places.push_back({file, held_open ? request.offset : 0, places.size()});
  }
  return places;
}

// Whether an errno means that the file system never supports direct reads.
bool is_refusal(int error) { return error == EINVAL || error == EOPNOTSUPP; }

bool is_lack(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

// Returns: whether the whole request was read directly.
bool read_direct(const ReadRequest& request, DirectReads& direct) {
  const auto span = direct.span_of(request);
  if (!span) return false;
  ssize_t got = 0;
  do {
    got = ::pread(span->descriptor, span->into.data(), span->into.size(),
                  static_cast<off_t>(span->offset));
  } while (got < 0 && errno == EINTR);
  if (got < 0) direct.read_failed(*request.source, errno);
  return got >= 0 && static_cast<size_t>(got) >= span->needed;
}

void check_crc(const ReadRequest& request) {
  try {
    check_record_crc(crc32(request.into), *request.crc);
  } catch (Error& error) {
    error.add({.path = request.source->uri(), .offset = request.offset});
    throw;
  }
}

bool read_together(const ReadRun& run) {
  try {
    run.requests.front().source->read_scattered(run.offset(), run.pieces);
    return true;
  } catch (...) {
    return false;  // separate reads then find which request fails, and why
  }
}

}  // namespace

bool lies_within(const ReadRequest& request) {
  const uint64_t size = request.source->size_bytes();
  return request.offset <= size && request.into.size() <= size - request.offset;
}

std::vector<ReadRequest> in_order_of_place(std::span<const ReadRequest> requests) {
  std::vector<Place> places = places_of(requests);
  std::sort(places.begin(), places.end());
  std::vector<ReadRequest> sorted;
  sorted.reserve(requests.size());
  for (const Place& place : places) sorted.push_back(requests[place.index]);
  return sorted;
}

bool joins(const ReadRequest& last, const ReadRequest& next, size_t bytes) {
  const uint64_t end = last.offset + last.into.size();
  return next.source == last.source && !next.into.empty() && next.offset >= end &&
         next.offset - end <= kMaxGapBytes && next.into.size() <= kMaxRunBytes &&
         bytes + (next.offset - end) + next.into.size() <= kMaxRunBytes;
}

void ReadRun::take_from(std::deque<ReadRequest>& pending, bool alone) {
  const size_t count = alone ? 1 : run_length(pending.begin(), pending.end());
  const auto end = pending.begin() + static_cast<ptrdiff_t>(count);
  assign(pending.begin(), end);
  pending.erase(pending.begin(), end);
}

void ReadRun::lay_out_pieces() {
  pieces.clear();
  uint64_t at = offset();
  for (const ReadRequest& request : requests) {
    if (const auto between = static_cast<size_t>(request.offset - at); between > 0) {
      if (!gap) gap = std::make_unique_for_overwrite<std::byte[]>(kMaxGapBytes);
      pieces.emplace_back(gap.get(), between);
    }
    pieces.push_back(request.into);
    at = request.offset + request.into.size();
  }
}

std::optional<DirectReads::Span> DirectReads::span_of(const ReadRequest& request) noexcept {
  try {
    return aligned_span_of(request);
  } catch (...) {  // no memory; the ordinary read needs less
    return std::nullopt;
  }
}

std::optional<DirectReads::Span> DirectReads::aligned_span_of(const ReadRequest& request) {
  if (!wanted_for(request) || request.into.empty()) return std::nullopt;
  if (request.source->descriptor() < 0) {
    not_held_open(*request.source);
    return std::nullopt;
  }
  if (request.room.empty() || !lies_within(request)) return std::nullopt;
  const Source::Direct direct = request.source->direct_descriptor();
  if (direct.descriptor < 0) {
    open_failed(*request.source, direct.error);
    return std::nullopt;
  }
  const auto before = static_cast<size_t>(request.offset % kDirectAlignment);
  const size_t needed = before + request.into.size();
  const size_t length = (needed + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
  const auto room_before = static_cast<size_t>(request.into.data() - request.room.data());
  if (room_before < before || room_before - before + length > request.room.size()) {
    return std::nullopt;
  }
  const MutableBytes into = request.room.subspan(room_before - before, length);
  if (reinterpret_cast<uintptr_t>(into.data()) % kDirectAlignment != 0) return std::nullopt;
  return Span{direct.descriptor, request.offset - before, into, needed};
}

void DirectReads::read_failed(const Source& source, int error) noexcept {
  if (is_refusal(error)) refused(source, error);
}

// If there is no memory for a warning, a later call tries again; the reads continue.
template <typename Text>
void DirectReads::warn_once(std::once_flag& warned, const Text& text) noexcept {
  if (!warn_) return;
  try {
    std::call_once(warned, [&] { warn_(text()); });
  } catch (...) {
  }
}

void DirectReads::not_held_open(const Source& source) {
  warn_once(warned_of_closed_, [&] {
    return fmt::format(
        "{} is read through the page cache: direct reads need a local file that stays open, and "
        "a folder's files are opened one at a time",
        source.uri());
  });
}

// After a lack of descriptors or memory, the next request tries again to open the file.
void DirectReads::open_failed(const Source& source, int error) {
  if (is_refusal(error)) return refused(source, error);
  if (!is_lack(error)) source.note_direct_refusal();
  warn_once(warned_of_lack_, [&] {
    return fmt::format(
        "{} cannot be opened for direct reads ({}); {}it is read through the page cache",
        source.uri(), local::words_of(error), is_lack(error) ? "until that succeeds, " : "");
  });
}

void DirectReads::refused(const Source& source, int error) {
  source.note_direct_refusal();
  warn_once(warned_of_refusal_, [&] {
    return fmt::format(
        "the file system of {} refuses direct reads ({}); the file is read through the page cache",
        source.uri(), local::words_of(error));
  });
}

Completion checked(const ReadRequest& request) noexcept {
  if (!request.crc) return {request.tag, nullptr};
  try {
    check_crc(request);
    return {request.tag, nullptr};
  } catch (...) {
    return {request.tag, std::current_exception()};
  }
}

Completion perform(const ReadRequest& request, DirectReads& direct) noexcept {
  if (!read_direct(request, direct)) {
    try {
      request.source->read(request.offset, request.into);
    } catch (...) {
      return {request.tag, std::current_exception()};
    }
  }
  return checked(request);
}

void perform(const ReadRun& run, DirectReads& direct, std::vector<Completion>& done) {
  if (run.requests.size() > 1 && read_together(run)) {
    for (const ReadRequest& request : run.requests) done.push_back(checked(request));
    return;
  }
  for (const ReadRequest& request : run.requests) {
    done.push_back(perform(request, direct));
  }
}

Completion cancelled(const ReadRequest& request) noexcept {
  try {
    throw StateError("the read was cancelled");
  } catch (...) {
    return {request.tag, std::current_exception()};
  }
}

}  // namespace fuelrail
