// A worker whose rows identify their record and its position in the epoch, and the expected rows.
// For tests of the code around a worker.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/engine/worker.h"
#include "fuelrail/testing/memory_container.h"

namespace fuelrail {

// A container of one bytes field and `records` records of different lengths (record 7 is empty);
// always the same.
inline std::shared_ptr<const MemoryContainer> made_records(uint64_t records) {
  std::vector<MemoryContainer::Record> made;
  for (uint64_t i = 0; i < records; ++i) {
    std::string bytes;
    for (uint64_t j = 0; i != 7 && j < 20 + i * 131 % 977; ++j) {
      bytes.push_back(static_cast<char>(i * 31 + j * j));
    }
    made.push_back({.fields = {std::move(bytes)}, .id = i + 1000});
  }
  return std::make_shared<MemoryContainer>("memory://records", Schema{{{.name = "bytes"}}}, made);
}

// Columns: id: the record's; sum: checksum of its bytes, position and epoch; valid.
inline std::shared_ptr<const BatchLayout> record_layout(size_t rows) {
  return std::make_shared<BatchLayout>(
      std::vector<ColumnSpec>{
          {"id", DType::kUint64, {}}, {"sum", DType::kUint8, {4}}, {"valid", DType::kBool, {}}},
      rows);
}

struct RecordRow {
  uint64_t id = 0;
  uint32_t sum = 0;
  bool valid = true;
  friend bool operator==(const RecordRow&, const RecordRow&) = default;
};

inline RecordRow record_row(const Container& container, const Entry& entry, Bytes framed,
                            Sample& sample) {
  container.parse(entry.record, framed, sample);
  const uint64_t where[2] = {entry.position, entry.epoch};
  const uint32_t sum = crc32(std::as_bytes(std::span(where)), crc32(sample.fields[0].bytes));
  return {sample.id, sum, entry.valid};
}

// The expected row for `entry`.
inline RecordRow expected_row(const Container& container, const Entry& entry) {
  std::vector<std::byte> framed;
  Sample sample;
  read_sample(container, entry.record, framed, sample);
  return record_row(container, entry, framed, sample);
}

inline std::vector<RecordRow> rows_of(const Batch& batch) {
  std::vector<RecordRow> rows(batch.rows());
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(&rows[i].id, batch.row(0, i), 8);
    std::memcpy(&rows[i].sum, batch.row(1, i), 4);
    rows[i].valid = *batch.row(2, i) != std::byte{0};
  }
  return rows;
}

struct RecordWorkerOptions {
  std::set<uint64_t> bad{};  // records that give a CorruptError
  uint32_t jitter = 0;       // the most loops per row, by its position; needs no clock
  // Called with every span, before anything else.
  std::function<void(std::span<const Task>)> before{};
};

class RecordWorker final : public Worker {
 public:
  RecordWorker(std::shared_ptr<const Container> container, RecordWorkerOptions options)
      : container_(std::move(container)), options_(std::move(options)) {}

  void process(std::span<Task> tasks) override {
    if (options_.before) options_.before(tasks);
    write_each(tasks, [this](Task& task) { write(task); });
  }

 private:
  void write(Task& task) {
    if (options_.bad.contains(task.entry.record)) throw CorruptError("this record is bad");
    const RecordRow row = record_row(*container_, task.entry, task.framed, sample_);
    spin(row.sum);
    std::memcpy(task.batch->row(0, task.row), &row.id, 8);
    std::memcpy(task.batch->row(1, task.row), &row.sum, 4);
    *task.batch->row(2, task.row) = std::byte{row.valid};
    task.counts.tolerated = row.id % 3 == 0 ? 1 : 0;
  }

  void spin(uint32_t random) const {
    if (options_.jitter == 0) return;
    volatile uint32_t left = random % options_.jitter;
    while (left > 0) left = left - 1;
  }

  std::shared_ptr<const Container> container_;
  RecordWorkerOptions options_;
  Sample sample_;
};

inline WorkerFactory record_worker_factory(std::shared_ptr<const Container> container,
                                           RecordWorkerOptions options = {}) {
  return [container = std::move(container), options = std::move(options)] {
    return std::make_unique<RecordWorker>(container, options);
  };
}

}  // namespace fuelrail
