// Signals while a command runs.
#pragma once

#include <csignal>
#include <exception>
#include <string>
#include <utility>

namespace fuelrail::cli {

// Thrown where a command finds that the user wants it to end.
class Interrupted : public std::exception {
 public:
  // `outcome`: what becomes of what was begun, where anything was.
  explicit Interrupted(std::string outcome = "") : outcome_(std::move(outcome)) {}
  const std::string& outcome() const { return outcome_; }

 private:
  std::string outcome_;
};

// While it lives, an interrupt (Ctrl-C, or SIGTERM) is noted instead of ending the process, and
// writing to a closed pipe or past a file size limit is an error that `write` returns. Ctrl-C as a
// second interrupt does end it; SIGTERM does not, for it comes twice from coreutils' `timeout`.
// Then everything is as it was: Python calls commands, too. An interrupt that was ignored stays so.
// At most one at a time in a process.
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

// Whether an interrupt came since the scope began. Threads: any.
bool interrupted();

// That of a command which the interrupt has ended, as a shell has it. Requires: interrupted().
int interrupted_exit_code();

void throw_if_interrupted();

}  // namespace fuelrail::cli
