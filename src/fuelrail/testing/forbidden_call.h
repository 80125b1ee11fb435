// A forked child in which one system call is forbidden, as by a container's seccomp profile or by a
// kernel without the call.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <string>

#include "fuelrail/testing/forked.h"

namespace fuelrail {

// Makes the call fail with `error` in this process from now on. Returns: whether this works; not
// every kernel filters calls, and qemu-user accepts a filter but ignores it. Requires: the call
// with all arguments 0 only fails, with another error.
inline bool forbid_call(long call, int error) {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = std::size(steps), .filter = steps};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
         ::syscall(call, 0, 0, 0, 0, 0, 0) == -1 && errno == error;
}

// As in_forked_child, with a child in which the call fails with `error`. Returns: empty if the
// kernel cannot forbid the call; the test should then be skipped.
inline std::optional<std::string> in_child_without(long call, int error,
                                                   const std::function<std::string()>& body) {
  static constexpr const char* kAllowed = "the call cannot be forbidden";
  std::string said =
      in_forked_child([&] { return forbid_call(call, error) ? body() : std::string(kAllowed); });
  if (said == kAllowed) return std::nullopt;
  return said;
}

// The reason for skipping such a test.
inline constexpr const char* kNoFilters = "this kernel does not filter system calls (seccomp)";

}  // namespace fuelrail
