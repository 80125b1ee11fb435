// Batches of records at random places of a cached file: by the reader, and by what it is made of.
//
//   container_benchmark --benchmark_filter=FfrecordBatch
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <random>
#include <string>
#include <vector>

#include "fuelrail/container/ffrecord/file_reader.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/read_memory.h"
#include "fuelrail/storage/read_queue_pool.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::ffrecord {
namespace {

constexpr size_t kFileBytes = size_t{64} << 20;

enum Way : int64_t {
  kPreadFresh,    // a plain pread each, into fresh memory
  kPreadReused,   // the same, into memory that is used again
  kReader,        // with checksums
  kReaderTrusts,  // without
  kReaderFresh,   // without, and no memory is used again
  kQueue,         // all by the queue, cached or not; without checksums
};

std::string file_of_records(size_t bytes) {
  return file_of(std::vector<std::string>(std::min(kFileBytes / bytes, size_t{20'000}),
                                          std::string(bytes, 'x')));
}

int64_t page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

// Arguments: way, records a batch, bytes a record.
void FfrecordBatch(benchmark::State& state) {
  const auto way = static_cast<Way>(state.range(0));
  const auto count = static_cast<size_t>(state.range(1));
  const auto bytes = static_cast<size_t>(state.range(2));
  const TemporaryDirectory directory;
  write_file(directory / "a.ffr", file_of_records(bytes));
  const FileReader reader({directory / "a.ffr"}, {.check_data = way == kReader});
  const auto source = file_system_for(directory.path()).open(directory / "a.ffr");
  if (way == kPreadFresh || way == kReaderFresh) keep_idle_read_memory(0);
  std::mt19937_64 random(1);
  std::vector<uint64_t> indices(count);
  std::vector<std::shared_ptr<std::byte>> memory;
  std::vector<RecordBytes> records;
  const int64_t before = page_faults();
  for ([[maybe_unused]] const auto step : state) {
    for (uint64_t& index : indices) index = random() % reader.size();
    if (way >= kReader && way <= kReaderFresh) {
      records.clear();
      records = reader.read(indices);
      continue;
    }
    memory.clear();
    std::vector<ReadRequest> requests;
    for (const uint64_t index : indices) {
      memory.push_back(read_memory(bytes));
      const MutableBytes into(memory.back().get(), bytes);
      const uint64_t offset = reader.table(0).offset(index);
      if (way == kQueue) {
        requests.push_back({source.get(), offset, into});
      } else {
        source->read(offset, into);
      }
    }
    if (way == kQueue) {
      const QueueLease lease({.threads = 16});
      std::vector<Completion> done(count);
      lease.queue()->submit(requests);
      lease.queue()->wait(done, count);
    }
  }
  state.counters["faults"] = static_cast<double>(page_faults() - before) /
                             static_cast<double>(state.iterations() * state.range(1));
  keep_idle_read_memory(kMostIdleBytes);
  state.SetItemsProcessed(state.iterations() * state.range(1));
  state.SetBytesProcessed(state.iterations() * state.range(1) * state.range(2));
}
BENCHMARK(FfrecordBatch)
    ->ArgsProduct({{kPreadFresh, kPreadReused, kReader, kReaderTrusts, kReaderFresh, kQueue},
                   {1, 4, 64, 1024},
                   {1'000, 100'000}})
    ->ArgsProduct({{kPreadFresh, kPreadReused, kReader, kReaderTrusts, kReaderFresh, kQueue},
                   {4, 64},
                   {1'000'000}})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace fuelrail::ffrecord
