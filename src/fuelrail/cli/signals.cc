#include "fuelrail/cli/signals.h"

#include <unistd.h>

#include <atomic>

#include "fuelrail/cli/console.h"

namespace fuelrail::cli {
namespace {

std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not wait for a lock");

int exit_code_of(int signal) { return kSignalled + signal; }

extern "C" void note_interrupt(int signal) {
  int none = 0;
  const bool first = noted.compare_exchange_strong(none, signal, std::memory_order_relaxed);
  if (!first && signal == SIGINT) ::_exit(exit_code_of(signal));
}

void note(int signal, struct sigaction& before) {
  ::sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

void ignore(int signal, struct sigaction& before) {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  ::sigaction(signal, &action, &before);
}

}  // namespace

SignalScope::SignalScope() {
  noted.store(0, std::memory_order_relaxed);
  ignore(SIGPIPE, pipe_);
  ignore(SIGXFSZ, file_size_);
  note(SIGINT, interrupt_);
  note(SIGTERM, termination_);
}

SignalScope::~SignalScope() {
  ::sigaction(SIGTERM, &termination_, nullptr);
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGXFSZ, &file_size_, nullptr);
  ::sigaction(SIGPIPE, &pipe_, nullptr);
}

bool interrupted() { return noted.load(std::memory_order_relaxed) != 0; }

int interrupted_exit_code() { return exit_code_of(noted.load(std::memory_order_relaxed)); }

void throw_if_interrupted() {
  if (interrupted()) throw Interrupted();
}

}  // namespace fuelrail::cli
