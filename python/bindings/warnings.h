// What the core says without failing, on any of its threads, until Python can hear it.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"

namespace fuelrail::python {

// Threads: any. Without a lock: one that another thread held while the process forked would be held
// for ever in the child.
class Warnings {
 public:
  Warnings() = default;
  ~Warnings() { free(last_.load(std::memory_order_acquire)); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;

  void add(const std::string& text) {
    auto* const said = new Said{text, last_.load(std::memory_order_relaxed)};
    while (!last_.compare_exchange_weak(said->before, said, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
  }
  // Those since the last call, in their order. The GIL is held.
  nb::list take() {
    Said* const last = last_.exchange(nullptr, std::memory_order_acquire);
    std::vector<std::string> texts;
    for (const Said* said = last; said != nullptr; said = said->before) texts.push_back(said->text);
    free(last);
    nb::list list;
    for (auto text = texts.rbegin(); text != texts.rend(); ++text) list.append(fs_text(*text));
    return list;
  }

 private:
  struct Said {
    std::string text;
    Said* before;
  };
  static void free(Said* last) {
    while (last != nullptr) delete std::exchange(last, last->before);
  }

  std::atomic<Said*> last_ = nullptr;
};

// Runs `call(warn)` as PythonTurns::run does, and appends to `warnings` what it has said, also
// where it fails: Python issues the warnings, where an exception may leave. Returns: what `call`
// returns. Requires: `call` owns all that it uses.
template <typename Call>
auto run_warning(const PythonTurns& turns, nb::list& warnings, Call call) {
  const auto said = std::make_shared<Warnings>();
  const auto pass_on = [&] {
    for (const nb::handle text : said->take()) warnings.append(text);
  };
  try {
    auto result = turns.run([said, call = std::move(call)] {
      return call([said](const std::string& text) { said->add(text); });
    });
    pass_on();
    return result;
  } catch (...) {
    pass_on();
    throw;
  }
}

}  // namespace fuelrail::python
