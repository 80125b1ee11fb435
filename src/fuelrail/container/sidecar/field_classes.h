// The class names of the label fields of sample records, as the sidecar stores them: JSON
// {"classes": {"cameras.0.labels": ["car", "bus"]}}.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fuelrail {

using FieldClasses = std::map<std::string, std::vector<std::string>>;  // by the field's name

std::string json_of(const FieldClasses& classes);

// Ignores members that it does not know. Errors: CorruptError for a text that is not such JSON.
FieldClasses parse_field_classes(std::string_view text);

}  // namespace fuelrail
