#include "fuelrail/pack/source/open_source.h"

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/pack/image/record_maker.h"
#include "fuelrail/pack/source/container_source.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

bool has_schema(const std::string& uri) {
  const FileFormat* format = find_format(uri);
  return format != nullptr && !format->schema.name.empty();
}

// If `uri` is an existing folder (packed or not), the error comes from its content and not from the
// arguments: throws it as a CorruptError.
void throw_if_laid_out(const std::string& uri, const OpenOptions& options, const Error& error) {
  const auto info = file_system_for(uri).stat(uri);
  if (info && (options.schema.empty() ? info->is_directory : has_schema(uri))) {
    throw CorruptError(error.failure(), error.detail());
  }
}

// The samples of a file as image records. Of the samples that a schema finds in the file, `pack`
// makes the same records from the image files.
class ImagesStream final : public RecordStream {
 public:
  ImagesStream(const std::string& uri, uint64_t max_payload_bytes, const OpenOptions& options)
      : ImagesStream(uri, max_payload_bytes, open_input(uri, options)) {}
  ImagesStream(const std::string& uri, uint64_t max_payload_bytes,
               std::shared_ptr<const Container> images)
      : RecordStream(uri, max_payload_bytes),
        file_(std::dynamic_pointer_cast<const RecordFile>(images)),
        source_(source_of_images(std::move(images))) {
    if (file_ != nullptr) require_sidecar_beside(*file_);
  }

  uint64_t size() const override { return source_->size(); }

  std::vector<RecordSplit> splits() const override {
    return file_ == nullptr ? std::vector<RecordSplit>{} : file_->splits();
  }

  StreamedRecord read_next(uint64_t i) override {
    source_->read(i, image_);
    make_image_record(image_, bytes_to_store(image_.encoded), payload_);
    labels_.add(parse_image_record(payload_).labels);
    if (file_ != nullptr) names_.push_back(image_.name);
    return {.payload = payload_, .crc = crc32(payload_), .id = image_.id};
  }

  void finish(SidecarWriter& to) override {
    to.set_labels(labels_.summary());
    to.set_classes(source_->classes());
    if (file_ == nullptr) return;
    to.keep_sections_of(file_->sidecar(), kKeysSection);
    if (std::ranges::all_of(names_, &std::string::empty)) return;
    for (const std::string& name : names_) to.add_name(name, true);
  }

 private:
  std::shared_ptr<const RecordFile> file_;  // null for samples of a schema
  std::unique_ptr<PackSource> source_;
  std::vector<std::string> names_;
  SourceImage image_;
  std::vector<std::byte> payload_;
  LabelTally labels_;
};

}  // namespace

std::shared_ptr<const Container> open_input(const std::string& uri, const OpenOptions& options) {
  // These check the user's arguments, not the data.
  check_root(uri, options.root);
  if (has_schema(uri)) check_schema(uri, options.schema, find_format(uri));
  try {
    return open_container(uri, options);
  } catch (const NotFoundError& error) {
    throw_if_laid_out(uri, options, error);
    throw;
  } catch (const InvalidArgumentError& error) {
    throw_if_laid_out(uri, options, error);
    throw;
  }
}

std::unique_ptr<RecordStream> open_stream(const std::string& source, const std::string& output,
                                          const OpenOptions& options) {
  const uint64_t longest = format_for(FormatWork::kWrite, output).max_payload_bytes;
  const FileFormat& format = format_for(FormatWork::kCopy, source);
  const RecordContent content = format_for(FormatWork::kWrite, output).content;
  if (!options.schema.empty()) return std::make_unique<ImagesStream>(source, longest, options);
  if (format.content != content) return std::make_unique<ImagesStream>(source, longest, options);
  return given_by_row(source, [&] { return format.open_stream(source, longest, options); });
}

}  // namespace fuelrail::pack
