#include "fuelrail/cli/opening.h"

#include "fuelrail/cli/signals.h"
#include "fuelrail/pack/open_input.h"

namespace fuelrail::cli {

std::shared_ptr<const Container> open_warning(const std::string& uri, Console& console) {
  auto container = open_input(
      uri, {.warn = [&console](const std::string& text) { console.say("warning: " + text); },
            .keep_going = [] { return !interrupted(); }});
  const recordio::RecordIoContainer* file = as_recordio(*container);
  if (file != nullptr && file->sidecar_location().made) {
    console.say(uri + ": the file had no sidecar; made " + file->sidecar_location().uri);
  }
  return container;
}

const recordio::RecordIoContainer* as_recordio(const Container& container) {
  return dynamic_cast<const recordio::RecordIoContainer*>(&container);
}

const char* format_of(const Container& container) {
  return as_recordio(container) == nullptr ? "folder" : "RecordIO";
}

}  // namespace fuelrail::cli
