// For tests: the built `fuelrail` binary as a child process.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::testing {

struct CommandResult {
  int code = -1;   // the exit code, or -1
  int signal = 0;  // that ended it, or 0
  std::string out;
  std::string err;
};

// One run of the command. Its standard output and error go to files of its own.
class Command {
 public:
  // `before_exec` runs in the child: limits, other descriptors.
  explicit Command(std::vector<std::string> arguments,
                   const std::function<void()>& before_exec = nullptr) {
    arguments.insert(arguments.begin(), FUELRAIL_BINARY_DIR "/bin/fuelrail");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int out = open_for_writing("out");
    const int err = open_for_writing("err");
    child_ = ::fork();
    if (child_ != 0) {
      ::close(out);
      ::close(err);
      if (child_ < 0) throw std::runtime_error("fork failed");
      return;
    }
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    if (before_exec) before_exec();
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  // Requires: `wait` was not called. (The child may have ended; it is still there to be waited
  // for.)
  void send(int signal) { ::kill(child_, signal); }

  // And waits until it has arrived: a signal that is still pending swallows the next of its kind.
  void deliver(int signal) {
    send(signal);
    while (is_pending(signal) && !has_ended()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // Whether it has ended, without waiting.
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
  }

  CommandResult wait() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    CommandResult result;
    if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    result.out = file_contents(directory_ / "out");
    result.err = file_contents(directory_ / "err");
    return result;
  }

 private:
  bool is_pending(int signal) const {
    constexpr std::string_view kKey = "ShdPnd:";  // proc(5)
    const std::string status = file_contents("/proc/" + std::to_string(child_) + "/status");
    const uint64_t pending =
        std::stoull(status.substr(status.find(kKey) + kKey.size()), nullptr, 16);
    return (pending >> (signal - 1) & 1) != 0;
  }

  int open_for_writing(const char* name) const {
    return ::open((directory_ / name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  }

  TemporaryDirectory directory_;
  pid_t child_ = -1;
};

inline CommandResult run_command(std::vector<std::string> arguments,
                                 const std::function<void()>& before_exec = nullptr) {
  return Command(std::move(arguments), before_exec).wait();
}

}  // namespace fuelrail::testing
