#include "fuelrail/pack/open_input.h"

#include "fuelrail/base/error.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

void throw_if_folder(const std::string& uri, const Error& error) {
  const auto info = file_system_for(uri).stat(uri);
  if (info && info->is_directory) throw CorruptError(error.failure(), error.detail());
}

}  // namespace

std::shared_ptr<const Container> open_input(const std::string& uri, const OpenOptions& options) {
  try {
    return open_container(uri, options);
  } catch (const NotFoundError& error) {
    throw_if_folder(uri, error);
    throw;
  } catch (const InvalidArgumentError& error) {
    throw_if_folder(uri, error);
    throw;
  }
}

}  // namespace fuelrail
