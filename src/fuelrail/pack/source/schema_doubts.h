// What samples have that is valid, but shows that their schema is probably wrong: counted, for
// warnings. Such samples would be stored and loaded without an error, and train a network on boxes
// that are not there, or on labels of other objects.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fuelrail/base/guarded.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/pack/source/sample_source.h"

namespace fuelrail::pack {

// Threads: any number may call any method at once. Lifetime: `schema` outlives the object.
class SchemaDoubts {
 public:
  explicit SchemaDoubts(const Schema& schema);

  // The boxes of a field: how many, and whether all their numbers are from 0 to 1.
  void add_boxes(size_t field, uint64_t count, bool are_fractions);

  // A camera matrix: whether it only rotates and shifts.
  void add_camera(size_t field, bool is_rigid);

  // A box of sample i that is outside of its image by more than the image's size, as text.
  void add_far_box(uint64_t i, size_t field, const std::string& box);

  // An image of sample i that has a palette.
  void add_palette(uint64_t i, size_t field);

  // A mask of stored numbers of this type.
  void add_mask(size_t field, DType dtype);

  // The numbers of rows in a sample.
  void add_rows(const std::vector<SourceValue>& values);

  // A text for each field that is in doubt: images with a palette; masks of several types, for
  // which a loader needs the option `dtype`; boxes in pixels that are all from 0 to 1; boxes far
  // outside of their image; boxes that have as many rows as other fields in every sample, but are
  // not in one group of rows with them (in different dicts, only if the number differs between
  // samples, because it may be equal by chance); camera matrices that are all poses of cameras;
  // and, beside images, tensors of rows of four if no field has coordinates: they are probably
  // boxes, which transforms do not move. `path`: names sample i.
  std::vector<std::string> remarks(const std::function<std::string(uint64_t)>& path) const;

 private:
  struct Tally {
    uint64_t count = 0;
    uint64_t first = UINT64_MAX;  // sample
    std::string found{};          // in it
    void add(uint64_t i, const std::string& text = {});
  };
  struct Boxes {
    size_t field;
    uint64_t count = 0;
    bool are_fractions = true;
    Tally far{};
  };
  struct Pair {
    size_t boxes;
    size_t other;
    bool is_one_dict;
    bool differ = false;  // in some sample
    int64_t rows = -1;    // in the first sample that was added
    bool varies = false;  // between samples
    bool suspect() const { return !differ && rows >= 0 && (varies || (is_one_dict && rows > 0)); }
  };
  std::string remark_on_rows(size_t boxes) const FUELRAIL_REQUIRES(mutex_);
  std::string remark_on_tensors() const;

  const Schema& schema_;
  mutable Mutex mutex_;
  std::map<size_t, Tally> palettes_ FUELRAIL_GUARDED_BY(mutex_);  // by field
  std::map<size_t, std::set<DType>> masks_ FUELRAIL_GUARDED_BY(mutex_);
  std::map<size_t, bool> rigid_ FUELRAIL_GUARDED_BY(mutex_);  // by field: all its matrices
  std::vector<Boxes> boxes_ FUELRAIL_GUARDED_BY(mutex_);
  std::vector<Pair> pairs_ FUELRAIL_GUARDED_BY(mutex_);
};

}  // namespace fuelrail::pack
