// What RecordIO costs: framing at memory speed, opening millions of records, reading in a row.
//   container_benchmark --benchmark_filter=RecordIo
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/container/image_record.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/container/recordio/record_table.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::recordio {
namespace {

constexpr uint64_t kImageNetRecords = 1'400'000;

std::vector<std::byte> noise(size_t size) {
  std::vector<std::byte> bytes(size);
  uint32_t state = 1;
  for (std::byte& b : bytes) {
    state = state * 1664525 + 1013904223;
    b = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

void write_records(const std::string& path, uint64_t records, size_t payload_bytes) {
  const auto sink = file_system_for(path).create(path);
  RecordWriter writer(*sink);
  const auto image = noise(payload_bytes - kImageHeaderBytes);
  std::vector<std::byte> payload;
  for (uint64_t i = 0; i < records; ++i) {
    payload.clear();
    const float label = static_cast<float>(i % 1000);
    append_image_record(i, {&label, 1}, image, payload);
    writer.append(payload);
  }
  sink->commit();
}

// The escape scan that every packed payload passes through.
void RecordIoFindMagic(benchmark::State& state) {
  const auto payload = noise(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(find_magic(payload));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(RecordIoFindMagic)->Arg(4 << 10)->Arg(110 << 10)->Arg(4 << 20);

void RecordIoAppendFramed(benchmark::State& state) {
  const auto payload = noise(static_cast<size_t>(state.range(0)));
  std::vector<std::byte> framed;
  for (auto _ : state) {
    framed.clear();
    benchmark::DoNotOptimize(append_framed(payload, framed));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(RecordIoAppendFramed)->Arg(110 << 10);

// A data file of 140 GB (sparse; nothing but its ends is read) with its sidecar.
void RecordIoOpenWithSidecar(benchmark::State& state) {
  constexpr uint64_t kRecordBytes = 100'000;
  const auto records = static_cast<uint64_t>(state.range(0));
  const TemporaryDirectory directory;
  const std::string path = directory / "x.rec";
  write_file(path, "");
  std::filesystem::resize_file(path, records * kRecordBytes);
  SidecarWriter writer;
  for (uint64_t i = 0; i < records; ++i) writer.add_record({i * kRecordBytes, kRecordBytes}, 0);
  writer.set_labels({.width = 1, .integral = true});
  const auto sink = file_system_for(path).create(path + ".frx");
  writer.write_to(identify(*file_system_for(path).open(path)), *sink);
  sink->commit();
  for (auto _ : state) benchmark::DoNotOptimize(open_recordio(path)->size());
}
BENCHMARK(RecordIoOpenWithSidecar)->Arg(kImageNetRecords)->Unit(benchmark::kMillisecond);

// An entry of that table, at random: its block is checked each time.
void RecordIoExtent(benchmark::State& state) {
  SidecarWriter writer;
  for (uint64_t i = 0; i < kImageNetRecords; ++i) writer.add_record({i * 8, 8}, 0);
  const StoredSidecar sidecar = sidecar_in_memory(
      writer, {.size_bytes = kImageNetRecords * 8, .first_crc = 0, .last_crc = 0});
  uint64_t i = 0;
  for (auto _ : state) {
    i = (i + 982'451'653) % kImageNetRecords;
    benchmark::DoNotOptimize(sidecar.sidecar->record(i));
  }
}
BENCHMARK(RecordIoExtent);

// Without a sidecar: from head to head. Arguments: records, payload bytes. The file is in the
// page cache.
void RecordIoScan(benchmark::State& state) {
  const TemporaryDirectory directory;
  const std::string path = directory / "x.rec";
  write_records(path, static_cast<uint64_t>(state.range(0)), static_cast<size_t>(state.range(1)));
  const auto source = file_system_for(path).open(path);
  for (auto _ : state) {
    SidecarWriter table = scan_heads(*source);
    benchmark::DoNotOptimize(table);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(RecordIoScan)
    ->Args({kImageNetRecords, 100})
    ->Args({20'000, 10'000})
    ->Args({5'000, 100'000})
    ->Unit(benchmark::kMillisecond);

void RecordIoReadInARow(benchmark::State& state) {
  const TemporaryDirectory directory;
  const std::string path = directory / "x.rec";
  write_records(path, static_cast<uint64_t>(state.range(0)), static_cast<size_t>(state.range(1)));
  for (auto _ : state) {
    RecordReader reader(file_system_for(path).open(path));
    while (const auto record = reader.next()) benchmark::DoNotOptimize(record->payload.data());
  }
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(std::filesystem::file_size(path)));
}
BENCHMARK(RecordIoReadInARow)
    ->Args({kImageNetRecords, 100})
    ->Args({5'000, 100'000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fuelrail::recordio
