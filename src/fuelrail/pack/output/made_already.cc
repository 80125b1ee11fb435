#include "fuelrail/pack/output/made_already.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/pack/output/part.h"
#include "fuelrail/pack/source/open_source.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

// Reports a damaged file, and a file of a different kind, as one that differs from the job's
// result.
template <typename Read>
auto read_of(const MadeAlready& file, const Read& read) {
  try {
    return read();
  } catch (const IoError&) {
    throw;
  } catch (const StateError&) {
    throw;
  } catch (const Error& error) {
    ErrorDetail detail = error.detail();
    detail.remedy.clear();  // it is about reading the file, and does not help here
    file.refuse(Error(error.failure(), std::move(detail)).what());
  }
}

}  // namespace

MadeAlready::MadeAlready(std::string uri, const PackSource& source, const KeepGoing& keep_going)
    : uri_(std::move(uri)) {
  const FileFormat& format = format_for(FormatWork::kWrite, uri_);
  if (!is_file(sidecar_uri(uri_))) refuse("no sidecar beside the file");
  if (!format.index_extension.empty() && !is_file(index_uri_of(uri_, format))) {
    refuse("no index beside the file");
  }
  stream_ = read_of(*this, [&] { return open_stream(uri_, uri_, {.keep_going = keep_going}); });
  if (const auto difference = first_difference(source.classes(), stream_->sidecar()->classes())) {
    refuse(fmt::format("{}, but the job has {}", difference->found, difference->expected));
  }
  if (stream_->sidecar()->field_classes() != source.field_classes()) {
    refuse("fields with other class names than those of the job");
  }
}

uint64_t MadeAlready::take(const PackedImage& image, const std::string& path) {
  const auto unlike = [&] {
    refuse(fmt::format("record {}, which differs from the record that the job makes from {}",
                       taken_, path));
  };
  if (taken_ == stream_->size()) {
    refuse(fmt::format("no record from {}", path));
  }
  const StreamedRecord there = read_of(*this, [&] { return stream_->read(taken_); });
  if (there.crc != image.crc || !std::ranges::equal(there.payload, image.payload)) unlike();
  if (there.key.value_or(there.id.value_or(taken_)) != image.id) unlike();
  ++taken_;
  return there.framed_bytes;
}

FileIdentity MadeAlready::finish(const std::vector<RecordSplit>& splits) {
  if (taken_ < stream_->size()) {
    refuse(fmt::format("more records than the job makes ({}, not {})", stream_->size(), taken_));
  }
  std::vector<RecordSplit> found = read_of(*this, [&] { return stream_->splits(); });
  std::vector<RecordSplit> expected = splits;
  for (auto* const each : {&found, &expected}) std::ranges::sort(*each, {}, &RecordSplit::name);
  if (found != expected) {
    refuse("other splits than those of the job");
  }
  read_of(*this, [&] {
    SidecarWriter checked;
    stream_->finish(checked);
  });
  return identify(*file_system_for(uri_).open(uri_));
}

void MadeAlready::refuse(const std::string& found) const { throw_existing(uri_, found); }

}  // namespace fuelrail::pack
