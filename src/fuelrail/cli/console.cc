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
#include "fuelrail/base/utf8.h"
#include "fuelrail/cli/signals.h"

namespace fuelrail::cli {
namespace {

constexpr size_t kGatherBytes = 64 * 1024;
constexpr int kPatienceMs = 100;
constexpr std::chrono::milliseconds kStatusInterval{100};
constexpr std::chrono::seconds kLongestSilence{10};
constexpr std::chrono::seconds kShortestSilence{1};  // except before the last line

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

bool controls_terminal(uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;  // C0, DEL, C1
  return code == 0x061c || code == 0x200e || code == 0x200f ||     // bidirectional marks
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(uint32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\u{:04x}", code);
  }
}

// Makes `text` safe for a terminal: names of files and classes come from outside and may contain
// sequences that move the cursor, set the title or reverse the displayed order. Escapes
//   control characters (C0, DEL, C1) and bidirectional marks   as \n, \r, \t, or \u and four digits
//   bytes that are not UTF-8                                    as \x and two digits
// and nothing else. A JSON text stays the same document, because these characters occur only in its
// strings, and \u is JSON's own escape. The escaping cannot be undone: a name may itself contain a
// backslash.
std::string escaped_for_terminal(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const auto* const end = std::find_if_not(text.begin(), text.end(), is_plain);
    safe.append(text.begin(), end);
    text.remove_prefix(static_cast<size_t>(end - text.begin()));
    if (text.empty()) break;
    const Utf8Character character = first_character(text);
    const size_t bytes = std::max<size_t>(character.bytes, 1);
    if (character.bytes == 0) {
      safe += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
    } else if (controls_terminal(character.code)) {
      safe += escaped(character.code);
    } else {
      safe += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return safe;
}

// Waits until PIPE_BUF bytes can be written without blocking. Returns: false if the command is
// interrupted while it waits.
bool wait_for_room(int fd) {
  pollfd poll{.fd = fd, .events = POLLOUT, .revents = 0};
  while (::poll(&poll, 1, kPatienceMs) <= 0) {
    if (interrupted()) return false;
  }
  return true;
}

// Returns: 0, or the errno of a failed write; EINTR if the command was interrupted while no more
// bytes could be written.
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
    throw IoError("cannot write to standard output", {.found = std::strerror(error)});
  }
}

void Console::say(std::string_view text) {
  clear_status();
  // A failure is ignored: it cannot be reported anywhere.
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
