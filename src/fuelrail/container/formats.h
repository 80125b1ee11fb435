// The table of file formats. A folder is not in it: it is one by itself, not by its name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"

namespace fuelrail {

struct FileFormat {
  std::string_view extension;
  std::string_view name;
  std::shared_ptr<const Container> (*open)(const std::string& uri, const OpenOptions& options);
  // Null where files of this format have no sidecar.
  SidecarRecipe (*sidecar)(std::shared_ptr<const Source> source,
                           const std::function<void(const std::string&)>& warn);
  std::string_view schema;  // the one of OpenOptions::schema that it has; empty = none
};

// Whether `format_of_file` knows a format by the name alone.
bool has_format_name(std::string_view name);

// By the name's extension, in either case. Errors: UnsupportedError for any other name, with what
// the file's first bytes say it is; those of FileSystem::open.
const FileFormat& format_of_file(const std::string& uri);

// Errors: InvalidArgumentError unless `schema` is `known` or empty.
void check_schema(const std::string& uri, const std::string& schema, std::string_view known);

// Errors: InvalidArgumentError for a root of what is no list of images, by its name.
void check_root(const std::string& uri, const std::string& root);

// Whether the name of a file ends as those of FFRecord do: a folder of such files is one container.
bool is_ffrecord_name(std::string_view name);

}  // namespace fuelrail
