// A queue with reserved capacity. Adding an item within that capacity allocates nothing, so that no
// item is lost for lack of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace fuelrail {

// Threads: one at a time.
template <typename T>
class ReservedQueue {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>);

 public:
  // Reserves capacity for `count` items. Errors: std::bad_alloc, which leaves the queue unchanged.
  void reserve(size_t count) {
    // Twice the count, so that `push` moves each item at most once on average.
    if (items_.capacity() < 2 * count) items_.reserve(std::max(2 * count, 2 * items_.capacity()));
  }

  bool empty() const { return first_ == items_.size(); }
  size_t size() const { return items_.size() - first_; }

  // Requires: capacity is reserved for it.
  void push(T item) noexcept {
    if (items_.size() == items_.capacity()) {
      std::move(items_.begin() + static_cast<ptrdiff_t>(first_), items_.end(), items_.begin());
      items_.resize(items_.size() - first_);
      first_ = 0;
    }
    items_.push_back(std::move(item));
  }

  // Takes the oldest item. Requires: !empty().
  T pop() noexcept {
    T item = std::move(items_[first_++]);
    if (empty()) {
      items_.clear();
      first_ = 0;
    }
    return item;
  }

 private:
  std::vector<T> items_;
  size_t first_ = 0;  // earlier items were taken
};

}  // namespace fuelrail
