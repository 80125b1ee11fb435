// fuelrail verify: reads everything and lists what is damaged.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/ordered_work.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/record_info.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::cli {
namespace {

using Json = nlohmann::ordered_json;

// On one line. Names of files and classes need not be UTF-8, JSON must: what is not becomes U+FFFD.
std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

struct Arguments {
  std::string uri;
  int threads = 0;
  bool decode = false;
  bool recover = false;
  bool json = false;
  bool quiet = false;
};

struct Finding {
  std::string text;  // one line, with the place
  Json json;
  bool unread = false;  // nothing is known to be damaged: it could not be read
};

Finding finding_of(const Error& error) {
  const ErrorDetail& detail = error.detail();
  Json json{{"path", detail.path}};
  json["record"] = detail.record ? Json(*detail.record) : Json(nullptr);
  json["offset"] = detail.offset ? Json(*detail.offset) : Json(nullptr);
  json["problem"] = error.what();
  const bool unread = dynamic_cast<const IoError*>(&error) != nullptr ||
                      dynamic_cast<const NotFoundError*>(&error) != nullptr;
  return {error.what(), std::move(json), unread};
}

Finding finding_of(const recordio::Damage& damage) {
  return {fmt::format("{}: offset {}: {}: {} skipped", damage.path, damage.offset, damage.reason,
                      counted(damage.skipped_bytes, "byte")),
          {{"path", damage.path},
           {"record", nullptr},
           {"offset", damage.offset},
           {"skipped_bytes", damage.skipped_bytes},
           {"problem", damage.reason}}};
}

// The sidecar beside the file, read by itself: of one that opening set aside, and of one that was
// not asked, the checksums still tell which records have changed.
class SidecarBeside {
 public:
  // Errors: whatever is wrong with it: all of it is checked, also that it belongs to `data`.
  explicit SidecarBeside(const Source& data) {
    const std::string uri = sidecar_uri(data.uri());
    sidecar_ = Sidecar::open(file_system_for(uri).open(uri)->map(), uri);
    sidecar_->verify();
    belongs_ = sidecar_->identity() == identify(data);
    usable_ = sidecar_->identity().size_bytes == data.size_bytes() && sidecar_->has_table() &&
              sidecar_->has_checksums();
  }

  const std::string& uri() const { return sidecar_->uri(); }
  bool belongs() const { return belongs_; }
  bool usable() const { return usable_; }  // for `checksum_at`

  // Of the payload of the record that begins at `offset`; empty when none of the table does.
  std::optional<uint32_t> checksum_at(uint64_t offset) const {
    uint64_t begin = 0;
    for (uint64_t end = sidecar_->records(); begin < end;) {
      const uint64_t middle = begin + (end - begin) / 2;
      if (sidecar_->record(middle).offset < offset) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    if (begin == sidecar_->records() || sidecar_->record(begin).offset != offset) return {};
    return sidecar_->payload_crc(begin);
  }

 private:
  std::unique_ptr<Sidecar> sidecar_;
  bool belongs_ = false;
  bool usable_ = false;
};

// Reads one record after the other, checking all that can be checked. One a thread.
class RecordChecker {
 public:
  // `checksums`: to check payloads against, beside what the container checks by itself; or null.
  RecordChecker(const Container& container, const SidecarBeside* checksums, bool decode)
      : container_(container),
        checksums_(checksums),
        content_(RecordInspector::content_field(container.schema())),
        is_image_(container.schema().fields[content_].kind == FieldKind::kImage),
        decoder_(decode ? make_decoder() : nullptr) {}

  // Returns: what is wrong with record i.
  std::optional<Finding> check(uint64_t i) {
    try {
      read_record(container_, i, framed_, sample_);
      if (checksums_ != nullptr) check_payload(container_.place(i).offset);
      if (is_image_) check_image(sample_.fields[content_].bytes);
    } catch (Error& error) {
      return finding_at(i, error);
    } catch (const std::exception& error) {  // std::bad_alloc: the image's header promises too much
      IoError refused("the record cannot be checked", {.found = error.what()});
      return finding_at(i, refused);
    }
    return std::nullopt;
  }

