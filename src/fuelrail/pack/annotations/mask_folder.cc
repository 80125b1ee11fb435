#include "fuelrail/pack/annotations/mask_folder.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/pack/annotations/file_tree.h"
#include "fuelrail/pack/source/source_values.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

constexpr uint16_t kNothing = 255;  // the usual number of pixels that do not count

class MaskFolder final : public SampleSource {
 public:
  MaskFolder(std::string images, std::string masks, const Warn& warn, const KeepGoing& keep_going)
      : images_(std::move(images)), masks_(std::move(masks)) {
    FieldSpec mask{.name = "mask", .kind = FieldKind::kImage, .role = Role::kMask};
    mask.of = 0;
    mask.detail = kNothing;
    schema_.fields = {image_field("image"), file_name_field(), std::move(mask)};
    std::map<std::string, std::string> masks_left =
        images_by_stem(masks_, warn, keep_going, &kNpyFormat);
    for (auto& [stem, image] : images_by_stem(images_, warn, keep_going)) {
      const auto found = masks_left.find(stem);
      if (found == masks_left.end()) {
        unread_.push_back({join_uri(images_, image), "the image has no mask"});
        continue;
      }
      pairs_.emplace_back(std::move(image), std::move(found->second));
      masks_left.erase(found);
    }
    for (const auto& [stem, mask_path] : masks_left) {
      unread_.push_back({join_uri(masks_, mask_path), "the mask has no image"});
    }
    if (!pairs_.empty()) return;
    throw NotFoundError("no image has a mask",
                        {.path = images_,
                         .expected = fmt::format("a mask of the same name in {}", masks_),
                         .found = unread_.empty() ? "no images" : unread_.front().path});
  }

  const Schema& schema() const override { return schema_; }
  uint64_t size() const override { return pairs_.size(); }
  std::string path(uint64_t i) const override { return join_uri(images_, pairs_[i].first); }
  std::string description(uint64_t i) const override {
    return path(i) + " " + join_uri(masks_, pairs_[i].second);
  }
  const std::vector<PackFailure>& unread() const override { return unread_; }

  void read(uint64_t i, SourceSample& out) const override {
    out.id = i;
    out.fields.resize(schema_.fields.size());
    set_image(path(i), out.fields[0]);
    set_text(pairs_[i].first, out.fields[1]);
    set_mask(join_uri(masks_, pairs_[i].second), out.fields[2]);
  }

 private:
  std::string images_;
  std::string masks_;
  Schema schema_;
  std::vector<std::pair<std::string, std::string>> pairs_;  // relative paths
  std::vector<PackFailure> unread_;
};

}  // namespace

std::unique_ptr<SampleSource> open_mask_folder(const std::string& images, const std::string& masks,
                                               const Warn& warn, const KeepGoing& keep_going) {
  return std::make_unique<MaskFolder>(images, masks, warn, keep_going);
}

}  // namespace fuelrail::pack
