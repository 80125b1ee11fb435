#include "fuelrail/sampler/state.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

using nlohmann::json;

constexpr size_t kMostBytes = size_t{64} << 10;

// A short text of a value, for `found`.
std::string describe(const json& value) {
  if (value.is_structured()) return std::string("an ") + value.type_name();
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

const json& member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) {
    throw InvalidArgumentError(fmt::format("the state has no member '{}'", name),
                               {.remedy = "Pass the value that state_dict() returned"});
  }
  return *found;
}

uint64_t unsigned_member(const json& object, const char* name, uint64_t most) {
  const json& value = member(object, name);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > most) {
    throw InvalidArgumentError(
        fmt::format("the state's member '{}' is invalid", name),
        {.expected = fmt::format("an integer from 0 to {}", most), .found = describe(value)});
  }
  return value.get<uint64_t>();
}

std::string text_member(const json& object, const char* name) {
  const json& value = member(object, name);
  if (!value.is_string()) {
    throw InvalidArgumentError(fmt::format("the state's member '{}' is invalid", name),
                               {.expected = "a string", .found = describe(value)});
  }
  return value.get<std::string>();
}

json parse_object(const std::string& text) {
  if (text.size() > kMostBytes) {
    throw InvalidArgumentError("the state is too long",
                               {.expected = fmt::format("at most {} bytes", kMostBytes),
                                .found = fmt::format("{} bytes", text.size())});
  }
  // Nested values are dropped, because no member that is read is nested; so deep nesting is
  // harmless.
  const auto keep = [](int depth, json::parse_event_t, const json&) { return depth <= 1; };
  json object;
  try {
    object = json::parse(text, keep);
  } catch (const json::exception& error) {
    // The library's own message can be as long as the text.
    ErrorDetail detail{.remedy = "Pass the value that state_dict() returned"};
    const auto* syntax = dynamic_cast<const json::parse_error*>(&error);
    if (syntax != nullptr && syntax->byte > 0) detail.offset = syntax->byte - 1;
    throw InvalidArgumentError("the state is not valid JSON", std::move(detail));
  }
  if (!object.is_object()) {
    throw InvalidArgumentError(
        "the state is not a JSON object",
        {.found = describe(object), .remedy = "Pass the value that state_dict() returned"});
  }
  return object;
}

template <typename T>
void check_same(const char* name, const T& restored, const T& own, const char* remedy) {
  if (restored == own) return;
  throw InvalidArgumentError(
      fmt::format("the state's '{}' differs from the loader's", name),
      {.expected = fmt::to_string(own), .found = fmt::to_string(restored), .remedy = remedy});
}

}  // namespace

std::string to_json(const State& state) {
  const nlohmann::ordered_json object = {
      {"version", state.version},           {"dataset", state.dataset},
      {"classes", state.classes},           {"seed", state.seed},
      {"shuffle", state.shuffle},           {"epoch", state.progress.epoch},
      {"position", state.progress.position}};
  return object.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

State parse_state(const std::string& text) {
  constexpr uint64_t kMost32 = std::numeric_limits<uint32_t>::max();
  constexpr uint64_t kMost64 = std::numeric_limits<uint64_t>::max();
  const json object = parse_object(text);
  const uint64_t version = unsigned_member(object, "version", kMost32);
  if (version == 0 || version > kStateVersion) {
    throw InvalidArgumentError(
        "the state's 'version' is not supported",
        {.expected = fmt::to_string(kStateVersion),
         .found = fmt::to_string(version),
         .remedy =
             "Restore the state with the fuelrail version that wrote it, or with a newer version"});
  }
  State state;
  state.version = static_cast<uint32_t>(version);
  state.dataset = text_member(object, "dataset");
  state.classes = text_member(object, "classes");
  state.seed = unsigned_member(object, "seed", kMost64);
  state.shuffle = text_member(object, "shuffle");
  state.progress.epoch = static_cast<uint32_t>(unsigned_member(object, "epoch", kMost32));
  state.progress.position = unsigned_member(object, "position", kMost64);
  return state;
}

void check_same_run(const State& restored, const State& own) {
  check_same("version", restored.version, own.version, "");
  check_same("dataset", restored.dataset, own.dataset,
             "Open the dataset from which the state was saved, with the same weights, if any");
  if (!restored.classes.empty() && !own.classes.empty()) {
    check_same("classes", restored.classes, own.classes,
               "Open or pack the dataset with the run's class names (--classes; in Python, "
               "`classes`)");
  }
  check_same("shuffle", restored.shuffle, own.shuffle, "Build the loader with the same shuffle");
  check_same("seed", restored.seed, own.seed, "Build the loader with the same seed");
}

}  // namespace fuelrail
