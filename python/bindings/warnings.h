// Keeps warnings that the core gives on any of its threads until Python can issue them.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "fuelrail/base/listener.h"

namespace fuelrail::python {

// Threads: any. Uses no lock: a lock that another thread held during a fork would never be released
// in the child.
class Warnings {
 public:
  ~Warnings() { free(last_.load(std::memory_order_acquire)); }
  Warnings& operator=(Warnings&&) = delete;

  void add(const std::string& text) {
    auto* const said = new Said{text, last_.load(std::memory_order_relaxed)};
    while (!last_.compare_exchange_weak(said->before, said, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
  }
  // A callback for an option `warn`.
  static Warn into(std::shared_ptr<Warnings> all) {
    return [all = std::move(all)](const std::string& text) { all->add(text); };
  }
  // Returns the warnings since the last call, in order. Requires: the caller holds the GIL.
  Strings take() {
    Said* const last = last_.exchange(nullptr, std::memory_order_acquire);
    std::vector<std::string> texts;
    for (const Said* said = last; said != nullptr; said = said->before) texts.push_back(said->text);
    free(last);
    Strings list;
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

// Appends the core's warnings to a Python list, even if the work fails. Python code then issues the
// warnings, where they may become exceptions. Requires: constructed and destroyed with the GIL
// held.
class WarningsInto {
 public:
  explicit WarningsInto(nb::list list) : list_(std::move(list)) {}
  ~WarningsInto() {
    try {
      for (const nb::handle text : said_->take()) list_.append(text);
    } catch (const std::exception&) {  // not enough memory for the warnings
    }
  }
  WarningsInto& operator=(WarningsInto&&) = delete;

  Warn warn() const { return Warnings::into(said_); }

 private:
  nb::list list_;
  const std::shared_ptr<Warnings> said_ = std::make_shared<Warnings>();
};

}  // namespace fuelrail::python
