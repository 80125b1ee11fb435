// The conformance suite for workers (engine/worker.h). A test lists its workers and instantiates:
//
//   struct ImageWorkers { static std::vector<WorkerCase> cases(); };
//   INSTANTIATE_TYPED_TEST_SUITE_P(ImageWorker, WorkerConformance, ImageWorkers);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/container/container.h"
#include "fuelrail/engine/worker.h"

namespace fuelrail {

struct WorkerCase {
  std::string name;
  std::shared_ptr<const Container> container;
  std::vector<ColumnSpec> columns;
  WorkerFactory make;
  std::vector<uint64_t> good;  // records that give rows; at least 3
  std::vector<uint64_t> bad;   // records that must give errors
};

template <typename Cases>
class WorkerConformance : public ::testing::Test {
 protected:
  using Row = std::vector<std::byte>;  // the bytes of all columns

  // Calls `check(worker_case)` for each case; failures name the case.
  template <typename Check>
  static void for_each_case(const Check& check) {
    for (const WorkerCase& worker_case : Cases::cases()) {
      SCOPED_TRACE(worker_case.name);
      check(worker_case);
    }
  }

  // Tasks and all memory that they view. Every byte of a new batch is 0xa5.
  class Desk {
   public:
    Desk(const WorkerCase& worker_case, size_t rows)
        : container_(*worker_case.container),
          layout_(std::make_shared<BatchLayout>(worker_case.columns, rows)),
          pool_(layout_->total_bytes(), 1) {}

    const Batch& add_batch() {
      batches_.push_back(std::make_unique<Batch>(layout_, pool_.take(), layout_->rows()));
      std::memset(batches_.back()->owner()->data(), 0xa5, layout_->total_bytes());
      return *batches_.back();
    }

    // The task that writes a row from `record`, at a position in the epoch derived from it.
    Task task(uint64_t record, const Batch& batch, size_t row, size_t cut_bytes = 0) {
      const Extent extent = container_.extent(record);
      framed_.push_back(std::make_unique<Row>(extent.length));
      extent.source->read(extent.offset, *framed_.back());
      const Bytes bytes = Bytes(*framed_.back()).first(extent.length - cut_bytes);
      return {.entry = {.record = record, .position = record * 7 + 1, .epoch = 2},
              .framed = bytes,
              .batch = &batch,
              .row = row};
    }

   private:
    const Container& container_;
    std::shared_ptr<const BatchLayout> layout_;
    SlotPool pool_;
    std::vector<std::unique_ptr<Batch>> batches_;
    std::vector<std::unique_ptr<Row>> framed_;
  };

  // The written shapes and elements.
  static Row row_of(const Batch& batch, size_t row) {
    Row bytes;
    for (size_t i = 0; i < batch.layout().columns().size(); ++i) {
      const ColumnSpec& column = batch.layout().columns()[i];
      if (!column.ragged()) {
        const std::byte* begin = batch.row(i, row);
        bytes.insert(bytes.end(), begin, begin + column.row_bytes());
        continue;
      }
      const std::span<const RaggedRow> parts =
          column.list ? batch.items(i, row) : std::span(&batch.ragged_row(i, row), 1);
      for (const RaggedRow& made : parts) {
        size_t size = size_in_bytes(column.dtype);
        for (const int64_t extent : made.shape) {
          bytes.push_back(static_cast<std::byte>(extent));
          size *= static_cast<size_t>(extent);
        }
        bytes.insert(bytes.end(), made.data, made.data + size);
      }
    }
    return bytes;
  }

  // The bytes of the columns, whether written or not.
  static Row bytes_of(const Batch& batch, size_t row) {
    Row bytes;
    for (size_t i = 0; i < batch.layout().columns().size(); ++i) {
      const std::byte* begin = batch.row(i, row);
      bytes.insert(bytes.end(), begin, begin + batch.layout().columns()[i].row_bytes());
    }
    return bytes;
  }

