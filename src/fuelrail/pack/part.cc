#include "fuelrail/pack/part.h"

#include <fmt/format.h>

#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/sidecar_store.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

std::unique_ptr<Sink> create(const std::string& uri) { return file_system_for(uri).create(uri); }

std::unique_ptr<Sink> create_alone(const std::string& uri, Part::Begin begin) {
  std::unique_ptr<Sink> sink =
      begin == Part::Begin::kAsLeft ? file_system_for(uri).resume(uri) : create(uri);
  if (sink->is_first_writer()) return sink;
  throw IoError("another pack is writing it",
                {.path = uri,
                 .remedy = "Wait until that has ended; where none runs, remove " + uri +
                           ".partial, which others must have made"});
}

void refuse_orphan(const std::string& uri) {
  if (!is_file(uri)) return;
  throw IoError("the output is not there, but a file that would go with it is",
                {.path = uri,
                 .remedy = "It may hold what another file needs: move it away, or allow replacing "
                           "it (overwrite, --overwrite)"});
}

}  // namespace

std::string identity_of_name(const std::string& uri) {
  return identity_of(file_system_for(uri).stat(uri).value_or(FileInfo{.uri = uri}));
}

bool is_file(const std::string& uri) {
  const auto info = file_system_for(uri).stat(uri);
  return info && !info->is_directory;
}

void throw_existing(const std::string& uri, const std::string& unlike) {
  throw IoError("the output is there already",
                {.path = uri,
                 .expected = unlike.empty() ? "" : "none, or what this job makes",
                 .found = unlike,
                 .remedy = "Choose another name, or allow replacing it (overwrite, --overwrite)"});
}

void refuse_existing(const std::string& uri) {
  if (is_file(uri)) throw_existing(uri);
  if (is_file(uri + ".partial")) return;  // what was killed while it gave names has left these
  const RecordFormat& format = record_format_of(uri);
  refuse_orphan(sidecar_uri(uri));
  if (!format.index_extension.empty()) refuse_orphan(index_uri_of(uri, format));
}

Part::Part(std::string uri, uint64_t expected, bool overwrite, Begin begin)
    : uri_(std::move(uri)), overwrite_(overwrite) {
  const RecordFormat& format = record_format_of(uri_);
  data_ = create_alone(uri_, begin);
  data_->leave_partial(begin == Begin::kAsLeft);
  if (!format.index_extension.empty()) {
    index_ = create(index_uri_of(uri_, format));
  }
  sidecar_ = create(sidecar_uri(uri_));
  records_writer_ = format.write({*data_, index_.get(), sidecar_writer_}, expected);
  adopted_ = records_writer_->first_offset();
}

Part::~Part() {
  if (state_ != State::kCommitting) return;
  // Something failed between the first name and the last one. The companions go again; that they
  // cannot be removed adds nothing to the error that is on its way.
  for (const Sink* companion : {sidecar_.get(), index_.get()}) {
    if (companion == nullptr) continue;
    try {
      file_system_for(companion->uri()).remove(companion->uri());
    } catch (const Error&) {
    }
  }
}

bool Part::adopt_image(uint64_t framed_bytes, uint32_t crc) {
  if (framed_bytes > data_->position() - adopted_) return false;
  framed_.resize(framed_bytes);
  data_->read_back(adopted_, framed_);
  const std::optional<Bytes> payload = records_writer_->payload_of(framed_);
  if (!payload || !has_image_prefix(*payload) || crc32(*payload) != crc) return false;
  const ImageRecord image = parse_image_record(*payload);
  records_writer_->adopt(framed_bytes, payload->size(), crc, image.id);
  labels_.add(image.labels);
  adopted_ += framed_bytes;
  ++records_;
  return true;
}

void Part::end_adopting() {
  framed_ = {};
  if (data_->position() > adopted_) data_->truncate(adopted_);
}

FileIdentity Part::identity() { return identify(*data_); }

void Part::append_image(Bytes payload, uint32_t crc) {
  const ImageRecord image = parse_image_record(payload);
  append(payload, crc, image.id);
  labels_.add(image.labels);
}

void Part::append(Bytes payload, uint32_t crc, uint64_t key) {
  records_writer_->append(payload, crc, key);
  ++records_;
}

void Part::finish() {
  records_writer_->finish();
  sidecar_writer_.write_to(identify(*data_), *sidecar_);
  for (Sink* sink : {data_.get(), index_.get(), sidecar_.get()}) {
    if (sink != nullptr) sink->sync();
  }
}

void Part::finish_images(const std::vector<std::string>& classes) {
  // In this order rebuilding the sidecar (build_sidecar) gives the same bytes.
  sidecar_writer_.set_labels(labels_.summary());
  if (!classes.empty()) sidecar_writer_.set_classes(classes);
  finish();
}

void Part::commit() {
  begin_commit();
  commit_companions();
  commit_data();
}

void Part::begin_commit() {
  if (overwrite_) {
    file_system_for(uri_).remove(uri_);  // until it is gone, what stands beside it is its own
  } else {
    refuse_existing(uri_);  // it may have come while this one was written
  }
  state_ = State::kCommitting;
}

void Part::commit_companions() {
  sidecar_->commit();
  if (index_ != nullptr) index_->commit();
}

void Part::commit_data() {
  if (overwrite_) {
    data_->commit();
  } else if (!data_->commit_new()) {
    throw_existing(uri_);
  }
  state_ = State::kCommitted;
}

}  // namespace fuelrail
