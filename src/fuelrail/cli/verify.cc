// fuelrail verify: reads everything and lists all damage.
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/json.h"
#include "fuelrail/base/ordered_work.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/record_checker.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/open.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::cli {
namespace {

struct VerifyArguments {
  DatasetArguments dataset;
  std::optional<int> threads;
  bool decode = false;
  bool recover = false;
  bool json = false;
  bool quiet = false;
};

Json json_of(const Finding& finding) {
  std::vector<Json::Member> json{
      {"path", finding.path}, {"record", finding.record}, {"offset", finding.offset}};
  if (finding.skipped_bytes) json.emplace_back("skipped_bytes", *finding.skipped_bytes);
  json.emplace_back("problem", finding.problem);
  return json;
}

class Verification {
 public:
  Verification(const VerifyArguments& arguments, Console& console)
      : arguments_(arguments), console_(console) {}

  int run() {
    const std::shared_ptr<const Container> container = open();
    check_sidecars(container.get());
    if (container != nullptr) {
      records_ = container->size();
      checksums_ = container->verifies_checksums();
      check_parts(*container);
      check_records(*container);
    }
    print_end(container.get());
    if (!damaged_uri_.empty()) console_.say(recovery_of(damaged_uri_));
    if (has_bad_images_) {
      console_.say(
          checksums_
              ? "the records whose images cannot be decoded are intact: skip them when loading "
                "(on_error=\"skip\"), or pack the images again with --decode --max-errors N"
              : "the records whose images cannot be decoded may be damaged: their checksums are "
                "unknown. Restore the file, or skip them when loading (on_error=\"skip\")");
    }
    if (unread_) return kInputOutput;
    return findings_ == 0 ? kOk : kDataProblem;
  }

 private:
  std::shared_ptr<const Container> open_past_damage() {
    const DatasetArguments& dataset = arguments_.dataset;
    const FileFormat& format = format_of_file(dataset.uri);
    if (!can(format, FormatWork::kSalvage)) {
      throw_cannot(FormatWork::kSalvage, format, dataset.uri);
    }
    if (!format.damage_hides_rest) {
      throw InvalidArgumentError(
          fmt::format("--recover is not needed for {} files, because verify checks all of their "
                      "records even if some are damaged",
                      format.name),
          {.path = dataset.uri, .remedy = "Omit --recover. " + recovery_of(dataset.uri)});
    }
    const OpenOptions options{.schema = dataset.schema,
                              .track = dataset.track,
                              .split = dataset.split,
                              .ignore_sidecar = dataset.ignores_sidecar};
    check_schema(dataset.uri, options.schema, &format);
    check_track_and_split(dataset.uri, options, &format);
    const auto report = [this](const Damage& damage) {
      note(finding_of(damage));
      offer_recovery(damage.path);
    };
    return given_by_row(dataset.uri,
                        [&] {
                          return format.open_damaged(
                              dataset.uri, report, options,
                              [](uint64_t, uint64_t) { return !interrupted(); });
                        })
        .file;
  }

  // Returns: null, after noting the damage, if nothing of the file can be used.
  std::shared_ptr<const Container> open() {
    try {
      return arguments_.recover ? open_past_damage() : open_warning(arguments_.dataset, console_);
    } catch (const CorruptError& error) {
      note(finding_of(error));
    } catch (const TruncatedError& error) {
      note(finding_of(error));
      offer_recovery(format_ != nullptr ? arguments_.dataset.uri : error.detail().path);
    }
    if (!arguments_.recover && format_ != nullptr && format_->damage_hides_rest) {
      console_.say("nothing after the damage was read; --recover also reads the records after it");
      offer_recovery(arguments_.dataset.uri);
    }
    return nullptr;
  }

  // Reports a sidecar that was ignored when the file was opened, because its checksums were not
  // used.
  void check_sidecars(const Container* container) {
    if (arguments_.dataset.ignores_sidecar) return;
    if (container == nullptr) return check_sidecar_beside(arguments_.dataset.uri, true);
    for (const RecordFile* file : record_files_of(*container)) {
      const bool beside = file->sidecar_location().place == SidecarPlace::kBeside;
      if (beside) {
        check_that([&] { file->sidecar().verify(); });
        check_ends(file->uri(), file->sidecar());
      } else {
        check_sidecar_beside(file->uri(), arguments_.recover);
      }
    }
  }