 private:
  Finding finding_at(uint64_t i, Error& error) const {
    const Place place = container_.place(i);
    error.add({.path = place.path, .record = place.record, .offset = place.offset});
    return finding_of(error);
  }

  void check_payload(uint64_t offset) {
    const std::optional<uint32_t> expected = checksums_->checksum_at(offset);
    if (!expected) return;
    const uint32_t found = crc32(recordio::unframe(framed_, storage_, offset).payload);
    if (found == *expected) return;
    throw CorruptError(
        "the record is damaged, or the sidecar beside the file is another file's: "
        "its checksum is wrong",
        {.expected = fmt::format("{:#010x}", *expected), .found = fmt::format("{:#010x}", found)});
  }

  void check_image(Bytes encoded) {
    const ImageInfo info = probe(encoded);
    if (decoder_ == nullptr) return;
    const Size size = info.stored;
    pixels_.resize(static_cast<size_t>(size.height * size.width * 3));
    DecodeJob job{.encoded = encoded,
                  .info = info,
                  .box = whole(size),
                  .output = {pixels_.data(), size.height, size.width, 3, size.width * 3}};
    decoder_->decode({&job, 1});
    if (job.error) std::rethrow_exception(job.error);
  }

  const Container& container_;
  const SidecarBeside* checksums_;
  size_t content_;
  bool is_image_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<std::byte> framed_;
  std::vector<std::byte> storage_;
  Sample sample_;
  std::vector<uint8_t> pixels_;
};

class Verification {
 public:
  Verification(const Arguments& arguments, Console& console)
      : arguments_(arguments), console_(console) {}

  int run() {
    const std::shared_ptr<const Container> container = open();
    check_sidecar(container.get());
    if (container != nullptr) {
      records_ = container->size();
      checksums_ = container->verifies_checksums() || beside_ != nullptr;
      check_index(*container);
      check_records(*container);
    }
    print_end(container.get());
    if (unread_) return kInputOutput;
    return findings_ == 0 ? kOk : kDataProblem;
  }

 private:
  // Returns: null, the damage being noted, when nothing of the file can be used.
  std::shared_ptr<const Container> open() {
    try {
      if (arguments_.recover) {
        return recordio::open_recordio_recovering(
            arguments_.uri, [this](const recordio::Damage& damage) { note(finding_of(damage)); },
            {.keep_going = [] { return !interrupted(); }});
      }
      return open_warning(arguments_.uri, console_);
    } catch (const CorruptError& error) {
      note(finding_of(error));
    } catch (const TruncatedError& error) {
      note(finding_of(error));
    }
    if (!arguments_.recover) {
      console_.say("nothing after the damage was read; with --recover what follows it is");
    }
    return nullptr;
  }

  // One that opening set aside is a finding: with it go the checksums that could tell more.
  void check_sidecar(const Container* container) {
    const recordio::RecordIoContainer* file = container ? as_recordio(*container) : nullptr;
    if (container != nullptr && file == nullptr) return;  // a folder
    if (file != nullptr && !arguments_.recover) {
      check_that([&] { file->sidecar().verify(); });
      if (file->sidecar_location().place == SidecarPlace::kBeside) return;
    }
    if (!file_system_for(arguments_.uri).stat(sidecar_uri(arguments_.uri))) return;
    check_that([&] {
      auto beside =
          std::make_unique<SidecarBeside>(*file_system_for(arguments_.uri).open(arguments_.uri));
      const std::string uri = beside->uri();
      const bool belongs = beside->belongs();
      const bool verified = container != nullptr && container->verifies_checksums();
      if (beside->usable() && !verified) beside_ = std::move(beside);
      if (belongs && (arguments_.recover || file == nullptr)) return;
      throw CorruptError(
          belongs ? "the sidecar has no record table that fits the file"
                  : "the sidecar does not belong to the file, or the file's first or last 4 KiB "
                    "are damaged",
          {.path = uri,
           .remedy = "Where no record is damaged, move the sidecar away, and make a new one with "
                     "'fuelrail index'"});
    });
  }

