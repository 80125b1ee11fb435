// Writes a record of a `.bzna` file (nested_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/mp4/boxes.h"

namespace fuelrail::mp4 {

// An H.265 still: one picture as NAL units with lengths of four bytes, without parameter sets.
struct NewStill {
  Bytes bitstream{};
  Bytes parameters{};  // the content of `hvcC`
  Size coded{};
  Size visible{};                  // the upper left part that is the image
  BoxType type = BoxType("hvc1");  // "hev1": the bitstream may have parameters too
};

struct NewRecord {
  NewStill input{};
  // The image reduced to at most 512 x 512. Empty: the record has no thumbnail. If `input` is the
  // thumbnail too, both have the same data.
  std::optional<NewStill> thumb{};
  std::optional<int64_t> label{};
  std::string_view name{};  // of the source file, without folders; empty: no track
};

// Replaces the content of `out` by the record's MP4 file: equal records give equal bytes. Errors:
// InvalidArgumentError for a picture with a side of more than 65,535 pixels, for a name that does
// not fit into kMaxNameBytes with its NUL, and for bitstreams, parameters, label and name of more
// than 2 GiB together.
void write_nested_file(const NewRecord& record, std::vector<std::byte>& out);

}  // namespace fuelrail::mp4
