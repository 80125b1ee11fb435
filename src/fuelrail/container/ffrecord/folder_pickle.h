// Reads the one pickle that packed folders hold, and nothing else that a pickle can be.
#pragma once

#include <cstdint>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/ffrecord/packed_folder.h"

namespace fuelrail::ffrecord {

// A pickle is a program for a machine with a stack and a memo. Of its operations those are known
// that make OrderedDicts, strings and integers; all others are refused by name, and with them
// everything that could call, import or build. Memory, errors: as parse_packed_folder.
PackedStructure parse_folder_pickle(Bytes pickle, uint64_t records);

}  // namespace fuelrail::ffrecord
