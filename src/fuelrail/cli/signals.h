// Handling of signals while a command runs.
#pragma once

#include <csignal>
#include <exception>
#include <string>
#include <utility>

namespace fuelrail::cli {

// Thrown when a command notices that it was interrupted.
class Interrupted : public std::exception {
 public:
  // `outcome`: tells the user what happens to unfinished output; empty if there is no output.
  explicit Interrupted(std::string outcome = "") : outcome_(std::move(outcome)) {}
  const std::string& outcome() const { return outcome_; }

 private:
  std::string outcome_;
};

// During the lifetime of a scope, an interrupt (Ctrl-C or SIGTERM) sets a flag instead of ending
// the process, and `write` returns an error for a closed pipe or a file beyond its size limit. If
// the second interrupt is a Ctrl-C, it ends the process. If it is a SIGTERM, it does not, because
// coreutils' `timeout` sends SIGTERM twice. The destructor restores all handlers, because Python
// also calls commands. A signal that was ignored before stays ignored. At most one scope at a time
// per process.
class SignalScope {
 public:
  SignalScope();
  ~SignalScope();
  SignalScope& operator=(SignalScope&&) = delete;

 private:
  struct sigaction interrupt_;
  struct sigaction termination_;
  struct sigaction pipe_;
  struct sigaction file_size_;
};

// Whether an interrupt has arrived since the scope began. Threads: any.
bool interrupted();

// The exit code that a shell reports for a command that the noted signal ended. Requires:
// interrupted().
int interrupted_exit_code();

void throw_if_interrupted();

}  // namespace fuelrail::cli
