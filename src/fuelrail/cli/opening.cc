#include "fuelrail/cli/opening.h"

#include "fuelrail/cli/signals.h"
#include "fuelrail/container/concat.h"
#include "fuelrail/pack/open_input.h"

namespace fuelrail::cli {

std::shared_ptr<const Container> open_warning(const std::string& uri, Console& console) {
  auto container = open_input(
      uri, {.warn = [&console](const std::string& text) { console.say("warning: " + text); },
            .keep_going = [] { return !interrupted(); }});
  for (const RecordFile* file : record_files_of(*container)) {
    if (!file->sidecar_location().made) continue;
    console.say(file->uri() + ": the file had no sidecar; made " + file->sidecar_location().uri);
  }
  return container;
}

std::vector<const RecordFile*> record_files_of(const Container& container) {
  std::vector<const RecordFile*> files;
  const auto add = [&files](const Container& part) {
    if (const auto* file = dynamic_cast<const RecordFile*>(&part)) files.push_back(file);
  };
  add(container);
  for (const auto& part : parts_of(container)) add(*part);
  return files;
}

}  // namespace fuelrail::cli
