// fuelrail's own threads. They have names and block all signals, so that signals reach the
// program's threads (Python's main thread must get SIGINT).
#pragma once

#include <pthread.h>
#include <signal.h>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail {

// While this object exists, all signals are blocked on this thread and on the threads that it
// starts.
class SignalsHeldBack {
 public:
  SignalsHeldBack() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeldBack() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeldBack& operator=(SignalsHeldBack&&) = delete;

 private:
  sigset_t before_;
};

// `name`: at most 15 characters. Errors: IoError if the system cannot start a thread; bad_alloc.
template <typename Function>
std::thread start_native_thread(const char* name, Function function) {
  const SignalsHeldBack held_back;
  std::thread thread;
  std::string failure;
  try {
    thread = std::thread(std::move(function));
    ::pthread_setname_np(thread.native_handle(), name);
  } catch (const std::system_error& error) {
    failure = error.what();
  }
  if (!failure.empty()) {
    throw IoError(
        "cannot start a thread",
        {.found = failure, .remedy = "Use fewer threads, or raise the process limit (ulimit -u)"});
  }
  return thread;
}

}  // namespace fuelrail