  // `unused`: the sidecar was not used, but for a reason other than that it does not fit.
  void check_sidecar_beside(const std::string& data_uri, bool unused) {
    const std::string uri = sidecar_uri(data_uri);
    if (!file_system_for(uri).stat(uri)) return;
    check_that([&] {
      const std::unique_ptr<Sidecar> sidecar = Sidecar::open(file_system_for(uri).open(uri));
      sidecar->verify();
      if (unused) return check_ends(data_uri, *sidecar);
      const FileIdentity now = identify(*file_system_for(data_uri).open(data_uri));
      throw CorruptError(
          sidecar->identity() == now ? "the sidecar does not match the file's records"
                                     : "the sidecar does not belong to the file",
          {.path = uri,
           .remedy = "If verify reports no damaged record, move the sidecar away and build a new "
                     "one with 'fuelrail index'"});
    });
  }

  // Checks the first and last 4 KiB of the file, where damage may be outside of all records and
  // thus not covered by a checksum.
  void check_ends(const std::string& data_uri, const Sidecar& sidecar) {
    check_that([&] {
      const FileIdentity now = identify(*file_system_for(data_uri).open(data_uri));
      const ChangedEnds changed = changed_ends(sidecar.identity(), now);
      if (sidecar.identity().size_bytes != now.size_bytes || !changed.any()) return;
      throw CorruptError(fmt::format("the {} 4 KiB of the file changed after its sidecar was built",
                                     changed.first && changed.last ? "first and the last"
                                     : changed.first               ? "first"
                                                                   : "last"),
                         {.path = data_uri, .remedy = "Restore the file"});
    });
  }

  // Checks the parts of a dataset that are not needed to read its records.
  void check_parts(const Container& container) {
    if (arguments_.recover) return;
    for (const RecordFile* file : record_files_of(container)) {
      check_that([&] {
        naming(file->uri(), [&] { file->check_companions(arguments_.dataset.ignores_sidecar); });
      });
      check_that([&] { naming(file->uri(), [&] { file->splits(); }); });
    }
  }

  void check_that(const std::function<void()>& holds) {
    try {
      holds();
    } catch (const Error& error) {
      note(finding_of(error));
    }
  }

  // The records with their images in full size, if the file has smaller ones too and both are to
  // be decoded; else null.
  std::shared_ptr<const Container> full_images() const {
    const DatasetArguments& dataset = arguments_.dataset;
    const bool has_tracks = format_ != nullptr && format_->tracks != nullptr;
    if (!arguments_.decode || arguments_.recover || !has_tracks || !dataset.track.empty()) {
      return nullptr;
    }
    return open_container(dataset.uri, {.track = std::string(format_->tracks().back()),
                                        .split = dataset.split,
                                        .ignore_sidecar = dataset.ignores_sidecar});
  }

  void check_records(const Container& container) {
    const std::shared_ptr<const Container> full = full_images();
    OrderedWork<CheckedRecord> work(
        {.items = container.size(), .threads = arguments_.threads.value_or(default_threads())},
        [&]() -> OrderedWork<CheckedRecord>::Worker {
          return
              [checker = std::make_shared<RecordChecker>(container, arguments_.decode, full.get())](
                  uint64_t i) { return checker->check(i); };
        },
        [](const CheckedRecord& checked) {
          return checked.finding ? checked.finding->text.size() * 4 : uint64_t{0};
        });
    ProgressDisplay progress(console_, "verified", "records", arguments_.quiet);
    for (uint64_t done = 0; done < container.size();) {
      const std::optional<CheckedRecord> checked = work.take(kPatience);
      throw_if_interrupted();  // the results are meaningless after an interrupt
      if (checked) {
        if (checked->finding) note_of_record(*checked->finding, container);
        if (checked->suspect) note_suspect(*checked->suspect);
        odd_images_ += checked->tolerated > 0;
        oddities_ += checked->tolerated;
        progress.update(++done, container.size());
      }
    }
  }

  void note(const Finding& finding) {
    ++findings_;
    unread_ |= finding.unread;
    if (arguments_.json) {
      damage_.push_back(json_of(finding));
    } else {
      console_.print_line(finding.text);
    }
  }

  // Not a problem: every decoder accepts the image.
  void note_suspect(const Finding& finding) {
    ++suspect_records_;
    if (arguments_.json) {
      suspects_.push_back(json_of(finding));
    } else {
      console_.print_line(finding.text);
    }
  }

  void note_of_record(const Finding& finding, const Container& container) {
    note(finding);
    has_bad_images_ = has_bad_images_ || (finding.in_image && !finding.unread);
    if (finding.unread || finding.in_image || finding.in_hints) return;
    for (const RecordFile* file : record_files_of(container)) {
      if (file->uri() == finding.path) offer_recovery(file->uri());
    }
  }

  // Remembers the first damaged file whose format `recover` supports.
  void offer_recovery(const std::string& uri) {
    const FileFormat* format = find_format(uri);
    const bool offered = format != nullptr && can(*format, FormatWork::kSalvage);
    if (damaged_uri_.empty() && offered) damaged_uri_ = uri;
  }

