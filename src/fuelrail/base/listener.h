// How long work speaks with its caller while it runs: the callbacks that options and calls take.
#pragma once

#include <functional>
#include <string>

#include "fuelrail/base/error.h"

namespace fuelrail {

// Told of what does not fail the work. Called on a thread that works; must neither block nor call
// what calls it. Default: not told.
using Warn = std::function<void(const std::string& text)>;

// Asked on the caller's thread, as the work begins and then every 50 ms or 1,024 records, so it
// should be cheap. False ends the work with a StateError "interrupted"; what it throws passes
// through. Default: never asked.
using KeepGoing = std::function<bool()>;

// `uri` is what the work is on. Errors: StateError where `keep_going` returns false.
inline void check_keep_going(const KeepGoing& keep_going, const std::string& uri = {}) {
  if (keep_going && !keep_going()) throw StateError("interrupted", {.path = uri});
}

}  // namespace fuelrail
