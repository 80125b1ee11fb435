// Reading a file that is not in the page cache:
//
//   fuelrail_cold_reads FILE.rec [ROUNDS]        as root: it drops the page cache before each run
//
// 1. Records at random places, 1 to 256 reads in flight: by threads (one per read) and by
//    io_uring, each through the page cache and with direct I/O.
// 2. The first epoch of the loader (random-resized-crop 224, flip, normalise, batches of 256).
// Contenders take turns, and another one begins each round. Each is compared, within each round,
// with threads that read through the page cache; the printed ratio is the median over the rounds.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fuelrail/container/open.h"
#include "fuelrail/storage/read_memory.h"
#include "fuelrail/storage/read_queue.h"
#include "measuring.h"

namespace fuelrail {
namespace {

void drop_page_cache(const Container& container) {
  ::posix_fadvise(container.extent(0).source->descriptor(), 0, 0, POSIX_FADV_DONTNEED);
  std::FILE* const file = std::fopen("/proc/sys/vm/drop_caches", "w");
  if (file == nullptr || std::fputs("1\n", file) < 0 || std::fclose(file) != 0) {
    throw IoError("cannot drop the page cache", {.remedy = "Run this as root"});
  }
}

struct Way {
  std::string name;
  ReadBackend backend;
  bool direct;
  std::vector<double> per_second{};  // records
  std::vector<double> cpu_ms{};      // a thousand records
};

std::vector<Way> ways() {
  std::vector<Way> all{{"threads", ReadBackend::kPread, false},
                       {"threads, direct", ReadBackend::kPread, true}};
  if (io_uring_refusal().empty()) {
    all.push_back({"io_uring", ReadBackend::kIoUring, false});
    all.push_back({"io_uring, direct", ReadBackend::kIoUring, true});
  }
  return all;
}

// All ways, rotated by `round`: the first one of a round may read for the others too, into a cache
// below this machine's, such as a virtual disk's.
std::vector<std::reference_wrapper<Way>> turns(std::vector<Way>& all, int round) {
  std::vector<std::reference_wrapper<Way>> order(all.begin(), all.end());
  std::rotate(order.begin(), order.begin() + round % static_cast<int>(all.size()), order.end());
  return order;
}

// Adds the time and CPU time of `run` from its call of `start`. It returns the number of records.
template <typename Run>
void measure(Way& way, const Container& container, const Run& run) {
  drop_page_cache(container);
  double cpu = 0;
  std::chrono::steady_clock::time_point begin;
  const auto start = [&] {
    cpu = cpu_seconds();
    begin = std::chrono::steady_clock::now();
  };
  const auto count = static_cast<double>(run(way, start));
  const auto end = std::chrono::steady_clock::now();
  way.per_second.push_back(count / std::chrono::duration<double>(end - begin).count());
  way.cpu_ms.push_back(1e6 * (cpu_seconds() - cpu) / count);
}

void print(const std::vector<Way>& all, const char* unit) {
  for (const Way& way : all) {
    std::vector<double> ratios;
    for (size_t i = 0; i < way.per_second.size(); ++i) {
      ratios.push_back(way.per_second[i] / all[0].per_second[i]);
    }
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    fmt::print("  {:18} {:7.0f} {}, {:6.1f} CPU ms per 1,000, ratio {:.3f} ({:.3f} to {:.3f})\n",
               way.name, median(way.per_second), unit, median(way.cpu_ms), median(ratios), *least,
               *most);
  }
  std::fflush(stdout);
}

// Reads `count` random records, with `depth` reads in flight.
template <typename Start>
size_t read_records(const Container& container, const Way& way, size_t depth, size_t count,
                    uint64_t seed, const Start& start) {
  std::mt19937_64 random(seed);
  std::vector<Extent> extents;
  size_t longest = 0;
  for (size_t i = 0; i < count; ++i) {
    extents.push_back(container.extent(random() % container.size()));
    longest = std::max(longest, static_cast<size_t>(extents.back().length));
  }
  const size_t room = (longest / kDirectAlignment + 3) * kDirectAlignment;
  const auto memory = read_memory(depth * room, true);
  const auto queue = make_read_queue(
      {.threads = static_cast<int>(depth), .backend = way.backend, .direct = way.direct});
  size_t next = 0;
  const auto submit_into = [&](uint64_t slot) {
    const Extent& extent = extents[next++];
    const MutableBytes all(memory.get() + slot * room, room);
    const MutableBytes into =
        all.subspan(static_cast<size_t>(extent.offset % kDirectAlignment), extent.length);
    const ReadRequest request{extent.source.get(), extent.offset, into, slot, all, {}};
    queue->submit({&request, 1});
  };
  start();
  for (uint64_t slot = 0; slot < depth; ++slot) submit_into(slot);
  std::vector<Completion> done(depth);
  for (size_t completed = 0; completed < count;) {
    const size_t arrived = queue->wait(done, 1);
    for (size_t i = 0; i < arrived; ++i) {
      if (done[i].error) std::rethrow_exception(done[i].error);
      if (next < count) submit_into(done[i].tag);
    }
    completed += arrived;
  }
  return count;
}

size_t first_epoch(const std::shared_ptr<const Container>& container, const Way& way) {
  const auto loader = make_loader(container, {.backend = way.backend, .direct = way.direct});
  size_t count = 0;
  while (const auto batch = loader->next().batch) count += batch->rows();
  return count;
}

int run(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fmt::print(stderr, "usage: fuelrail_cold_reads FILE.rec [ROUNDS]\n");
    return 2;
  }
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 8;  // two for each way to begin
  const auto container = open_container(argv[1]);
  for (const size_t depth : {1, 4, 16, 64, 256}) {
    std::vector<Way> all = ways();
    const size_t count = std::min<size_t>(512 * depth, 4096);
    for (int round = 0; round < rounds; ++round) {
      for (Way& way : turns(all, round)) {
        measure(way, *container, [&](const Way& by, const auto& start) {
          return read_records(*container, by, depth, count, static_cast<uint64_t>(round), start);
        });
      }
    }
    fmt::print("Random records, {} in flight, median of {} rounds:\n", depth, rounds);
    print(all, "records/s");
  }
  std::vector<Way> all = ways();
  for (int round = 0; round < rounds; ++round) {
    for (Way& way : turns(all, round)) {
      measure(way, *container, [&](const Way& by, const auto& start) {
        start();
        return first_epoch(container, by);
      });
    }
  }
  fmt::print("The loader's first epoch, median of {} rounds:\n", rounds);
  print(all, "images/s");
  return 0;
}

}  // namespace
}  // namespace fuelrail

int main(int argc, char** argv) {
  try {
    return fuelrail::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fuelrail_cold_reads: {}\n", error.what());
    return 1;
  }
}
