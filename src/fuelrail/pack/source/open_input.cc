#include "fuelrail/pack/source/open_input.h"

#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

bool has_schema(const std::string& uri) {
  const FileFormat* format = find_format(uri);
  return format != nullptr && !format->schema.name.empty();
}

// Of what is there and holds files that their owner has laid out: a folder, or a packed one.
void throw_if_laid_out(const std::string& uri, const OpenOptions& options, const Error& error) {
  const auto info = file_system_for(uri).stat(uri);
  if (info && (options.schema.empty() ? info->is_directory : has_schema(uri))) {
    throw CorruptError(error.failure(), error.detail());
  }
}

}  // namespace

std::shared_ptr<const Container> open_input(const std::string& uri, const OpenOptions& options) {
  // Of the user's arguments and not of the data.
  check_root(uri, options.root);
  if (has_schema(uri)) check_schema(uri, options.schema, find_format(uri));
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

}  // namespace fuelrail::pack
