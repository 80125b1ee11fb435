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
#include "fuelrail/base/error.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/record_info.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/pack/ordered_work.h"
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
};

Finding finding_of(const Error& error) {
  const ErrorDetail& detail = error.detail();
  Json json{{"path", detail.path}};
  json["record"] = detail.record ? Json(*detail.record) : Json(nullptr);
  json["offset"] = detail.offset ? Json(*detail.offset) : Json(nullptr);
  json["problem"] = error.what();
  return {error.what(), std::move(json)};
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

// Reads one record after the other, checking all that can be checked. One a thread.
class RecordChecker {
 public:
  RecordChecker(const Container& container, bool decode)
      : container_(container),
        content_(RecordInspector::content_field(container.schema())),
        is_image_(container.schema().fields[content_].kind == FieldKind::kImage),
        decoder_(decode ? make_decoder() : nullptr) {}

  // Returns: what is wrong with record i.
  std::optional<Finding> check(uint64_t i) {
    try {
      read_sample(container_, i, framed_, sample_);
      if (is_image_) check_image(sample_.fields[content_].bytes);
    } catch (Error& error) {
      const Place place = container_.place(i);
      error.add({.path = place.path, .record = place.record, .offset = place.offset});
      return finding_of(error);
    }
    return std::nullopt;
  }

 private:
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
  size_t content_;
  bool is_image_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<std::byte> framed_;
  Sample sample_;
  std::vector<uint8_t> pixels_;
};

class Verification {
 public:
  Verification(const Arguments& arguments, Console& console)
      : arguments_(arguments), console_(console) {}

  int run() {
    const std::shared_ptr<const Container> container = open();
    if (container != nullptr) {
      records_ = container->size();
      check_companions(*container);
      check_records(*container);
    }
    print_end(container != nullptr);
    return findings_ == 0 ? kOk : kDataProblem;
  }

 private:
  // Returns: null, the damage being noted, when nothing of the file can be used.
  std::shared_ptr<const Container> open() {
    try {
      if (arguments_.recover) {
        return recordio::open_recordio_recovering(
            arguments_.uri, [this](const recordio::Damage& damage) { note(finding_of(damage)); });
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

  void check_companions(const Container& container) {
    const recordio::RecordIoContainer* file = as_recordio(container);
    if (file == nullptr || arguments_.recover) return;
    check_that([&] { file->sidecar().verify(); });
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
    } catch (const CorruptError& error) {
      note(finding_of(error));
    } catch (const TruncatedError& error) {
      note(finding_of(error));
    }
  }

  void check_records(const Container& container) {
    OrderedWork<std::optional<Finding>> work(
        {.items = container.size(),
         .threads = arguments_.threads > 0 ? arguments_.threads : default_threads()},
        [&]() -> OrderedWork<std::optional<Finding>>::Worker {
          return [checker = std::make_shared<RecordChecker>(container, arguments_.decode)](
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
    if (arguments_.json) {
      damage_.push_back(finding.json);
    } else {
      console_.print(finding.text + "\n");
    }
  }

  void print_end(bool opened) {
    if (arguments_.json) {
      console_.print(to_text({{"path", arguments_.uri},
                              {"records", opened ? Json(records_) : Json(nullptr)},
                              {"decoded", arguments_.decode},
                              {"ok", findings_ == 0},
                              {"damage", damage_}}) +
                     "\n");
    } else if (findings_ == 0) {
      console_.print(
          fmt::format("{}: {}, all well\n", arguments_.uri, counted(records_, "record")));
    } else if (opened) {
      console_.print(fmt::format("{}: {}, {}\n", arguments_.uri, counted(records_, "record"),
                                 counted(findings_, "problem")));
    }
  }

  static constexpr std::chrono::milliseconds kPatience{100};

  const Arguments& arguments_;
  Console& console_;
  uint64_t records_ = 0;
  uint64_t findings_ = 0;
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
sidecar and the .idx belong to the file. The exit code is 1 when anything is damaged.

Examples:
  fuelrail verify train.rec
  fuelrail verify train.rec --decode -j 8
  fuelrail verify broken.rec --recover --json)");
  command->callback([&action, arguments] {
    action = [arguments](Console& console) { return Verification(*arguments, console).run(); };
  });
}

}  // namespace fuelrail::cli
