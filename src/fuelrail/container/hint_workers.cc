#include "fuelrail/container/hint_workers.h"

#include <chrono>
#include <optional>
#include <unordered_map>
#include <utility>

#include "fuelrail/base/guarded.h"
#include "fuelrail/base/ordered_work.h"
#include "fuelrail/container/payload.h"

namespace fuelrail {
namespace {

constexpr uint64_t kWaitingBytes = uint64_t{32} << 20;  // of images that are not done
constexpr uint64_t kItemBytes = 256;                    // of an item, besides its image
constexpr std::chrono::milliseconds kPatience{50};

struct Item {
  uint64_t record = 0;
  uint32_t crc = 0;
  std::vector<std::byte> image;
};

struct Made {
  uint64_t record = 0;
  uint32_t crc = 0;
  uint64_t bytes = 0;  // of the item
  std::vector<std::byte> hints{};
  bool ended = false;  // there is no such item
};

// The items that wait for a worker. Threads: any number at once.
class Waiting {
 public:
  void put(uint64_t number, Item item) {
    {
      const Lock lock(mutex_);
      items_.emplace(number, std::move(item));
    }
    changed_.notify_all();
  }
  void end() {
    {
      const Lock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  }
  // Waits for the item; empty if it does not come.
  std::optional<Item> take(uint64_t number) {
    const Lock lock(mutex_);
    while (!ended_ && !items_.contains(number)) changed_.wait(mutex_);
    auto node = items_.extract(number);
    if (node.empty()) return std::nullopt;
    return std::move(node.mapped());
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::unordered_map<uint64_t, Item> items_ FUELRAIL_GUARDED_BY(mutex_);
  bool ended_ FUELRAIL_GUARDED_BY(mutex_) = false;
};

}  // namespace

struct HintWorkers::Work {
  explicit Work(const HintOptions& options)
      : images(
            {.items = UINT64_MAX, .threads = options.threads},
            [this, maker = options.maker]() -> OrderedWork<Made>::Worker {
              return [this, make = maker()](uint64_t number) { return made(number, make); };
            },
            [](const Made& one) { return one.hints.size(); },
            [](const Made& one) { return one.ended; }) {}
  ~Work() { waiting.end(); }  // before `images` waits for its threads
  Work& operator=(Work&&) = delete;

  Made made(uint64_t number, const MakeHints& make) {
    const std::optional<Item> item = waiting.take(number);
    if (!item) return {.ended = true};
    return {.record = item->record,
            .crc = item->crc,
            .bytes = kItemBytes + item->image.size(),
            .hints = make(item->image)};
  }

  OnlyImage only_image;
  uint64_t added = 0;          // items
  uint64_t taken = 0;          // results
  uint64_t bytes_at_work = 0;  // of items whose results were not taken
  Waiting waiting;
  OrderedWork<Made> images;  // last member: its threads use the others
};

HintWorkers::HintWorkers(const HintOptions& options) {
  if (options.maker) work_ = std::make_unique<Work>(options);
}

HintWorkers::~HintWorkers() = default;

void HintWorkers::take_next() {
  std::optional<Made> made;
  while (!made) made = work_->images.take(kPatience);
  ++work_->taken;
  work_->bytes_at_work -= made->bytes;
  made_.add(made->record, made->crc, made->hints);
}

void HintWorkers::add(uint64_t record, Bytes payload, uint32_t crc) {
  if (work_ == nullptr) return;
  const Bytes image = work_->only_image.in(payload);
  if (image.empty()) return;
  const uint64_t bytes = kItemBytes + image.size();
  while (work_->taken < work_->added && work_->bytes_at_work + bytes > kWaitingBytes) take_next();
  work_->bytes_at_work += bytes;
  work_->waiting.put(work_->added++, {record, crc, {image.begin(), image.end()}});
}

HintsBuilder HintWorkers::finish() {
  if (work_ == nullptr) return {};
  work_->waiting.end();
  while (work_->taken < work_->added) take_next();
  return std::move(made_);
}

}  // namespace fuelrail
