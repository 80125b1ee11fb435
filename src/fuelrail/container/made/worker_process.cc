#include "fuelrail/container/made/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/made/worker_messages.h"

namespace fuelrail::made {
namespace {

constexpr std::chrono::milliseconds kTimeToEnd(200);
// A process that the kernel cannot end yet, because it waits for storage, is left behind.
constexpr std::chrono::milliseconds kTimeAfterKill(500);
constexpr int kLeastCopy = 10;  // beyond the descriptors that the worker inherits

[[noreturn]] void throw_no_process(const std::string& what, int number) {
  throw StateError(what, {.found = std::generic_category().message(number),
                          .remedy = "Use fewer workers, or raise the process limits (ulimit -a)"});
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor& operator=(Descriptor&&) = delete;
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

Descriptor copy_of(int number) {
  const int copy = ::fcntl(number, F_DUPFD_CLOEXEC, kLeastCopy);
  if (copy < 0) throw_no_process("a worker process cannot be started", errno);
  return Descriptor(copy);
}

class SpawnOptions {
 public:
  SpawnOptions(int socket, int greeting) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, kWorkerSocket);
    ::posix_spawn_file_actions_adddup2(&actions_, greeting, kWorkerGreeting);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawnattr_init(&attributes_);
    // Ctrl-C is for the parent, which then ends its workers. The mask of the thread that starts the
    // worker is not the worker's.
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGINT);
    ::posix_spawnattr_setsigmask(&attributes_, &blocked);
    ::posix_spawnattr_setpgroup(&attributes_, 0);  // with what the worker starts
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnOptions() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnOptions& operator=(SpawnOptions&&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::string signal_name(int number) {
  switch (number) {
    case SIGKILL:
      return "SIGKILL";
    case SIGSEGV:
      return "SIGSEGV";
    case SIGABRT:
      return "SIGABRT";
    case SIGBUS:
      return "SIGBUS";
    case SIGTERM:
      return "SIGTERM";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "";
  }
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerProgram& program, int greeting) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw_no_process("a worker process cannot be started", errno);
  }
  Descriptor own(ends[0]);
  const Descriptor workers(ends[1]);
  const Descriptor socket = copy_of(workers.number());
  const Descriptor greeting_copy = copy_of(greeting);
  const SpawnOptions options(socket.number(), greeting_copy.number());
  std::vector<std::string> words{program.executable};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  words.push_back(std::to_string(::getpid()));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int failure = ::posix_spawn(&id_, program.executable.c_str(), options.actions(),
                                    options.attributes(), arguments.data(), environ);
  if (failure != 0) {
    throw_no_process(fmt::format("the worker process {} cannot be started", program.executable),
                     failure);
  }
  socket_ = own.release();
}

WorkerProcess::~WorkerProcess() {
  wait_for_end();
  ::close(socket_);
}

void WorkerProcess::hang_up() { ::shutdown(socket_, SHUT_RDWR); }

void WorkerProcess::kill() {
  if (!has_ended()) ::kill(id_, SIGKILL);
}

bool WorkerProcess::has_ended() {
  if (ended_) return true;
  siginfo_t end{};
  // While nobody has waited for the process, its number and that of its group are not given to
  // others.
  if (::waitid(P_PID, static_cast<id_t>(id_), &end, WEXITED | WNOHANG | WNOWAIT) == 0) {
    if (end.si_pid == 0) return false;
    ::kill(-id_, SIGKILL);
  }
  int status = 0;
  const pid_t found = ::waitpid(id_, &status, WNOHANG);
  if (found == 0 || (found < 0 && errno == EINTR)) return false;
  ended_ = true;
  if (found > 0) status_ = status;  // otherwise the program has waited for it, or ignores SIGCHLD
  return true;
}

bool WorkerProcess::ends_within(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds kEndPoll(2);
  const auto until = std::chrono::steady_clock::now() + time;
  while (!has_ended()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(kEndPoll);
  }
  return true;
}

std::string WorkerProcess::wait_for_end() {
  hang_up();
  if (!ends_within(kTimeToEnd)) {
    kill();
    ends_within(kTimeAfterKill);
  }
  if (!status_) return "an unknown status";
  if (!WIFSIGNALED(*status_)) return fmt::format("exit code {}", WEXITSTATUS(*status_));
  const int number = WTERMSIG(*status_);
  const std::string name = signal_name(number);
  return name.empty() ? fmt::format("signal {}", number)
                      : fmt::format("signal {} ({})", number, name);
}

}  // namespace fuelrail::made
