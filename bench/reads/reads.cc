// Measures the costs of reading and of slow storage, on a file of your own:
//
//   fuelrail_reads FILE.rec [ROUNDS]
//
// 1. CPU time per thousand records, for each way of getting a record's bytes. Each record is read
//    at a random place of a file in the page cache and then scanned once.
// 2. The loader (random-resized-crop 224, flip, normalise, batches of 256) with each backend:
//    images per second and CPU time.
// 3. The same with a source that adds 20 ms to every read. Parts 2 and 3 take turns. Each has its
//    own engine, which runs two epochs; the second is measured. The printed ratio is the median
//    over the rounds of the slow source's speed to the local speed.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/subset.h"
#include "fuelrail/testing/hooked_container.h"
#include "measuring.h"

namespace fuelrail {
namespace {

constexpr auto kLatency = std::chrono::milliseconds(20);
constexpr size_t kRecords = 4'000;   // number of records read in part 1
constexpr uint64_t kLoaded = 2'560;  // number of records in an epoch in parts 2 and 3

int64_t page_faults() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

// --- 1: bytes -----------------------------------------------------------------------------------

volatile uint32_t looked_through = 0;

struct Reading {
  std::vector<Extent> extents;
  size_t longest = 0;
};

Reading random_records(const Container& container) {
  Reading reading;
  std::mt19937_64 random(1);
  for (size_t i = 0; i < kRecords; ++i) {
    reading.extents.push_back(container.extent(random() % container.size()));
    reading.longest = std::max(reading.longest, static_cast<size_t>(reading.extents[i].length));
  }
  return reading;
}

// Uses eight buffers in turn, like workers with records that were read ahead.
void read_recycled(const Reading& reading) {
  std::vector<std::vector<std::byte>> buffers(8, std::vector<std::byte>(reading.longest));
  for (size_t i = 0; i < reading.extents.size(); ++i) {
    const Extent& extent = reading.extents[i];
    const MutableBytes into =
        MutableBytes(buffers[i % 8]).first(static_cast<size_t>(extent.length));
    extent.source->read(extent.offset, into);
    looked_through = crc32(into);
  }
}

void read_fresh(const Reading& reading) {
  for (const Extent& extent : reading.extents) {
    const auto length = static_cast<size_t>(extent.length);
    void* const memory =
        ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const MutableBytes into(static_cast<std::byte*>(memory), length);
    extent.source->read(extent.offset, into);
    looked_through = crc32(into);
    ::munmap(memory, length);
  }
}

// Maps the whole file once; gives `advice` for each record before it is scanned.
void look_at_map(const Reading& reading, int advice) {
  const Source& source = *reading.extents.front().source;
  const auto size = static_cast<size_t>(source.size_bytes());
  void* const map = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, source.descriptor(), 0);
  const Bytes bytes(static_cast<const std::byte*>(map), size);
  for (const Extent& extent : reading.extents) {
    const Bytes record =
        bytes.subspan(static_cast<size_t>(extent.offset), static_cast<size_t>(extent.length));
    if (advice != 0) {
      const auto at = reinterpret_cast<uintptr_t>(record.data());
      const uintptr_t page = at / 4096 * 4096;
      ::madvise(reinterpret_cast<void*>(page), at - page + record.size(), advice);
    }
    looked_through = crc32(record);
  }
  ::munmap(map, size);
}

void look_at_memory(const Reading& reading) {
  const std::vector<std::byte> record(reading.longest);
  for (const Extent& extent : reading.extents) {
    looked_through = crc32(Bytes(record).first(static_cast<size_t>(extent.length)));
  }
}

void measure_ways(const Container& container, int rounds) {
  struct Way {
    const char* name;
    std::function<void(const Reading&)> run;
    std::vector<double> seconds{};
  };
  std::vector<Way> ways;
  ways.push_back({"no read: only the scan", look_at_memory});
  ways.push_back({"pread into reused buffers", read_recycled});
  ways.push_back({"pread into fresh memory", read_fresh});
  ways.push_back({"a map of the file", [](const Reading& r) { look_at_map(r, 0); }});
  ways.push_back(
      {"a map, MADV_POPULATE_READ", [](const Reading& r) { look_at_map(r, MADV_POPULATE_READ); }});
  ways.push_back({"a map, MADV_WILLNEED", [](const Reading& r) { look_at_map(r, MADV_WILLNEED); }});
  const Reading reading = random_records(container);
  read_recycled(reading);  // into the page cache
  for (int round = 0; round < rounds; ++round) {
    for (Way& way : ways) {
      const double before = cpu_seconds();
      way.run(reading);
      way.seconds.push_back(cpu_seconds() - before);
    }
  }
  fmt::print("CPU ms a thousand records (median of {} rounds):\n", rounds);
  for (const Way& way : ways) {
    fmt::print("  {:8.2f}  {}\n", 1e6 * median(way.seconds) / kRecords, way.name);
  }
}

// --- 2 and 3: the loader ------------------------------------------------------------------------

struct Epoch {
  double images_per_second = 0;
  double cpu_ms = 0;  // per thousand images
  double faults = 0;  // page faults per thousand images
};

class Contender {
 public:
  Contender(std::string name, std::shared_ptr<const Container> container, ReadBackend backend)
      : name_(std::move(name)), container_(std::move(container)), backend_(backend) {}

