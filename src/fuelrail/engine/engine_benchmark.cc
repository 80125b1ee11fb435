// The scheduling cost per record, with a worker that does nothing and records in memory.
//   build/.../engine_benchmark --benchmark_counters_tabular=true
// `us_per_record` is wall time, `cpu_us_per_record` the whole process's CPU time.
#include <benchmark/benchmark.h>

#include <ctime>
#include <memory>
#include <string>

#include "fuelrail/engine/engine.h"
#include "fuelrail/sampler/epoch_sampler.h"
#include "fuelrail/testing/memory_container.h"

namespace fuelrail {
namespace {

constexpr uint64_t kRecords = 4096;
constexpr uint64_t kBatch = 256;

class Spin final : public Worker {
 public:
  explicit Spin(double micros) : micros_(micros) {}
  void process(std::span<Task> tasks) override {
    if (micros_ == 0) return;
    for (size_t i = 0; i < tasks.size(); ++i) {
      const double end = cpu_micros() + micros_;
      while (cpu_micros() < end) {
      }
    }
  }

 private:
  static double cpu_micros() {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
  }
  double micros_;
};

double process_cpu_micros() {
  timespec now;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

// Arguments: workers, read threads, bytes per record, microseconds of work per record.
void schedule(benchmark::State& state) {
  const std::vector<MemoryContainer::Record> records(
      kRecords, {.fields = {std::string(static_cast<size_t>(state.range(2)), 'x')}});
  const auto container =
      std::make_shared<MemoryContainer>("memory://benchmark", Schema{{{.name = "bytes"}}}, records);
  const double micros = static_cast<double>(state.range(3));
  Engine engine(
      container,
      std::make_unique<EpochSampler>(EpochSamplerOptions{
          .records = kRecords, .order = {.shuffle = Shuffle::kFull, .batch_size = kBatch}}),
      std::make_shared<BatchLayout>(std::vector<ColumnSpec>{{"label", DType::kInt64, {}}}, kBatch),
      [micros] { return std::make_unique<Spin>(micros); },
      {.threads = static_cast<int>(state.range(0)),
       .read = {.threads = static_cast<int>(state.range(1))}});
  engine.next();
  const double cpu = process_cpu_micros();
  uint64_t rows = 0;
  for (auto _ : state) {
    const Engine::Next next = engine.next();
    if (next.batch) rows += next.batch->rows();
  }
  const auto handed = static_cast<double>(rows);
  state.counters["cpu_us_per_record"] = (process_cpu_micros() - cpu) / handed;
  state.counters["records_per_s"] = benchmark::Counter(handed, benchmark::Counter::kIsRate);
}
BENCHMARK(schedule)
    ->ArgNames({"workers", "readers", "bytes", "work_us"})
    ->ArgsProduct({{1, 2}, {0, 1, 4}, {100, 110000}, {0}})
    ->ArgsProduct({{2}, {0, 1, 4}, {110000}, {200, 1000}})
    ->UseRealTime();

}  // namespace
}  // namespace fuelrail
