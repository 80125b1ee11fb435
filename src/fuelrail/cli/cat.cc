// fuelrail cat: writes the bytes of records.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/json.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/record_info.h"
#include "fuelrail/cli/sample_json.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/encode/png_encoder.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/transform/pixel_buffer.h"

namespace fuelrail::cli {
namespace {

struct CatArguments {
  DatasetArguments dataset;
  std::vector<std::string> ranges;
  std::string output;
  bool overwrite = false;
  bool raw = false;
  bool png = false;
  bool json = false;
  std::string field;

  // The names of the options that choose what is written.
  std::vector<std::string> forms() const {
    std::vector<std::string> chosen;
    if (raw) chosen.emplace_back("--raw");
    if (png) chosen.emplace_back("--png");
    if (json) chosen.emplace_back("--json");
    return chosen;
  }
};

// What to write for one record.
struct Content {
  Bytes bytes{};  // valid until the next `read`; empty if `in_pieces`
  std::string_view extension = ".bin";
  bool in_pieces = false;
};

using Take = std::function<void(Bytes)>;

class ContentReader {
 public:
  ContentReader(const Container& container, const CatArguments& arguments)
      : container_(container),
        arguments_(arguments),
        field_(field_of(container, arguments)),
        inspector_(container, field_) {}

  Content read(uint64_t i) {
    const RecordInfo info = inspector_.inspect(i);  // also checks the payload
    if (arguments_.json) return {.bytes = as_bytes(json(i)), .extension = ".json"};
    if (arguments_.png)
      return {.bytes = naming(
                  path_of(i), [&] { return decoded(info); }, i),
              .extension = ".png"};
    Content content{.in_pieces = info.is_long};
    if (!arguments_.raw && info.format != nullptr)
      content.extension = info.format->extensions.front();
    if (!info.is_long) content.bytes = arguments_.raw ? payload(i) : info.content;
    return content;
  }

  // Passes the whole content of record i, as returned by `read`, to `take`. Errors: CorruptError
  // after the last piece of a long record whose checksum is wrong; Interrupted; those that `take`
  // throws.
  void give(uint64_t i, const Content& content, const Take& take) {
    if (content.in_pieces) {
      inspector_.pieces().read(i, take);
    } else {
      take(content.bytes);
    }
  }

  std::string path_of(uint64_t i) const { return container_.place(i).path; }

 private:
  static std::optional<size_t> field_of(const Container& container, const CatArguments& arguments) {
    if (arguments.field.empty()) return {};
    const size_t field = container.schema().index_of(arguments.field);
    if (arguments.json || !container.schema().fields[field].has(kListField)) return field;
    throw UnsupportedError(
        "the field is a list, whose items cannot be written one by one",
        {.found = arguments.field, .remedy = "Use --json, or read the list in Python"});
  }

  // Requires: the record was inspected.
  const std::string& json(uint64_t i) {
    if (is_opaque(container_)) {
      throw UnsupportedError("the record is opaque bytes",
                             {.path = path_of(i), .record = i, .remedy = "Omit --json"});
    }
    const Sample& sample = inspector_.sample();
    json_ = Json{{"record", i},
                 {"id", sample.id},
                 {"path", path_of(i)},
                 {"sample", sample_json(container_.schema(), sample, field_)}}
                .text() +
            "\n";
    return json_;
  }

  // The payload as it is stored, with header and labels.
  Bytes payload(uint64_t i) {
    const Extent extent = container_.record_extent(i);
    check_length(extent);
    framed_.resize(extent.length);
    extent.source->read(extent.offset, framed_);
    const auto* file = dynamic_cast<const RecordFile*>(&container_);
    return file == nullptr ? Bytes(framed_) : file->payload(i, framed_, storage_);
  }

  Bytes decoded(const RecordInfo& info) {
    if (info.is_long) throw UnsupportedError("the record is not an image");
    const Schema& schema = container_.schema();
    const FieldSpec& field = schema.fields[field_.value_or(content_field(schema))];
    if (field.kind == FieldKind::kTensor || field.kind == FieldKind::kText) {
      throw UnsupportedError("the field is not an image, so it cannot be written as PNG",
                             {.found = describe(field), .remedy = "Use --json to write its value"});
    }
    try {
      return as_png(info);
    } catch (const UnsupportedError& error) {
      if (field.role != Role::kMask && field.role != Role::kMap) throw;
      ErrorDetail detail = error.detail();
      detail.remedy = fmt::format(
          "Omit --png to write the stored bytes of the {}, or read its "
          "values in Python",
          name_of(field.role));
      throw UnsupportedError(error.failure(), std::move(detail));
    }
  }

  Bytes as_png(const RecordInfo& info) {
    const ImageInfo image = probe(info.encoded);
    const ConstImageView pixels = decode_as_stored(
        *decoder_, info.encoded, image,
        [&](int64_t channels) { return pixels_.resize(image.stored, 0, channels); });
    encode_png(pixels, kPngLevel, png_bytes_);
    return png_bytes_;
  }

