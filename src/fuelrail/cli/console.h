// What the command says: results on standard output, everything else, a line at a time, on standard
// error. The only place of fuelrail that prints, and the one that escapes what could control a
// terminal (terminal_text.h), wherever its words go.
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
  kSignalled = 128,  // and the signal's number
};

// Thrown when the reader of standard output has gone (`fuelrail ls x.rec | head`): the command ends
// at once, and well.
class ReaderHasGone : public std::exception {};

// Writes to descriptors 1 and 2 and keeps nothing in stdio, so that it may be used in a process
// that has its own idea of the streams. Threads: one at a time.
class Console {
 public:
  Console();
  Console& operator=(Console&&) = delete;

  // To standard output, gathered: `line`, escaped, line ends too, and a line end. Errors: IoError,
  // ReaderHasGone, Interrupted.
  void print_line(std::string_view line);

  // The same of bytes as they are: contents of records, and text of the command's own. Errors: as
  // print_line.
  void write(Bytes bytes);

  // Writes what was gathered. Errors: as print_line.
  void flush();

  // "fuelrail: <text>" on standard error, a line, escaped as by print_line.
  void say(std::string_view text);

  // Says warnings. Lifetime: the console's.
  Warn warner() {
    return [this](const std::string& text) { say("warning: " + text); };
  }

  // One line on standard error that the next one replaces, on a terminal only. Escaped.
  void show_status(std::string_view text);
  void clear_status();
  bool has_status_line() const { return error_is_terminal_; }

 private:
  std::string gathered_;
  bool out_is_terminal_;
  bool error_is_terminal_;
  bool status_shown_ = false;
};

// How far a long job is: on a terminal one line that is kept up to date, otherwise a plain line
// every tenth of the job or every ten seconds, whichever comes first.
class ProgressDisplay {
 public:
  // `verb` and `things`: "packed" and "images"; "bytes" are shown as such. Quiet: shows nothing.
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
