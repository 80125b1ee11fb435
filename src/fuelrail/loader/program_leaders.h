// Collects the leaders and objects that the columns of a loader need (sample_program.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fuelrail/container/sample.h"
#include "fuelrail/loader/options.h"
#include "fuelrail/loader/sample_program.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// Requires: field.leads().
const Transforms& transforms_for(const FieldSpec& field, const ImageOptions& options);

// Each function adds what it names, unless it is there. Parameters are fields of the schema;
// results are indices in SampleProgram.
class ProgramLeaders {
 public:
  // Errors: InvalidArgumentError for `options.shared`.
  ProgramLeaders(const Schema& schema, const ImageOptions& options);

  // Errors: InvalidArgumentError for too many leaders.
  size_t leader(size_t field);
  // A leader with which others move. Errors: those of sample_program for such a leader.
  size_t followed(size_t field);
  // The leader to which `spec` refers.
  size_t leader_of(const FieldSpec& spec) { return followed(spec.of.value()); }
  size_t boxes(size_t field);
  PointsProgram points(size_t field);
  // The objects to which the field has a row each; empty if it has none, or if all of them stay.
  std::optional<size_t> objects_of(size_t field);

  const Transforms& transforms_of(size_t leader) const;

  // The program without its columns. Requires: no other function is called any more.
  SampleProgram finish();

 private:
  void share(const std::vector<std::string>& patterns);
  uint32_t number_of(size_t field) const;

  const Schema& schema_;
  const ImageOptions& options_;
  std::map<size_t, uint32_t> shared_;  // for leaders that share their random numbers
  SampleProgram program_;
  std::map<size_t, size_t> leaders_;  // by field
  std::map<size_t, size_t> boxes_;
  std::map<size_t, std::optional<size_t>> objects_;  // by the first field of the group
};

}  // namespace fuelrail
