#include "fuelrail/container/build_sidecar.h"

#include <memory>

#include "fuelrail/container/formats.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {

SidecarLocation build_sidecar(const std::string& uri, const BuildSidecarOptions& options) {
  const FileFormat& format = format_of_file(uri);
  const std::shared_ptr<const Source> source = file_system_for(uri).open(uri);
  const SidecarRecipe recipe = format.sidecar(source, options.warn);
  SidecarStore store(*source, options.warn);
  const auto old = store.find(recipe.accept);
  store.check_replaceable();
  SidecarWriter writer = recipe.make(options);
  if (old) writer.keep_sections_of(*old->sidecar);
  return store.replace(writer).location;
}

}  // namespace fuelrail
