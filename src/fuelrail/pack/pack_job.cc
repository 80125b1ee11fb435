#include "fuelrail/pack/pack_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/json.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

// If so many images fail before any is packed, the cause is hardly in the images.
constexpr uint64_t kAllFailing = 64;

// Encoded images that wait to be written. More would leave the processor's caches before they are.
constexpr uint64_t kWaitingBytes = uint64_t{8} << 20;      // for each thread
constexpr uint64_t kMaxWaitingBytes = uint64_t{64} << 20;  // for all of them

void write_report(const std::string& uri, const std::vector<PackFailure>& failures) {
  const std::unique_ptr<Sink> sink = file_system_for(uri).create(uri);
  for (const PackFailure& failure : failures) {
    const Json line{{"path", failure.path}, {"reason", failure.reason}};
    sink->write(as_bytes(line.text() + "\n"));
  }
  sink->commit();
}

std::string without_stop(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Of records that an earlier run wrote.
HintOptions hint_options(const PackOptions& options) {
  if (!options.entry_points) return {};
  return {.maker = hint_maker, .threads = std::max(options.threads.value_or(default_threads()), 1)};
}

PackedImage next_image(OrderedWork<PackedImage>& images, ProgressReporter& progress) {
  for (;;) {
    if (std::optional<PackedImage> image = images.take(ProgressReporter::kInterval)) {
      return *std::move(image);
    }
    progress.report_when_due();
  }
}

}  // namespace

PackJob::PackJob(const PackSource& source, std::vector<PackFailure> unread,
                 const std::string& output, const PackOptions& options)
    : source_(source),
      options_(options),
      content_(format_for(FormatWork::kWrite, output).content),
      steps_(image_steps(options)) {
  std::vector<PlannedPart> plan = plan_parts(source.size(), output, options);
  for (const PlannedPart& part : plan) total_ += part.images.size();
  allowed_ = options.max_errors.of(total_);
  report_uri_ = plan.front().uri + ".errors.jsonl";
  unlisted_ = unread.size();
  for (PackFailure& failure : unread) leave_out(std::move(failure));
  const std::string job = describe_job(source, plan, options);
  const std::string lock = plan.front().uri;
  for (PlannedPart& part : plan) parts_.push_back({.plan = std::move(part)});
  // Check existing outputs before anything is written or deleted, unless a journal may show that
  // they belong to this job.
  if (!options.resume || !PackJournal::is_left(lock)) look_at_existing_parts();
  if (!options.quality_report.empty()) {
    quality_report_ = std::make_unique<QualityReport>(options.quality_report);
  }
  // A job that fails immediately must not delete files from which another job may still resume.
  journal_ = std::make_unique<PackJournal>(lock, job, options.resume || left_out().too_many(),
                                           std::chrono::milliseconds(options.journal_interval_ms));
}

PackResult PackJob::run() {
  if (left_out().too_many()) {
    if (!journal_->left() && !journal_->is_foreign()) journal_->finish();  // this run created it
    const PackFailure& first = failures_[left_out().allowed];
    give_up({first.path, "part of the source cannot be read: " + first.reason});
  }
  resume();
  look_at_existing_parts();
  if (together()) {
    for (Planned& planned : parts_) {
      if (!planned.done && planned.part == nullptr) open(planned);
    }
  }
  write_all();
  journal_->finish();
  if (quality_report_ != nullptr) finish_report();
  return result();
}

// Selects existing outputs for comparison with the job's result, except if comparing would delete
// the unfinished files of a killed run. Errors: IoError for an output that may not exist.
void PackJob::look_at_existing_parts() {
  if (options_.job.overwrite) return;
  for (Planned& planned : parts_) {
    if (planned.done) continue;
    planned.is_there = options_.resume && planned.taken == 0 && is_file(planned.plan.uri);
    if (!planned.is_there) refuse_existing(planned.plan.uri);
  }
}

// --- Resuming an earlier run ---

