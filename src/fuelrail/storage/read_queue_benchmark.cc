// The cost of a request besides its read: a queue with always 64 requests in flight on a cached
// file, records of 10 and 110 KB at random places.
//
//   storage_benchmark --benchmark_filter=ReadQueue
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/read_queue.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

constexpr size_t kFileBytes = size_t{64} << 20;
constexpr size_t kDepth = 64;

// Arguments: threads (0 = inline; -1 = io_uring, whose threads are idle), bytes per request.
void ReadQueueRequests(benchmark::State& state) {
  const TemporaryDirectory directory;
  write_file(directory / "data", std::string(kFileBytes, 'x'));
  const auto source = file_system_for(directory.path()).open(directory / "data");
  const auto length = static_cast<size_t>(state.range(1));
  std::vector<std::byte> memory(kDepth * length);
  std::mt19937_64 random(1);
  const auto request_for = [&](uint64_t tag) {
    return ReadRequest{source.get(), random() % (kFileBytes - length),
                       MutableBytes(memory).subspan(tag * length, length), tag};
  };

  const bool ring = state.range(0) < 0;
  if (ring && !io_uring_refusal().empty()) return state.SkipWithError("no io_uring here");
  const auto queue =
      make_read_queue({.threads = ring ? 1 : static_cast<int>(state.range(0)),
                       .backend = ring ? ReadBackend::kIoUring : ReadBackend::kPread});
  std::vector<ReadRequest> requests;
  for (uint64_t tag = 0; tag < kDepth; ++tag) requests.push_back(request_for(tag));
  queue->submit(requests);
  std::vector<Completion> completions(kDepth);
  for ([[maybe_unused]] const auto step : state) {
    const size_t count = queue->wait(completions, 1);
    requests.clear();
    for (size_t i = 0; i < count; ++i) requests.push_back(request_for(completions[i].tag));
    queue->submit(requests);
    state.counters["requests"] += static_cast<double>(count);
  }
  state.counters["requests"].flags = benchmark::Counter::kIsRate;
}
BENCHMARK(ReadQueueRequests)
    ->ArgsProduct({{0, 1, 2, 4, -1}, {0, 10'000, 110'000}})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// The saving from joining two neighbours: pairs of records of 10 KB, `gap` bytes apart, as two
// reads (joined = 0) or as one that also reads the gap. kMaxGapBytes is the gap at which both cost
// the same.
void NeighboursOverAGap(benchmark::State& state) {
  const TemporaryDirectory directory;
  write_file(directory / "data", std::string(kFileBytes, 'x'));
  const auto source = file_system_for(directory.path()).open(directory / "data");
  constexpr size_t kLength = 10'000;
  const auto gap = static_cast<size_t>(state.range(0));
  const bool joined = state.range(1) != 0;
  std::vector<std::byte> memory(2 * kLength + gap);
  const MutableBytes all(memory);
  const std::vector<MutableBytes> pieces{all.first(kLength), all.subspan(kLength, gap),
                                         all.last(kLength)};
  std::mt19937_64 random(1);
  for ([[maybe_unused]] const auto step : state) {
    const uint64_t at = random() % (kFileBytes - memory.size());
    if (joined) {
      source->read_scattered(at, pieces);
    } else {
      source->read(at, pieces[0]);
      source->read(at + kLength + gap, pieces[2]);
    }
  }
}
BENCHMARK(NeighboursOverAGap)->ArgsProduct({{0, 1024, 4096, 8192, 16384, 65536}, {0, 1}});

}  // namespace
}  // namespace fuelrail
