#include "fuelrail/pack/open_input.h"

#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

// Whether the files inside are laid out by their owner: of a packed folder as of a folder.
bool is_laid_out(const std::string& uri, const OpenOptions& options) {
  if (!options.schema.empty()) return is_ffrecord_name(uri);
  const auto info = file_system_for(uri).stat(uri);
  return info && info->is_directory;
}

void throw_if_laid_out(const std::string& uri, const OpenOptions& options, const Error& error) {
  if (is_laid_out(uri, options) && file_system_for(uri).stat(uri)) {
    throw CorruptError(error.failure(), error.detail());
  }
}

}  // namespace

std::shared_ptr<const Container> open_input(const std::string& uri, const OpenOptions& options) {
  // Of the user's arguments and not of the data.
  if (is_ffrecord_name(uri)) check_schema(uri, options.schema, format_of_file(uri).schema);
  try {
    return open_container(uri, options);
  } catch (const NotFoundError& error) {
    throw_if_laid_out(uri, options, error);
    throw;
  } catch (const InvalidArgumentError& error) {
    throw_if_laid_out(uri, options, error);
    throw;
  }
}

}  // namespace fuelrail
