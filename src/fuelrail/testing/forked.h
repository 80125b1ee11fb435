// Runs a part of a test in a forked child, for changes that a process cannot undo: dropped
// privileges, lower limits, being killed.
#pragma once

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <thread>

namespace fuelrail {

// Returns: the value that `body` returned in the child, or "uncaught: ..." for an exception; empty
// if the child was killed. Requires: the result is shorter than a pipe's buffer (4,096 bytes).
inline std::string in_forked_child(const std::function<std::string()>& body) {
  int result[2];
  if (::pipe(result) != 0) return "pipe failed";
  const pid_t child = ::fork();
  if (child == 0) {
    std::string said;
    try {
      said = body();
    } catch (const std::exception& error) {
      said = std::string("uncaught: ") + error.what();
    }
    const ssize_t put = ::write(result[1], said.data(), said.size());
    ::_exit(put == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  ::close(result[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(result[0], buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<size_t>(got));
  }
  ::close(result[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return said;
}

// Whether a child forked now can start a thread: qemu-user 7.2 aborts in a child whose parent has
// threads.
inline bool child_can_start_threads() {
  return in_forked_child([] {
           std::thread([] {}).join();
           return std::string("yes");
         }) == "yes";
}

// As in_forked_child, but drops root's privileges if the test runs as root.
inline std::string in_unprivileged_child(const std::function<std::string()>& body) {
  return in_forked_child([&]() -> std::string {
    constexpr unsigned kNobody = 65534;
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
      return "cannot drop privileges";
    }
    return body();
  });
}

}  // namespace fuelrail
