#include "fuelrail/cli/console.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/terminal_text.h"

namespace fuelrail::cli {
namespace {

constexpr size_t kGatherBytes = 64 * 1024;
constexpr int kPatienceMs = 100;
constexpr std::chrono::milliseconds kStatusInterval{100};
constexpr std::chrono::seconds kLongestSilence{10};
constexpr std::chrono::seconds kShortestSilence{1};  // save before the last line

// Waits until PIPE_BUF bytes can be written without waiting. Returns: false when the user has had
// enough of waiting.
bool wait_for_room(int fd) {
  pollfd poll{.fd = fd, .events = POLLOUT, .revents = 0};
  while (::poll(&poll, 1, kPatienceMs) <= 0) {
    if (interrupted()) return false;
  }
  return true;
}

// Returns 0, or why not all of it could be written; EINTR when its reader did not read, and the
// user interrupted.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    if (!wait_for_room(fd)) return EINTR;
    const ssize_t put = ::write(fd, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (put >= 0) {
      text.remove_prefix(static_cast<size_t>(put));
    } else if (errno != EINTR && errno != EAGAIN) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

Console::Console()
    : out_is_terminal_(::isatty(STDOUT_FILENO) == 1),
      error_is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void Console::print_line(std::string_view line) {
  write(as_bytes(escaped_for_terminal(line) + "\n"));
}

void Console::write(Bytes bytes) {
  gathered_ += as_text(bytes);
  if (out_is_terminal_ || gathered_.size() >= kGatherBytes) flush();
}

void Console::flush() {
  if (out_is_terminal_) clear_status();
  const std::string text = std::exchange(gathered_, {});
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EINTR) throw Interrupted();
  if (error == EPIPE) throw ReaderHasGone();
  if (error != 0) {
    throw IoError("standard output cannot be written", {.found = std::strerror(error)});
  }
}

void Console::say(std::string_view text) {
  clear_status();
  // Nobody is left to tell when this fails.
  write_all(STDERR_FILENO, fmt::format("fuelrail: {}\n", escaped_for_terminal(text)));
}

void Console::show_status(std::string_view text) {
  if (!error_is_terminal_) return;
  write_all(STDERR_FILENO, fmt::format("\r{}\x1b[K", escaped_for_terminal(text)));
  status_shown_ = true;
}

void Console::clear_status() {
  if (std::exchange(status_shown_, false)) write_all(STDERR_FILENO, "\r\x1b[K");
}

ProgressDisplay::ProgressDisplay(Console& console, std::string verb, std::string things, bool quiet)
    : console_(console), verb_(std::move(verb)), things_(std::move(things)), quiet_(quiet) {}

ProgressDisplay::~ProgressDisplay() { console_.clear_status(); }

void ProgressDisplay::update(uint64_t done, uint64_t total) {
  if (quiet_ || total == 0) return;
  const Clock::time_point now = Clock::now();
  if (console_.has_status_line()) {
    if (now - last_ < kStatusInterval && done < total) return;
    console_.show_status(line(done, total, now));
  } else {
    const uint64_t tenth = done / std::max<uint64_t>(total / 10, 1);
    const auto silence = now - last_;
    if (done < total && silence < kShortestSilence) return;
    if (tenth == last_tenth_ && silence < kLongestSilence) return;
    last_tenth_ = tenth;
    console_.say(line(done, total, now));
  }
  last_ = now;
}

}  // namespace fuelrail::cli