  // The row that a new worker writes for only this record.
  static Row made_alone(const WorkerCase& worker_case, uint64_t record) {
    Desk desk(worker_case, 1);
    const Batch& batch = desk.add_batch();
    Task task = desk.task(record, batch, 0);
    worker_case.make()->process({&task, 1});
    EXPECT_FALSE(task.error) << "record " << record;
    return row_of(batch, 0);
  }
};

TYPED_TEST_SUITE_P(WorkerConformance);

TYPED_TEST_P(WorkerConformance, row_depends_on_its_task_alone) {
  this->for_each_case([this](const WorkerCase& worker_case) {
    typename TestFixture::Desk desk(worker_case, worker_case.good.size());
    const auto worker = worker_case.make();
    std::vector<uint64_t> records = worker_case.good;
    for (int round = 0; round < 3; ++round) {  // the same worker, in three orders
      const Batch& batch = desk.add_batch();
      std::vector<Task> tasks;
      for (size_t i = 0; i < records.size(); ++i) tasks.push_back(desk.task(records[i], batch, i));
      worker->process(tasks);
      for (size_t i = 0; i < records.size(); ++i) {
        EXPECT_FALSE(tasks[i].error);
        EXPECT_EQ(this->row_of(batch, i), this->made_alone(worker_case, records[i]))
            << "record " << records[i];
      }
      std::rotate(records.begin(), records.begin() + 1, records.end());
    }
  });
}

TYPED_TEST_P(WorkerConformance, nothing_but_the_row_is_written) {
  this->for_each_case([this](const WorkerCase& worker_case) {
    typename TestFixture::Desk desk(worker_case, 3);
    const Batch& batch = desk.add_batch();
    Task task = desk.task(worker_case.good[0], batch, 1);
    worker_case.make()->process({&task, 1});
    const size_t bytes = batch.layout().row_bytes();
    const typename TestFixture::Row untouched(bytes, std::byte{0xa5});
    EXPECT_EQ(this->bytes_of(batch, 0), untouched);
    EXPECT_EQ(this->bytes_of(batch, 2), untouched);
    EXPECT_EQ(this->row_of(batch, 1), this->made_alone(worker_case, worker_case.good[0]));
  });
}

TYPED_TEST_P(WorkerConformance, tasks_of_one_span_may_belong_to_different_batches) {
  this->for_each_case([this](const WorkerCase& worker_case) {
    typename TestFixture::Desk desk(worker_case, 2);
    const Batch& first = desk.add_batch();
    const Batch& second = desk.add_batch();
    std::vector<Task> tasks;
    tasks.push_back(desk.task(worker_case.good[0], second, 1));
    tasks.push_back(desk.task(worker_case.good[1], first, 1));
    tasks.push_back(desk.task(worker_case.good[2], second, 0));
    worker_case.make()->process(tasks);
    EXPECT_EQ(this->row_of(second, 1), this->made_alone(worker_case, worker_case.good[0]));
    EXPECT_EQ(this->row_of(first, 1), this->made_alone(worker_case, worker_case.good[1]));
    EXPECT_EQ(this->row_of(second, 0), this->made_alone(worker_case, worker_case.good[2]));
  });
}

TYPED_TEST_P(WorkerConformance, bad_record_is_an_error_of_its_task_only) {
  this->for_each_case([this](const WorkerCase& worker_case) {
    for (const uint64_t bad : worker_case.bad) {
      typename TestFixture::Desk desk(worker_case, 3);
      const Batch& batch = desk.add_batch();
      const auto worker = worker_case.make();
      std::vector<Task> tasks;
      tasks.push_back(desk.task(worker_case.good[0], batch, 0));
      tasks.push_back(desk.task(bad, batch, 1));
      tasks.push_back(desk.task(worker_case.good[1], batch, 2));
      EXPECT_NO_THROW(worker->process(tasks));
      EXPECT_FALSE(tasks[0].error);
      EXPECT_TRUE(tasks[1].error) << "record " << bad;
      EXPECT_FALSE(tasks[2].error);
      EXPECT_EQ(this->row_of(batch, 0), this->made_alone(worker_case, worker_case.good[0]));
      EXPECT_EQ(this->row_of(batch, 2), this->made_alone(worker_case, worker_case.good[1]));
    }
  });
}

TYPED_TEST_P(WorkerConformance, record_cut_short_throws_nothing) {
  this->for_each_case([](const WorkerCase& worker_case) {
    typename TestFixture::Desk desk(worker_case, 1);
    const Batch& batch = desk.add_batch();
    const auto worker = worker_case.make();
    const uint64_t record = worker_case.good[0];
    const uint64_t length = worker_case.container->extent(record).length;
    const uint64_t step = std::max<uint64_t>(1, length / 40);
    for (uint64_t cut = 1; cut <= length; cut += step) {
      Task task = desk.task(record, batch, 0, cut);
      EXPECT_NO_THROW(worker->process({&task, 1}));
    }
  });
}

TYPED_TEST_P(WorkerConformance, empty_span_is_no_work) {
  this->for_each_case(
      [](const WorkerCase& worker_case) { EXPECT_NO_THROW(worker_case.make()->process({})); });
}

REGISTER_TYPED_TEST_SUITE_P(WorkerConformance, row_depends_on_its_task_alone,
                            nothing_but_the_row_is_written,
                            tasks_of_one_span_may_belong_to_different_batches,
                            bad_record_is_an_error_of_its_task_only,
                            record_cut_short_throws_nothing, empty_span_is_no_work);

}  // namespace fuelrail
