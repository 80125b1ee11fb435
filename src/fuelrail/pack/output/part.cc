#include "fuelrail/pack/output/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

std::unique_ptr<Sink> create(const std::string& uri) { return file_system_for(uri).create(uri); }

// Opens the unfinished file with its old content. The file is also the lock; returns null if
// another writer holds it.
std::unique_ptr<Sink> try_to_hold(const std::string& uri) {
  std::unique_ptr<Sink> sink = file_system_for(uri).resume(uri);
  sink->leave_partial(sink->position() > 0);
  return sink->is_first_writer() ? std::move(sink) : nullptr;
}

std::unique_ptr<Sink> hold_alone(const std::string& uri) {
  if (std::unique_ptr<Sink> sink = try_to_hold(uri)) return sink;
  throw IoError(
      "another job is writing the output",
      {.path = uri,
       .remedy = "Wait until that job ends; if no job is running, remove " + uri + ".partial"});
}

void refuse_orphan(const std::string& uri) {
  if (!is_file(uri)) return;
  throw IoError(
      "this companion file exists without its record file",
      {.path = uri,
       .remedy = "If a different record file needs the companion file, move the companion file to "
                 "another folder; otherwise replace it (overwrite, --overwrite)"});
}

// Final names of the companions, in the order of renaming. The sidecar is last: as long as it lacks
// its final name, other companions may lack theirs.
std::vector<std::string> companions_of(const std::string& uri) {
  const FileFormat& format = format_for(FormatWork::kWrite, uri);
  std::vector<std::string> names;
  if (!format.index_extension.empty()) names.push_back(index_uri_of(uri, format));
  names.push_back(sidecar_uri(uri));
  return names;
}

void give_last_names(const std::string& uri) {
  FileSystem& files = file_system_for(uri);
  for (const std::string& name : companions_of(uri)) {
    if (files.stat(next_uri(name))) files.rename(next_uri(name), name);
  }
}

// Requires: no other job is writing the file, and its unfinished files have not been changed.
void complete_names_alone(const std::string& uri) {
  FileSystem& files = file_system_for(uri);
  if (!is_file(uri) || !is_file(next_uri(sidecar_uri(uri)))) return;
  if (is_next_in_use(*files.open(uri))) {
    give_last_names(uri);
  } else {  // the companions belong to a file that never got its name
    for (const std::string& name : companions_of(uri)) files.remove(next_uri(name));
  }
}

// The data file has its name and is no longer the lock, so another writer may have started. If it
// is a `Part`, it completes these names first. If it is `fuelrail index`, it soon releases the
// lock. So this waits for the lock for about a second.
void complete_names_unless_another_does(const std::string& uri) {
  constexpr int kLooks = 100;
  for (int look = 0; look < kLooks; ++look) {
    if (const auto lock = try_to_hold(uri)) return complete_names_alone(uri);
    if (!is_file(next_uri(sidecar_uri(uri)))) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  complete_names(uri);
}

// Adds the remedy for a failure to replace an existing file.
void add_what_is_left(Error& error, const std::string& uri) {
  error.add(
      {.remedy = fmt::format("Run the job again; {0} and its companions are intact, in either "
                             "the old or the new version (docs/packing.md)",
                             uri)});
}

}  // namespace

bool is_named(const std::string& uri, const FileIdentity& identity) {
  const auto info = file_system_for(uri).stat(uri);
  return info && !info->is_directory && info->size_bytes == identity.size_bytes &&
         identify(*file_system_for(uri).open(uri)) == identity;
}

void complete_names(const std::string& uri) {
  const std::unique_ptr<Sink> lock = hold_alone(uri);
  complete_names_alone(uri);
}

void refuse_existing(const std::string& uri) {
  if (is_file(uri)) throw_existing(uri);
  if (is_file(uri + ".partial")) return;  // the companions are those of a killed run
  const FileFormat& format = format_for(FormatWork::kWrite, uri);
  refuse_orphan(sidecar_uri(uri));
  if (!format.index_extension.empty()) refuse_orphan(index_uri_of(uri, format));
}

Part::Part(std::string uri, uint64_t expected, bool overwrite, Begin begin)
    : uri_(std::move(uri)), format_(format_for(FormatWork::kWrite, uri_)), overwrite_(overwrite) {
  data_ = hold_alone(uri_);
  complete_names_alone(uri_);
  if (begin == Begin::kEmpty && data_->position() > 0) data_->truncate(0);
  data_->leave_partial(begin == Begin::kAsLeft);
  if (!format_.index_extension.empty()) index_ = create(index_uri_of(uri_, format_));
  sidecar_ = create(sidecar_uri(uri_));
  records_writer_ = given_by_row(uri_, [&] {
    return format_.make_writer({*data_, index_.get(), sidecar_writer_}, expected);
  });
  adopted_ = records_writer_->first_offset();
}

Part::~Part() {
  // The commit failed after some of the files got their names.
  if (state_ == State::kCommitting && !replaces_ && !data_has_its_name()) remove_companions();
}

// The last step can fail after the rename, because the directory cannot be flushed.
bool Part::data_has_its_name() const {
  try {
    return is_named(uri_, identity_);
  } catch (const Error&) {
    return false;
  }
}