void PackJob::resume() {
  const auto say = [&](const std::string& what) {
    if (options_.job.warn) options_.job.warn(parts_.front().plan.uri + ": " + what);
  };
  if (journal_->is_foreign()) {
    replace_foreign();
    say("the unfinished output belongs to a different job, or was made with different options or a "
        "different version of fuelrail; packing starts over");
  }
  if (!journal_->left()) return;
  const JournalContents left = *journal_->left();
  for (size_t number = 0; number < parts_.size() && done_ < left.items.size(); ++number) {
    if (!resume_part(number, left)) break;
  }
  if (done_ < left.items.size()) {
    say(fmt::format("intact images in the unfinished output: {} of {}; packing resumes after them",
                    done_, left.items.size()));
  }
  journal_->keep(done_);
  for (uint32_t number = 0; number < parts_.size(); ++number) {
    if (parts_[number].done) journal_->add_completed(number, left.completed.at(number));
  }
  journal_->flush();
  if (left_out().too_many()) {
    give_up(failures_.back());
  }
}

// A comparison would replace the unfinished file, from which another job may still resume. So while
// an output exists, nothing is deleted.
void PackJob::replace_foreign() {
  for (const Planned& planned : parts_) {
    if (options_.job.overwrite || !is_file(planned.plan.uri)) continue;
    throw IoError(
        "the output already exists, and so does an unfinished file from a job with a different "
        "source, different options or another version of fuelrail",
        {.path = planned.plan.uri,
         .remedy = "Finish that job (resume, --resume), or replace the output and the unfinished "
                   "file (overwrite, --overwrite)"});
  }
  journal_->begin_anew();
}

bool PackJob::resume_part(size_t number, const JournalContents& left) {
  Planned& planned = parts_[number];
  const uint64_t images = planned.plan.images.size();
  const auto completed = left.completed.find(static_cast<uint32_t>(number));
  // If the .partial file is the completed one, the part has not got its final name yet.
  planned.done = left.items.size() - done_ >= images && completed != left.completed.end() &&
                 is_named(planned.plan.uri, completed->second) &&
                 !is_named(planned.plan.uri + ".partial", completed->second);
  if (planned.done) {
    complete_names(planned.plan.uri);
  } else {
    open_as_left(planned);
  }
  HintWorkers hint_workers(planned.done ? HintOptions{} : hint_options(options_));
  for (; planned.taken < images && done_ < left.items.size(); ++planned.taken, ++done_) {
    const JournalItem& item = left.items[done_];
    const uint64_t image = planned.plan.images[planned.taken];
    if (item.framed_bytes == 0) {
      std::string reason = left.reasons.at(done_);
      if (!planned.done && !still_fails(image, reason)) break;
      failures_.push_back({source_.path(image), std::move(reason)});
    } else if (planned.done) {
      ++planned.made.records;
    } else if (!planned.part->adopt_image(item.framed_bytes, item.crc, source_.id(image),
                                          hint_workers)) {
      break;
    } else {
      add_to_split(planned, image, planned.part->records() - 1);
    }
  }
  if (planned.part != nullptr) {
    planned.part->end_adopting();
    planned.part->sidecar().hints() = hint_workers.finish();
  }
  if (planned.done) {
    planned.made.path = planned.plan.uri;
    planned.made.bytes = completed->second.size_bytes;
    planned.made.was_there = true;
    bytes_done_ += planned.made.bytes;
  }
  return planned.taken == images;
}

std::shared_ptr<ImageReader> PackJob::make_reader() {
  return std::make_shared<ImageReader>(source_, steps_, content_,
                                       options_.entry_points ? hint_maker() : MakeHints(),
                                       options_.first_label_only, spares_);
}

// The image may have been repaired, or its storage may be available again.
bool PackJob::still_fails(uint64_t image, std::string& reason) {
  reason = make_reader()->read(image).failure;
  return !reason.empty();
}

// --- Writing ---

