// The JSON text of a state for `load_state_dict`.
#include <string>

#include "fuelrail/sampler/state.h"
#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  const std::string text(reinterpret_cast<const char*>(data), size);
  State state;
  if (!fuzzing::succeeds([&] { state = parse_state(text); })) return 0;
  fuzzing::succeeds([&] { check_same_run(state, State{.shuffle = "full"}); });
  const std::string written = to_json(state);
  State again;
  // The reader accepts a dataset and a shuffle of any length, but only short ones can be written.
  if (written.size() > 1024) return 0;
  again = parse_state(written);
  fuzzing::require(to_json(again) == written, "what is written is read back");
  check_same_run(again, state);
  return 0;
}
