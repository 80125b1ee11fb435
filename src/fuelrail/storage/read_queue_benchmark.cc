// What a request costs besides its read: a queue kept 64 requests deep on a cached file, records of
// 10 and 110 KB at random places.
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

// Arguments: threads (0 = inline), bytes a request.
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

  const auto queue = make_read_queue({.threads = static_cast<int>(state.range(0))});
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
    ->ArgsProduct({{0, 1, 2, 4}, {0, 10'000, 110'000}})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace fuelrail
