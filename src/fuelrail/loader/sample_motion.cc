#include "fuelrail/loader/sample_motion.h"

#include <algorithm>
#include <cstring>

#include "fuelrail/base/error.h"
#include "fuelrail/base/philox.h"

namespace fuelrail {

template <typename Number>
std::span<const Number> AlignedNumbers<Number>::of(Bytes bytes) {
  const size_t count = bytes.size() / sizeof(Number);
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(Number) == 0) {
    return {reinterpret_cast<const Number*>(bytes.data()), count};
  }
  copy_.resize(count);
  std::memcpy(copy_.data(), bytes.data(), count * sizeof(Number));
  return copy_;
}
template class AlignedNumbers<float>;
template class AlignedNumbers<double>;

SampleMotion::SampleMotion(const Schema& schema, const SampleProgram& program, uint64_t seed,
                           LossWarnings& losses)
    : schema_(schema),
      program_(program),
      seed_(seed),
      losses_(losses),
      leaders_(program.leaders.size()),
      boxes_(program.boxes.size()),
      objects_(program.objects.size()) {}

void SampleMotion::begin(const Sample& sample, const Entry& entry) {
  sample_ = &sample;
  entry_ = entry;
  for (LeaderState& state : leaders_) state.ready = false;
  for (BoxesState& state : boxes_) state.read = state.moved = false;
  for (ObjectsState& state : objects_) state.ready = false;
}

SampleMotion::Leader& SampleMotion::leader(size_t leader) {
  LeaderState& state = leaders_[leader];
  if (state.ready) return state;
  const LeaderProgram& program = program_.leaders[leader];
  try {
    prepare(state, program, sample_->fields[program.field]);
  } catch (Error& error) {
    error.add({.field = image_name(schema_, program.field)});
    throw;
  }
  state.ready = true;
  return state;
}

SampleMotion::Leader& SampleMotion::leader(size_t leader, const EncodedImage& item) {
  LeaderState& state = leaders_[leader];
  prepare(state, program_.leaders[leader], item);
  return state;
}

ImageInfo SampleMotion::look_at(const EncodedImage& image) const {
  ImageInfo info = probe(image, program_.max_pixels);
  if (program_.orientation == Orientation::kIgnore) info.orientation = 1;
  return info;
}

void SampleMotion::prepare(LeaderState& state, const LeaderProgram& program,
                           const EncodedImage& image) {
  state.info = look_at(image);
  losses_.look_at(state.info, program.field, entry_.record);
  const Size size = state.info.oriented();
  PlanInputs inputs{.image = size,
                    .random = Philox(seed_, entry_.epoch, entry_.position),
                    .leader = program.draws};
  if (!program.boxes.empty()) {
    needed_boxes_.clear();
    for (const size_t boxes : program.boxes) {
      read(boxes, size);
      const std::vector<Corners>& added = boxes_[boxes].boxes;
      boxes_[boxes].first = needed_boxes_.size();
      needed_boxes_.insert(needed_boxes_.end(), added.begin(), added.end());
    }
    inputs.boxes = needed_boxes_;
  }
  resolve(program.transforms, inputs, state.plan);
  if (program.moves) state.motion.follow(state.plan, size);
}

void SampleMotion::read(size_t boxes, Size image) {
  BoxesState& state = boxes_[boxes];
  if (state.read) return;
  const BoxesProgram& program = program_.boxes[boxes];
  const FieldValue& value = sample_->fields[program.field];
  const std::string_view name = program.name;
  state.boxes.clear();
  try {
    if (program.dtype == DType::kFloat32) {
      read_boxes(floats_.of(value.bytes), program.format, program.form, image, name, state.boxes);
    } else {
      read_boxes(doubles_.of(value.bytes), program.format, program.form, image, name, state.boxes);
    }
  } catch (Error& error) {
    error.add({.field = program.name});
    throw;
  }
  state.read = true;
}

SampleMotion::BoxesState& SampleMotion::moved(size_t boxes) {
  BoxesState& state = boxes_[boxes];
  if (state.moved) return state;
  Leader& moving = leader(program_.boxes[boxes].leader);
  read(boxes, moving.motion.image());
  std::span<const uint8_t> removed = moving.plan.removed;
  if (!removed.empty()) removed = removed.subspan(state.first, state.boxes.size());
  move_boxes(moving.motion, program_.keep, removed, state.boxes, state.kept);
  state.moved = true;
  return state;
}

std::span<const Corners> SampleMotion::boxes(size_t boxes) { return moved(boxes).boxes; }

std::span<const uint8_t> SampleMotion::kept(size_t objects) {
  ObjectsState& state = objects_[objects];
  if (state.ready) return state.kept;
  const ObjectsProgram& program = program_.objects[objects];
  state.kept.clear();
  for (const size_t boxes : program.boxes) {
    const std::vector<uint8_t>& kept = moved(boxes).kept;
    state.kept.resize(kept.size());
    for (size_t i = 0; i < kept.size(); ++i) state.kept[i] |= kept[i];
  }
  for (const PointsProgram& shown : program.points) {
    points(shown);
    state.kept.resize(static_cast<size_t>(sample_->fields[shown.field].shape[0]));
    keep_seen(shown_, state.kept);
  }
  state.ready = true;
  return state.kept;
}

Bytes SampleMotion::points(const PointsProgram& program) {
  return program.dtype == DType::kFloat32 ? moved(program, float_points_)
                                          : moved(program, double_points_);
}

template <typename Number>
Bytes SampleMotion::moved(const PointsProgram& program, std::vector<Number>& memory) {
  const Leader& moving = leader(program.leader);
  const Bytes stored = sample_->fields[program.field].bytes;
  memory.resize(stored.size() / sizeof(Number));
  if (!memory.empty()) std::memcpy(memory.data(), stored.data(), stored.size());
  const std::span<Number> numbers(memory);
  move_points(moving.motion, program.form, program.numbers, std::span<const Number>(numbers),
              numbers, shown_);
  return std::as_bytes(numbers);
}

}  // namespace fuelrail
