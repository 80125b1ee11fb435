#include "fuelrail/engine/bad_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

constexpr size_t kNamed = 5;  // bad records named in the error

// The place of an entry's record, for an error, as far as it can be found.
ErrorDetail place_of(const Container& container, const Entry& entry) {
  try {
    if (entry.record < container.size()) return container.place(entry.record).detail();
  } catch (const std::exception&) {  // report the original error instead
  }
  return {.record = entry.record};
}

std::string text_of(const Container& container, const Failure& failure) {
  try {
    throw_with_place(failure.error, container, failure.entry);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

void throw_with_place(const std::exception_ptr& error, const Container& container,
                      const Entry& entry) {
  const ErrorDetail place = place_of(container, entry);
  try {
    std::rethrow_exception(error);
  } catch (Error& known) {
    known.add(place);
    throw;
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError("not enough memory for this record", place);
  } catch (const std::exception& other) {
    throw Error(other.what(), place);
  }
}

bool is_skippable(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const OutOfMemoryError&) {
    return false;
  } catch (const StateError&) {
    return false;
  } catch (const MissingCodecError&) {
    return false;
  } catch (const Error&) {
    return true;
  } catch (...) {
    return false;
  }
}

void BadRecords::note(uint32_t epoch, std::vector<Failure> failures) {
  if (epoch != std::exchange(epoch_, epoch)) count_anew();
  std::sort(failures.begin(), failures.end(), [](const Failure& a, const Failure& b) {
    return std::pair(a.row, a.entry.substitute) < std::pair(b.row, b.entry.substitute);
  });
  for (const Failure& failure : failures) {
    const Entry& entry = failure.entry;
    const auto [at, is_new] = where_.try_emplace(entry.record, list_.size());
    if (is_new) {
      list_.push_back({.record = entry.record,
                       .epoch = entry.epoch,
                       .position = entry.position,
                       .error = text_of(container_, failure)});
    }
    ++list_[at->second].times;
    if (!counted_.insert(entry.record).second) continue;
    if (last_.size() == kNamed) last_.erase(last_.begin());
    last_.push_back(at->second);
  }
}

void BadRecords::go_on_from(const BadRecords& before) {
  epoch_ = before.epoch_;
  counted_ = before.counted_;
  last_ = before.last_;
  list_ = before.list_;
  where_ = before.where_;
}

std::exception_ptr BadRecords::too_many_error() const {
  std::string last;
  for (const size_t i : last_) {
    std::string_view text = list_[i].error;
    if (text.ends_with('.')) text.remove_suffix(1);
    last += fmt::format("{} {}", last.empty() ? ":" : " |", text);
  }
  return std::make_exception_ptr(TooManyBadRecordsError(
      fmt::format("epoch {} has too many bad records", epoch_),
      {.expected = fmt::format("at most {} (`max_bad`)", max_bad_),
       .found = counted_.size() == last_.size() ? fmt::format("{}{}", counted_.size(), last)
                                                : fmt::format("{}, the last {} of which are{}",
                                                              counted_.size(), last_.size(), last),
       .remedy = "Find all bad records with `fuelrail verify --decode`, or raise `max_bad`"}));
}

}  // namespace fuelrail