void PackJob::open_as_left(Planned& planned) const {
  planned.part =
      std::make_unique<Part>(planned.plan.uri, planned.plan.images.size(), options_.job.overwrite,
                             options_.resume ? Part::Begin::kAsLeft : Part::Begin::kEmpty);
}

void PackJob::open(Planned& planned) const {
  open_as_left(planned);
  if (options_.resume) planned.part->end_adopting();  // the journal has none of its records
}

void PackJob::write_all() {
  std::vector<uint64_t> order;  // of a stream: empty, because it is 0, 1, 2, ...
  for (const Planned& planned : parts_) {
    const auto first = planned.plan.images.begin() + static_cast<int64_t>(planned.taken);
    order.insert(order.end(), first, planned.plan.images.end());
  }
  const int threads = std::max(options_.threads.value_or(default_threads()), 1);
  Images images(
      {.items = source_.is_stream() ? UINT64_MAX : order.size(),
       .threads = threads,
       .capacity_bytes =
           std::min(kWaitingBytes * static_cast<uint64_t>(threads), kMaxWaitingBytes)},
      [&]() -> Images::Worker {
        return [&order, reader = make_reader()](uint64_t i) {
          return reader->read(order.empty() ? i : order[i]);
        };
      },
      [](const PackedImage& image) { return image.payload.size(); },
      [](const PackedImage& image) { return image.ended; });
  ProgressReporter progress(options_.job.progress, total_);
  for (size_t number = 0; number < parts_.size(); ++number) {
    Planned& planned = parts_[number];
    if (planned.done) continue;
    if (planned.part == nullptr) open(planned);
    if (planned.is_there) {
      compare_part(planned, static_cast<uint32_t>(number), images, progress);
    } else {
      write_part(planned, images, progress);
    }
    // Before files get final names, because the callback may stop the job.
    if (source_.is_stream()) total_ = done_;
    if (done_ == total_) progress.report();
    if (!together()) commit(number, number + 1);
  }
  if (together()) commit(0, parts_.size());
}

void PackJob::write_part(Planned& planned, Images& images, ProgressReporter& progress) {
  while (has_more(planned)) {
    PackedImage packed = next_image(images, progress);
    planned.ended = packed.ended;
    if (packed.ended) break;
    if (!write_image(planned, std::move(packed))) list_rest(planned, images, progress);
    progress.advance(done_, bytes_done_ + planned.part->bytes());
    progress.report_when_due();
  }
  if (planned.part->records() == 0) {
    if (failures_.empty()) {  // a stream that ended at once
      throw CorruptError(fmt::format("the source has no {}s", source_.thing()),
                         {.path = planned.plan.uri});
    }
    give_up({planned.plan.uri, fmt::format("none of the {}s for this file can be read: {}",
                                           source_.thing(), failures_.back().reason)});
  }
  if (together()) bytes_done_ += planned.part->bytes();
}

// The part's images are added to the journal after all of them were found equal.
void PackJob::compare_part(Planned& planned, uint32_t number, Images& images,
                           ProgressReporter& progress) {
  planned.part->leave_nothing();
  const uint64_t done_before = done_;
  const size_t failures_before = failures_.size();
  std::vector<JournalItem> items;
  items.reserve(planned.plan.images.size());
  try {
    MadeAlready there(planned.plan.uri, source_, options_.job.keep_going);
    while (planned.taken < planned.plan.images.size()) {
      compare_image(planned, next_image(images, progress), there, items);
      progress.advance(done_, bytes_done_);
      progress.report_when_due();
    }
    const FileIdentity identity = there.finish(planned.splits);
    planned.made = {planned.plan.uri, there.records(), identity.size_bytes, true};
    size_t failure = failures_before;
    for (const JournalItem& item : items) {
      if (item.framed_bytes > 0) {
        journal_->add_record(item.framed_bytes, item.crc);
      } else {
        journal_->add_left_out(failures_[failure++].reason);
      }
    }
    journal_->add_completed(number, identity);
  } catch (const Error&) {
    if (done_before == 0) journal_->finish();  // nothing to resume
    throw;
  }
  planned.part.reset();
  planned.done = true;
  bytes_done_ += planned.made.bytes;
}

