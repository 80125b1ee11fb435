// Reads the pickles of packed folders, and no other pickles.
#pragma once

#include <cstdint>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/ffrecord/packed_folder.h"

namespace fuelrail::ffrecord {

// A pickle is a program for a machine with a stack and a memo. This parser knows only the
// operations that build OrderedDicts, strings and integers. It refuses every other operation and
// names it in the error, so a pickle cannot call, import or construct anything else. Memory and
// errors: as for parse_packed_folder.
PackedStructure parse_folder_pickle(Bytes pickle, uint64_t records);

}  // namespace fuelrail::ffrecord