  // Runs an engine's first two epochs. It has no threads left while the other engines are measured.
  void run() {
    const auto loader = make_loader(container_, {.backend = backend_});
    first.push_back(epoch_of(*loader));
    second.push_back(epoch_of(*loader));
    const Stats stats = loader->stats();
    read_by_ = fmt::format("{}, depth {}", stats.read_backend, stats.reads_at_once);
  }
  std::string line() const {
    return fmt::format(
        "  {:26} {:6.0f} images/s (first epoch {:.0f}), {:6.1f} ms, {:5.0f} faults, {}", name_,
        middle(second, &Epoch::images_per_second), middle(first, &Epoch::images_per_second),
        middle(second, &Epoch::cpu_ms), middle(second, &Epoch::faults), read_by_);
  }

  std::vector<Epoch> first;
  std::vector<Epoch> second;

 private:
  static Epoch epoch_of(Engine& engine) {
    const double cpu = cpu_seconds();
    const int64_t faults = page_faults();
    const auto begin = std::chrono::steady_clock::now();
    size_t images = 0;
    while (const auto batch = engine.next().batch) images += batch->rows();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto count = static_cast<double>(images);
    return {count / seconds, 1e6 * (cpu_seconds() - cpu) / count,
            1e3 * static_cast<double>(page_faults() - faults) / count};
  }
  static double middle(const std::vector<Epoch>& epochs, double Epoch::*value) {
    std::vector<double> values;
    for (const Epoch& epoch : epochs) values.push_back(epoch.*value);
    return median(values);
  }

  std::string name_;
  std::shared_ptr<const Container> container_;
  ReadBackend backend_;
  std::string read_by_;
};

// Delays every read.
std::shared_ptr<const Container> slowed(std::shared_ptr<const Container> container) {
  return std::make_shared<HookedContainer>(
      std::move(container),
      ContainerHooks{.read = [](uint64_t, uint64_t) { std::this_thread::sleep_for(kLatency); }});
}

void measure_loader(const std::shared_ptr<const Container>& container, int rounds) {
  std::vector<std::unique_ptr<Contender>> all;
  const auto add = [&](const char* name, std::shared_ptr<const Container> from, ReadBackend by) {
    all.push_back(std::make_unique<Contender>(name, std::move(from), by));
  };
  add("local, pread", container, ReadBackend::kPread);
  if (io_uring_refusal().empty()) add("local, io_uring", container, ReadBackend::kIoUring);
  add("20 ms added to every read", slowed(container), ReadBackend::kAuto);
  for (int round = 0; round < rounds; ++round) {
    for (const auto& contender : all) contender->run();
  }
  fmt::print(
      "The loader, CPU ms and page faults a thousand images (median of {} epochs after the "
      "first):\n",
      rounds);
  for (const auto& contender : all) fmt::print("{}\n", contender->line());
  std::vector<double> ratios;
  for (size_t i = 0; i < all[0]->second.size(); ++i) {
    ratios.push_back(all.back()->second[i].images_per_second / all[0]->second[i].images_per_second);
  }
  fmt::print("  20 ms more a read: {:.3f} of the local speed\n", median(ratios));
}

int run(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fmt::print(stderr, "usage: fuelrail_reads FILE.rec [ROUNDS]\n");
    return 2;
  }
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  const auto container = open_container(argv[1]);
  measure_ways(*container, rounds);
  std::fflush(stdout);
  measure_loader(slice(container, 0, std::min(container->size(), kLoaded), 1), rounds);
  return 0;
}

}  // namespace
}  // namespace fuelrail

int main(int argc, char** argv) {
  try {
    return fuelrail::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fuelrail_reads: {}\n", error.what());
    return 1;
  }
}