void PackJob::compare_image(Planned& planned, PackedImage packed, MadeAlready& there,
                            std::vector<JournalItem>& items) {
  const std::string path = source_.path(planned.plan.images[planned.taken]);
  JournalItem item;
  if (packed.failure.empty()) {
    item = {static_cast<uint32_t>(there.take(packed, path)), packed.crc};
    note(planned, packed);
    add_to_split(planned, planned.plan.images[planned.taken], there.records() - 1);
    spares_.give(std::move(packed.payload));
  } else {
    leave_out({path, packed.failure});
    if (left_out().too_many()) {
      there.refuse(fmt::format("{}, which cannot be compared: {}", path, packed.failure));
    }
  }
  items.push_back(item);
  ++planned.taken;
  ++done_;
}

// Returns: false, without writing the image, if more images are skipped than allowed.
bool PackJob::write_image(Planned& planned, PackedImage packed) {
  if (packed.failure.empty()) {
    const uint64_t before = planned.part->bytes();
    planned.part->sidecar().hints().add(planned.part->records(), packed.crc, packed.hints);
    planned.part->append_image(packed.payload, packed.crc, packed.id);
    add_to_split(planned, planned.next(), planned.part->records() - 1);
    journal_->add_record(planned.part->bytes() - before, packed.crc);
    note(planned, packed);
    spares_.give(std::move(packed.payload));
  } else {
    const std::string reason = packed.failure;
    leave_out({source_.path(planned.next()), std::move(packed.failure)});
    if (left_out().too_many()) {
      ++planned.taken;
      return false;
    }
    journal_->add_left_out(reason);
  }
  ++planned.taken;
  ++done_;
  if (!journal_->due()) return true;
  planned.part->flush();
  journal_->flush();
  return true;
}

// Requires: the image is the part's next one.
void PackJob::note(const Planned& planned, const PackedImage& packed) {
  recoded_ += packed.made.recoded;
  if (quality_report_ == nullptr) return;
  if (packed.made.measured) {
    quality_report_->add(source_.path(planned.next()), *packed.made.measured);
  } else {
    ++unchanged_;
  }
}

void PackJob::finish_report() {
  UnmeasuredImages others{
      .all = total_, .unreadable = failures_.size() - unlisted_, .unchanged = unchanged_};
  others.earlier = total_ - quality_report_->measured() - others.unreadable - unchanged_;
  quality_report_->finish(steps_, others);
}

// Adds the image's record in the part to the image's split.
void PackJob::add_to_split(Planned& planned, uint64_t image, uint64_t record) const {
  for (const PackSource::Split& split : source_.splits()) {
    if (image >= split.end) continue;
    const bool is_open = !planned.splits.empty() && planned.splits.back().name == split.name;
    if (!is_open) planned.splits.push_back({.name = split.name, .records = {}});
    return planned.splits.back().records.push_back(record);
  }
}

// Ends the job with its last failure, after checking the remaining images, so that the user can
// repair all unreadable images at once.
void PackJob::list_rest(const Planned& at, Images& images, ProgressReporter& progress) {
  const PackFailure first = failures_.back();
  const uint64_t bytes = bytes_done_ + at.part->bytes();
  uint64_t seen = done_ + 1;
  bool all = true;
  bool none_packed = failures_.size() - unlisted_ == seen;
  if (options_.failing) options_.failing();
  try {
    progress.report();
    for (Planned& planned : parts_) {
      for (; !planned.done && all && has_more(planned); ++planned.taken) {
        if (none_packed && failures_.size() - unlisted_ >= kAllFailing) break;
        PackedImage packed = next_image(images, progress);
        planned.ended = packed.ended;
        if (packed.ended) break;
        progress.advance(++seen, bytes);
        progress.report_when_due();
        none_packed = none_packed && !packed.failure.empty();
        if (packed.failure.empty()) continue;
        all = failures_.size() < kMostFailuresListed;
        if (!all) continue;
        leave_out({source_.path(planned.next()), std::move(packed.failure)});
      }
    }
  } catch (const StepsError&) {  // report the first failure instead
    all = false;
  } catch (const StateError&) {  // the user stopped the job
    write_report(report_uri_, failures_);
    if (options_.job.warn)
      options_.job.warn(report_uri_ + " lists the unreadable images found so far");
    throw;
  }
  if (none_packed && failures_.size() - unlisted_ >= kAllFailing) give_up_early();
  give_up(first, all);
}