// Failures to remove a companion are ignored, because another error is already being thrown.
void Part::remove_companions() {
  for (const std::string& name : companions_of(uri_)) {
    try {
      file_system_for(name).remove(name);
    } catch (const Error&) {
    }
  }
}

bool Part::adopt_image(uint64_t framed_bytes, uint32_t crc, uint64_t id,
                       HintWorkers& hint_workers) {
  if (framed_bytes > data_->position() - adopted_) return false;
  framed_.resize(framed_bytes);
  data_->read_back(adopted_, framed_);
  const std::optional<Bytes> payload = naming(
      uri_, [&] { return records_writer_->payload_of(framed_); }, records_);
  if (!payload || crc32(*payload) != crc) return false;
  naming(
      uri_, [&] { records_writer_->adopt(framed_bytes, *payload, crc, id); }, records_);
  hint_workers.add(records_, *payload, crc);
  add_image(*payload, id);
  adopted_ += framed_bytes;
  ++records_;
  return true;
}

void Part::end_adopting() {
  framed_ = {};
  if (data_->position() > adopted_) data_->truncate(adopted_);
}

void Part::append_image(Bytes payload, uint32_t crc, uint64_t id) {
  add_image(payload, id);
  write(payload, crc, id);
}

// Adds what only the sidecar stores of an image: of an image or sample record, its kind; of a
// nested file, the id.
void Part::add_image(Bytes payload, uint64_t id) {
  if (format_.content == RecordContent::kNestedFile) return add_key(id, records_);
  tally_.add(payload);
}

void Part::append(Bytes payload, uint32_t crc, uint64_t key, std::optional<uint64_t> id) {
  const uint64_t number = records_;
  write(payload, crc, key);  // first, because it may refuse the record
  add_key(key, id.value_or(number));
}

void Part::add_key(uint64_t key, uint64_t default_key) {
  if (index_ != nullptr) return;
  keys_.push_back(key);
  keys_differ_ = keys_differ_ || key != default_key;
}

void Part::write(Bytes payload, uint32_t crc, uint64_t key) {
  naming(
      uri_, [&] { records_writer_->append(payload, crc, key); }, records_);
  ++records_;
}

void Part::set_splits(std::vector<RecordSplit> splits) {
  if (splits.empty()) return;
  if (format_.splits == nullptr) {
    throw UnsupportedError("files of this format cannot store splits",
                           {.path = uri_, .found = "the split " + splits.front().name});
  }
  const std::vector<std::string_view> names = format_.splits();
  std::ranges::sort(splits, {}, [&](const RecordSplit& split) {  // as `splits` returns them
    return std::ranges::find(names, split.name) - names.begin();
  });
  records_writer_->set_splits(std::move(splits));
}

void Part::finish() {
  if (keys_differ_) sidecar_writer_.set_keys(keys_);
  naming(uri_, [&] { records_writer_->finish(); });
  identity_ = identify(*data_);
  sidecar_writer_.write_to(identity_, *sidecar_);
  for (Sink* sink : {data_.get(), index_.get(), sidecar_.get()}) {
    if (sink != nullptr) sink->sync();
  }
}

void Part::finish_images(const std::vector<std::string>& classes, const Sidecar* source,
                         const FieldClasses& field_classes) {
  // build_sidecar adds the sections in the same order, so that a rebuilt sidecar has the same
  // bytes.
  if (format_.content == RecordContent::kImageRecord) {
    sidecar_writer_.set_payloads(records_ == 0 ? PayloadKind{.labels = LabelSummary{}}
                                               : tally_.kind());
  }
  if (!classes.empty()) sidecar_writer_.set_classes(classes);
  sidecar_writer_.set_field_classes(field_classes);
  if (source != nullptr) sidecar_writer_.keep_sections_of(*source, kKeysSection);
  finish();
}

void Part::commit() {
  begin_commit();
  commit_companions();
  commit_data();
}

void Part::begin_commit() {
  if (!overwrite_) refuse_existing(uri_);  // the file may have appeared during the writing
  replaces_ = overwrite_ && is_file(uri_);
  if (replaces_) leave_partials();
  state_ = State::kCommitting;
}

void Part::leave_partials() {
  for (Sink* sink : {data_.get(), index_.get(), sidecar_.get()}) {
    if (sink != nullptr) sink->leave_partial(true);
  }
}

void Part::commit_companions() {
  try {
    for (Sink* companion : {index_.get(), sidecar_.get()}) {
      if (companion == nullptr) continue;
      companion->commit_as(replaces_ ? next_uri(companion->uri()) : companion->uri());
    }
  } catch (Error& error) {
    if (replaces_) add_what_is_left(error, uri_);
    throw;
  }
}

void Part::commit_data() {
  try {
    if (overwrite_) {
      data_->commit();
    } else if (!data_->commit_new()) {
      throw_existing(uri_);
    }
    if (replaces_) complete_names_unless_another_does(uri_);
  } catch (Error& error) {
    if (replaces_) add_what_is_left(error, uri_);
    throw;
  }
  state_ = State::kCommitted;
}

}  // namespace fuelrail::pack
