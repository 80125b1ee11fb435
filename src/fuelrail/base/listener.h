// Callbacks of long-running work, passed in options and arguments.
#pragma once

#include <functional>
#include <string>

#include "fuelrail/base/error.h"

namespace fuelrail {

// Receives warnings: problems that do not stop the work. Called on one of the work's threads; must
// not block, and must not call the object that calls it. Default: warnings are dropped.
using Warn = std::function<void(const std::string& text)>;

// Whether to continue. Called on the caller's thread when the work begins and then every 50 ms or
// 1,024 records, so it should be cheap. Returning false ends the work with a StateError "the work
// was interrupted"; exceptions that it throws are passed on. Default: always continue.
using KeepGoing = std::function<bool()>;

// Throws the StateError of work that the caller has stopped. `uri`: the file in work.
[[noreturn]] inline void throw_interrupted(const std::string& uri = {}) {
  throw StateError("the work was interrupted", {.path = uri});
}

// Errors: the StateError of throw_interrupted if `keep_going` returns false.
inline void check_keep_going(const KeepGoing& keep_going, const std::string& uri = {}) {
  if (keep_going && !keep_going()) throw_interrupted(uri);
}

}  // namespace fuelrail