// Writes the report and throws the first failure, as an error of all images.
void PackJob::give_up_early() {
  write_report(report_uri_, failures_);
  const PackFailure& first = failures_.at(unlisted_);
  throw CorruptError(
      without_stop(first.reason),
      {.path = first.path,
       .remedy = fmt::format("Packing has stopped, because the first {0} {1}s are all refused; {2} "
                             "lists why",
                             failures_.size() - unlisted_, source_.thing(), report_uri_)});
}

void PackJob::leave_out(PackFailure failure) {
  failures_.push_back(std::move(failure));
  if (options_.failed) options_.failed(failures_.back());
}

// If only one part is made, unreadable folders and lines may belong to any part. They are compared
// with the limit for the whole source, so that a part fails because of them only if the job for all
// parts would fail.
PackJob::LeftOut PackJob::left_out() const {
  if (!options_.part) return {failures_.size(), allowed_, total_};
  const uint64_t allowed = options_.max_errors.of(source_.size());
  if (unlisted_ > allowed) return {unlisted_, allowed, source_.size()};
  return {failures_.size() - unlisted_, allowed_, total_};
}

// Gives these parts their names together. Requires: all earlier parts have their names.
void PackJob::commit(size_t begin, size_t end) {
  const auto each = [&](auto function) {
    for (size_t number = begin; number < end; ++number) {
      if (!parts_[number].done) function(parts_[number], static_cast<uint32_t>(number));
    }
  };
  each([&](Planned& planned, uint32_t number) {
    planned.part->set_splits(planned.splits);
    planned.part->finish_images(source_.classes(), source_.sidecar(), source_.field_classes());
    journal_->add_completed(number, planned.part->identity());
  });
  journal_->flush();
  if (failures_.empty()) {
    file_system_for(report_uri_).remove(report_uri_);
  } else {
    write_report(report_uri_, failures_);
  }
  each([](Planned& planned, uint32_t) { planned.part->begin_commit(); });
  each([](Planned& planned, uint32_t) { planned.part->commit_companions(); });
  each([](Planned& planned, uint32_t) { planned.part->commit_data(); });
  each([&](Planned& planned, uint32_t) {
    planned.made = {planned.plan.uri, planned.part->records(), planned.part->bytes()};
    if (!together()) bytes_done_ += planned.made.bytes;
    planned.part.reset();
    planned.done = true;
  });
}

// Writes the report and throws the failure.
void PackJob::give_up(const PackFailure& failure, bool all_listed) {
  write_report(report_uri_, failures_);
  const LeftOut images = left_out();
  const std::string of = fmt::format(
      "{} {}s", source_.is_stream() ? "" : fmt::format(" of {}", images.all), source_.thing());
  throw CorruptError(
      without_stop(failure.reason),
      {.path = failure.path,
       .remedy = fmt::format(
           "At most {}{} may be skipped (max_errors, --max-errors), found {}; {} lists {}",
           images.allowed, of, images.count, report_uri_,
           all_listed ? "all of them" : "those found so far")});
}

PackResult PackJob::result() {
  PackResult result;
  result.recoded = recoded_;
  for (Planned& planned : parts_) result.files.push_back(std::move(planned.made));
  if (together()) result.unassigned = source_.size() - total_;
  if (!failures_.empty()) result.report = report_uri_;
  result.failures = std::move(failures_);
  return result;
}

}  // namespace fuelrail::pack
