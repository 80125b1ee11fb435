// A worker's process and its connection.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace fuelrail::made {

// The program that workers run: the path of its executable, and its arguments. The number of the
// parent process is appended to the arguments. It inherits the environment, and two descriptors
// (worker_messages.h); its standard input is empty.
struct WorkerProgram {
  std::string executable;
  std::vector<std::string> arguments;
};

// Threads: one at a time.
class WorkerProcess {
 public:
  // Starts the program in a new process. It is not a fork of this one, whose threads may hold
  // locks. `greeting`: the descriptor to pass. Errors: StateError.
  WorkerProcess(const WorkerProgram& program, int greeting);

  // Ends the process: closes the connection and, if it has not ended within kTimeToEnd, kills it.
  // Processes that it has started are killed, as far as they are in its group.
  ~WorkerProcess();
  WorkerProcess& operator=(WorkerProcess&&) = delete;

  int socket() const { return socket_; }
  pid_t id() const { return id_; }

  // Asks the process to end, without waiting, so that several can end at the same time.
  void hang_up();
  void kill();
  // Whether the process has ended. Does not wait.
  bool has_ended();

  // Waits for the end of the process, but kills it after kTimeToEnd. Returns: how it ended, such as
  // "exit code 3" or "signal 9 (SIGKILL)".
  std::string wait_for_end();

 private:
  bool ends_within(std::chrono::milliseconds time);

  int socket_ = -1;
  pid_t id_ = -1;
  std::optional<int> status_;  // of the ended process, as waitpid gives it
  bool ended_ = false;
};

}  // namespace fuelrail::made