  static constexpr int kPngLevel = 6;

  const Container& container_;
  const CatArguments& arguments_;
  std::optional<size_t> field_;
  RecordInspector inspector_;
  std::string json_;
  std::unique_ptr<Decoder> decoder_ = make_decoder();
  PixelBuffer pixels_;
  std::vector<std::byte> png_bytes_;
  std::vector<std::byte> framed_;
  std::vector<std::byte> storage_;
};

// An existing file may belong to the dataset: its list, its sidecar, its index, another image.
void write_file(ContentReader& reader, uint64_t i, const Content& content, const std::string& uri,
                bool overwrite) {
  check_other_file(reader.path_of(i), uri);
  const std::unique_ptr<Sink> sink = file_system_for(uri).create(uri);
  if (!overwrite && is_file(uri)) throw_existing(uri);
  reader.give(i, content, [&sink](Bytes bytes) { sink->write(bytes); });
  sink->commit();
}

bool is_directory(const std::string& uri) {
  const auto info = file_system_for(uri).stat(uri);
  return info && info->is_directory;
}

std::vector<uint64_t> records_of(const CatArguments& arguments, uint64_t size) {
  std::vector<uint64_t> records;
  for (const std::string& text : arguments.ranges) {
    const RecordRange range = parse_range(text, size, arguments.dataset.uri);
    for (uint64_t i = range.begin; i < range.end; ++i) records.push_back(i);
  }
  return records;
}

void write_to_folder(ContentReader& reader, const std::vector<uint64_t>& records,
                     const std::string& folder, bool overwrite) {
  file_system_for(folder).make_directory(folder);
  std::set<uint64_t> written;  // ranges may overlap
  for (const uint64_t i : records) {
    throw_if_interrupted();
    if (!written.insert(i).second) continue;
    const Content content = reader.read(i);
    write_file(reader, i, content, join_uri(folder, fmt::format("{}{}", i, content.extension)),
               overwrite);
  }
}

int run(const CatArguments& arguments, Console& console) {
  const auto container = open_warning(arguments.dataset, console);
  const std::vector<uint64_t> records = records_of(arguments, container->size());
  if (const std::vector<std::string> forms = arguments.forms(); forms.size() > 1) {
    throw InvalidArgumentError(fmt::format("{} cannot be combined", fmt::join(forms, " and ")),
                               {.expected = "one of them"});
  }
  ContentReader reader(*container, arguments);
  const bool to_folder =
      !arguments.output.empty() &&
      (records.size() != 1 || arguments.output.ends_with('/') || is_directory(arguments.output));
  if (to_folder) {
    write_to_folder(reader, records, arguments.output, arguments.overwrite);
  } else if (!arguments.output.empty()) {
    write_file(reader, records[0], reader.read(records[0]), arguments.output, arguments.overwrite);
  } else if (records.size() != 1 && !arguments.json) {
    throw InvalidArgumentError(
        "only one record can be written to standard output",
        {.found = fmt::to_string(records.size()), .remedy = "Pass a folder with -o, or --json"});
  } else {
    for (const uint64_t i : records) {
      throw_if_interrupted();
      reader.give(i, reader.read(i), [&console](Bytes bytes) { console.write(bytes); });
    }
  }
  return kOk;
}

constexpr const char* kCatFooter = R"(
Opaque records of more than 32 MiB are written piece by piece, so a wrong checksum is found only
after the last piece. In that case the exit code is 1, and no output file is created.

With several records, an error or Ctrl-C leaves the files of the records before it.

Examples:
  fuelrail cat train.{1} 7 > 7.jpg
  fuelrail cat train.{1} 7 --png > 7.png
  fuelrail cat drive.{1} 7 --json
  fuelrail cat drive.{1} : --json --field objects.boxes
  fuelrail cat drive.{1} 7 --field cameras.1.image > 7.jpg
  fuelrail cat train.{1} :20 -o first-images)";

std::vector<Option> options_of(CatArguments& arguments) {
  return joined(
      {dataset_options(arguments.dataset),
       {{"RECORDS", &arguments.ranges,
         "Record numbers in the form of Python's indices and slices: 7, -1, 5:10", true},
        {"-o,--output", &arguments.output,
         "File to write; for several records, a folder (default: standard output, which takes "
         "several records only with --json)"},
        {"--overwrite", &arguments.overwrite, "Replace existing files"},
        {"--raw", &arguments.raw, "Write each record's whole payload, not only the image in it"},
        {"--png", &arguments.png, "Decode each image, and write its pixels as PNG"},
        {"--json", &arguments.json,
         "Write each sample as a line of JSON: numbers and texts, of images and bytes only their "
         "size"},
        {"--field", &arguments.field,
         "Field to write (default: the first image, or the first field; with --json all "
         "fields)"}}});
}

}  // namespace

Command cat_command() {
  return command_of<CatArguments>("cat", "Write the bytes of records", kCatFooter, options_of, run);
}

}  // namespace fuelrail::cli