  static std::string recovery_of(const std::string& uri) {
    return "'fuelrail recover " + uri + " OUT' writes the records that can be read to a new file";
  }

  // `container`: null if it could not be opened.
  void print_end(const Container* container) {
    const bool opened = container != nullptr;
    if (arguments_.json) {
      console_.print_line(Json{
          {"path", arguments_.dataset.uri},
          {"records", opened ? Json(records_) : Json()},
          {"decoded", arguments_.decode},
          {"checksums", opened ? Json(checksums_) : Json()},
          {"tolerated", opened ? tolerated_json() : Json()},
          {"suspect", arguments_.decode && opened ? Json(suspects_) : Json()},
          {"ok", findings_ == 0},
          {"damage", damage_}}.text());
      return;
    }
    if (!opened) return;
    if (!checksums_)
      console_.print_line(arguments_.dataset.uri + ": " + unknown_checksums(*container));
    if (odd_images_ > 0) {
      console_.print_line(fmt::format(
          "{}: {} tolerated in {}: stray bytes, a missing end or missing scans, but no missing "
          "pixels",
          arguments_.dataset.uri, oddities_ == 1 ? "1 oddity" : grouped(oddities_) + " oddities",
          counted(odd_images_, "image")));
    }
    console_.print_line(
        fmt::format("{}: {}, {}", arguments_.dataset.uri, counted(records_, "record"),
                    findings_ > 0          ? counted(findings_, "problem")
                    : suspect_records_ > 0 ? "no problem"
                    : checksums_           ? "all well"
                                           : "none damaged") +
        (suspect_records_ > 0 ? fmt::format(", {} suspect", grouped(suspect_records_)) : ""));
  }

  // Null unless images were decoded, because only decoding finds oddities.
  Json tolerated_json() const {
    if (!arguments_.decode) return nullptr;
    return {{"images", odd_images_}, {"oddities", oddities_}};
  }

  static std::string unknown_checksums(const Container& container) {
    std::string text = "checksums unknown: payloads were read but not verified";
    if (!record_files_of(container).empty()) text += "; 'fuelrail index' stores them";
    return text;
  }

  static constexpr std::chrono::milliseconds kPatience{100};

  const VerifyArguments& arguments_;
  const FileFormat* format_ = find_format(arguments_.dataset.uri);
  Console& console_;
  uint64_t records_ = 0;
  uint64_t findings_ = 0;
  uint64_t odd_images_ = 0;  // images with tolerated oddities
  uint64_t oddities_ = 0;
  bool unread_ = false;
  bool has_bad_images_ = false;
  bool checksums_ = false;   // payloads are verified by checksums
  std::string damaged_uri_;  // the first file with damage that `recover` skips
  std::vector<Json> damage_;
  uint64_t suspect_records_ = 0;
  std::vector<Json> suspects_;
};

int run(const VerifyArguments& arguments, Console& console) {
  return Verification(arguments, console).run();
}

constexpr const char* kVerifyFooter = R"(
Checks the framing or the tables (also those of splits), the checksums if they are known, the
images' headers, and whether the sidecar and the index belong to the file. The exit code is 1 if
anything is damaged, and 3 if something could not be read.

With --decode, masks and maps are decoded to their numbers, and both images of each record of a
.bzna file are decoded, or the one that --track names. Oddities that decoding tolerates (stray
bytes, a missing end) are counted, and are not reported as damage. However, changed bytes inside a
JPEG may cause only an oddity, or not even that: only a checksum detects them. A JPEG or PNG that
decodes without a warning although its data are not what encoders write (such as a PNG whose last
checksum is wrong) is named as suspect, which does not change the exit code. Entry points are
compared with those that 'fuelrail index' would make. For opaque records, only the checksums can be
checked. With --schema {schema}, the images of a packed folder are checked; without it, every record
of the file.

Examples:
  fuelrail verify train.{1}
  fuelrail verify train.{1} --decode -j 8
  fuelrail verify broken.{1} --recover --json)";

std::vector<Option> options_of(VerifyArguments& arguments) {
  return joined(
      {dataset_options(arguments.dataset),
       {{"--decode", &arguments.decode, "Also decode every image"},
        {"--recover", &arguments.recover,
         "Continue after damage that hides the following records, and report the skipped bytes"},
        threads_option(arguments.threads, "read and check"),
        json_option(arguments.json),
        quiet_option(arguments.quiet)}});
}

}  // namespace

Command verify_command() {
  return command_of<VerifyArguments>("verify", "Read everything and list all damage", kVerifyFooter,
                                     options_of, run);
}

}  // namespace fuelrail::cli
