// The output of a command: results on standard output, everything else line by line on standard
// error. This is the only part of fuelrail that prints. It escapes all characters that could
// control a terminal, whether or not it prints to one.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/listener.h"
#include "fuelrail/cli/text.h"

namespace fuelrail::cli {

enum ExitCode : int {
  kOk = 0,
  kDataProblem = 1,
  kUsage = 2,
  kInputOutput = 3,
  kSignalled = 128,  // plus the signal's number
};

// Thrown when the program that reads standard output has closed it (`fuelrail ls x.rec | head`).
// The command then ends immediately with exit code 0.
class ReaderHasGone : public std::exception {};

// Writes to descriptors 1 and 2 without stdio, so that it does not interfere with the streams of
// the host process. Threads: one at a time.
class Console {
 public:
  Console();
  Console& operator=(Console&&) = delete;

  // Writes `line` and a line end to standard output, buffered. Line ends inside `line` are escaped.
  // Errors: IoError, ReaderHasGone, Interrupted.
  void print_line(std::string_view line);

  // Writes bytes to standard output without escaping them, buffered. For contents of records and
  // for the command's own texts. Errors: those of print_line.
  void write(Bytes bytes);

  // Writes the buffered output. Errors: those of print_line.
  void flush();

  // Writes the line "fuelrail: <text>" to standard error, escaped like a line of print_line.
  void say(std::string_view text);

  // A function that prints warnings with `say`. Lifetime: the console outlives it.
  Warn warner() {
    return [this](const std::string& text) { say("warning: " + text); };
  }

  // Shows `text`, escaped, in a line of standard error that the next call replaces. Does nothing if
  // standard error is not a terminal.
  void show_status(std::string_view text);
  void clear_status();
  bool has_status_line() const { return error_is_terminal_; }

 private:
  std::string gathered_;
  bool out_is_terminal_;
  bool error_is_terminal_;
  bool status_shown_ = false;
};

// Shows the progress of a long job: on a terminal in one line that is updated, otherwise in a new
// line after each tenth of the job or after ten seconds, whichever comes first.
class ProgressDisplay {
 public:
  // `verb` and `things`: for example "read" and "images". If `things` is "bytes", amounts are
  // shown as "1.4 MB". `quiet`: show nothing.
  ProgressDisplay(Console& console, std::string verb, std::string things, bool quiet);
  ~ProgressDisplay();
  ProgressDisplay& operator=(ProgressDisplay&&) = delete;

  void update(uint64_t done, uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  std::string line(uint64_t done, uint64_t total, Clock::time_point now) const {
    return progress_line(verb_, things_, done, total,
                         std::chrono::duration<double>(now - start_).count());
  }

  Console& console_;
  std::string verb_;
  std::string things_;
  bool quiet_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  uint64_t last_tenth_ = 0;
};

}  // namespace fuelrail::cli
