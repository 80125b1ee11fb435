#include "fuelrail/container/files/file_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <variant>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/ordered_work.h"
#include "fuelrail/container/files/folder_scan.h"
#include "fuelrail/container/fingerprint.h"

namespace fuelrail::files {
namespace {

constexpr std::chrono::milliseconds kAskEvery(50);  // if a group takes longer

}  // namespace

Extent FileRecords::extent(uint64_t i) const {
  const uint64_t length = length_of(i);
  check_image_length(place(i), length);
  const FileInfo info{.uri = opened_uri(i), .size_bytes = length};
  return {file_system(i).open_lazily(info, shown_uri(i)), 0, length};
}

void FileRecords::parse(uint64_t i, Bytes framed, Sample& out) const {
  if (framed.size() != length_of(i)) throw_wrong_length(i, framed.size());
  fill(i, framed, out);
}

Fingerprint FileRecords::make_fingerprint(const KeepGoing& keep_going) const {
  look_at_all(keep_going);
  FingerprintBuilder builder;
  for (uint64_t i = 0; i < size(); ++i) builder.add(length_if_there(i));
  return builder.result();
}

// The length at the first query. Errors: NotFoundError, IoError.
uint64_t FileRecords::length_of(uint64_t i) const {
  uint64_t known = lengths_[i].load(std::memory_order_relaxed);
  if (known != 0) return known - 1;
  const uint64_t found = look_at(i) + 1;
  // The first of several concurrent queries decides.
  if (lengths_[i].compare_exchange_strong(known, found, std::memory_order_relaxed)) known = found;
  return known - 1;
}

// 0 for a file that was removed after the names were listed, so that a run that skips it can still
// save a state.
uint64_t FileRecords::length_if_there(uint64_t i) const {
  try {
    return length_of(i);
  } catch (const NotFoundError&) {
    return 0;
  }
}

uint64_t FileRecords::look_at(uint64_t i) const {
  std::optional<FileInfo> info;
  try {
    info = file_system(i).stat(opened_uri(i));
  } catch (const IoError& error) {
    ErrorDetail detail = error.detail();
    detail.path = shown_uri(i);
    detail.record = i;
    throw IoError(error.failure(), detail);
  }
  if (info && (info->is_directory || info->is_special)) {
    throw NotFoundError(
        info->is_directory ? "the image path is a directory" : "the image path is a pipe or device",
        {.path = shown_uri(i), .record = i});
  }
  if (info) return info->size_bytes;
  throw NotFoundError("no such file or directory", {.path = shown_uri(i), .record = i});
}

// Uses several threads, because most file systems spend the time waiting. Errors: StateError.
void FileRecords::look_at_all(const KeepGoing& keep_going) const {
  constexpr uint64_t kGroup = 512;
  const uint64_t groups = (size() + kGroup - 1) / kGroup;
  OrderedWork<std::monostate> work(
      {.items = groups, .threads = default_threads()},
      [this]() -> OrderedWork<std::monostate>::Worker {
        return [this](uint64_t group) {
          const uint64_t end = std::min((group + 1) * kGroup, size());
          for (uint64_t i = group * kGroup; i < end; ++i) length_if_there(i);
          return std::monostate{};
        };
      },
      [](std::monostate) { return uint64_t{0}; });
  for (uint64_t done = 0; done < groups;) {
    check_keep_going(keep_going, uri_);
    done += work.take(kAskEvery).has_value();
  }
}

void FileRecords::throw_wrong_length(uint64_t i, size_t found) const {
  const uint64_t length = length_of(i);
  const ErrorDetail detail{.path = shown_uri(i),
                           .record = i,
                           .offset = 0,
                           .expected = fmt::format("{} bytes", length),
                           .found = fmt::format("{}", found)};
  if (found < length) throw TruncatedError("the image file is truncated", detail);
  throw CorruptError("the image file has grown since its length was first read", detail);
}

}  // namespace fuelrail::files