  void check_index(const Container& container) {
    if (as_recordio(container) == nullptr || arguments_.recover) return;
    const std::string index = arguments_.uri.substr(0, arguments_.uri.rfind('.')) + ".idx";
    if (!file_system_for(index).stat(index)) return;
    check_that([&] {
      const std::shared_ptr<const Source> source = file_system_for(index).open(index);
      const MappedBytes text = source->map();
      recordio::resolve_index(recordio::parse_index(text.bytes, index), container, index);
    });
  }

  void check_that(const std::function<void()>& holds) {
    try {
      holds();
    } catch (const Error& error) {
      note(finding_of(error));
    }
  }

  void check_records(const Container& container) {
    OrderedWork<std::optional<Finding>> work(
        {.items = container.size(),
         .threads = arguments_.threads > 0 ? arguments_.threads : default_threads()},
        [&]() -> OrderedWork<std::optional<Finding>>::Worker {
          return [checker =
                      std::make_shared<RecordChecker>(container, beside_.get(), arguments_.decode)](
                     uint64_t i) { return checker->check(i); };
        },
        [](const std::optional<Finding>& finding) {
          return finding ? finding->text.size() * 4 : uint64_t{0};
        });
    ProgressDisplay progress(console_, "verified", "records", arguments_.quiet);
    for (uint64_t done = 0; done < container.size();) {
      throw_if_interrupted();
      if (std::optional<std::optional<Finding>> result = work.take(kPatience)) {
        if (*result) note(std::move(**result));
        progress.update(++done, container.size());
      }
    }
  }

  void note(const Finding& finding) {
    ++findings_;
    unread_ |= finding.unread;
    if (arguments_.json) {
      damage_.push_back(finding.json);
    } else {
      console_.print(finding.text + "\n");
    }
  }

  // Container: null when it could not be opened.
  void print_end(const Container* container) {
    const bool opened = container != nullptr;
    if (arguments_.json) {
      console_.print(to_text({{"path", arguments_.uri},
                              {"records", opened ? Json(records_) : Json(nullptr)},
                              {"decoded", arguments_.decode},
                              {"checksums", opened ? Json(checksums_) : Json(nullptr)},
                              {"ok", findings_ == 0},
                              {"damage", damage_}}) +
                     "\n");
      return;
    }
    if (!opened) return;
    if (!checksums_) console_.print(arguments_.uri + ": " + unknown_checksums(*container) + "\n");
    console_.print(fmt::format("{}: {}, {}\n", arguments_.uri, counted(records_, "record"),
                               findings_ > 0 ? counted(findings_, "problem")
                               : checksums_  ? "all well"
                                             : "none damaged"));
  }

  static std::string unknown_checksums(const Container& container) {
    std::string text = "checksums unknown: payloads were read but not checked";
    if (as_recordio(container) != nullptr) text += "; 'fuelrail index' records them";
    return text;
  }

  static constexpr std::chrono::milliseconds kPatience{100};

  const Arguments& arguments_;
  Console& console_;
  uint64_t records_ = 0;
  uint64_t findings_ = 0;
  bool unread_ = false;
  bool checksums_ = false;                       // payloads are checked against checksums
  std::unique_ptr<const SidecarBeside> beside_;  // where its checksums are used
  Json damage_ = Json::array();
};

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("verify", "Read everything and list what is damaged");
  command->add_option("FILE", arguments->uri, "A .rec file, or a folder of images")->required();
  command->add_flag("--decode", arguments->decode, "Decode every image, too");
  command->add_flag("--recover", arguments->recover,
                    "Go on behind damage of the framing (.rec), and say what was skipped");
  command->add_option("-j,--threads", arguments->threads, "Default: one a processor")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", arguments->json, "One JSON document");
  command->add_flag("-q,--quiet", arguments->quiet, "Show no progress");
  command->footer(R"(
Checked are the framing, the checksums where they are known, the images' headers, and whether the
sidecar and the .idx belong to the file. The exit code is 1 when anything is damaged, and 3 when
something could not be read.

Examples:
  fuelrail verify train.rec
  fuelrail verify train.rec --decode -j 8
  fuelrail verify broken.rec --recover --json)");
  command->callback([&action, arguments] {
    action = [arguments](Console& console) { return Verification(*arguments, console).run(); };
  });
}

}  // namespace fuelrail::cli
