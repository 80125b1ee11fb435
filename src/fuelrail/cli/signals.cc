#include "fuelrail/cli/signals.h"

#include <unistd.h>

#include <atomic>

#include "fuelrail/cli/console.h"

namespace fuelrail::cli {
namespace {

std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not wait");

extern "C" void note_interrupt(int) {
  if (interrupts.fetch_add(1, std::memory_order_relaxed) > 0) ::_exit(kInterruptedByUser);
}

void ignore(int signal, struct sigaction& before) {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  ::sigaction(signal, &action, &before);
}

}  // namespace

SignalScope::SignalScope() {
  interrupts.store(0, std::memory_order_relaxed);
  ignore(SIGPIPE, pipe_);
  ignore(SIGXFSZ, file_size_);
  ::sigaction(SIGINT, nullptr, &interrupt_);
  if (interrupt_.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
}

SignalScope::~SignalScope() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGXFSZ, &file_size_, nullptr);
  ::sigaction(SIGPIPE, &pipe_, nullptr);
}

bool interrupted() { return interrupts.load(std::memory_order_relaxed) > 0; }

void throw_if_interrupted() {
  if (interrupted()) throw Interrupted();
}

}  // namespace fuelrail::cli
