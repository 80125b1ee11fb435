// Every single fault of storage, in a small pack and a small epoch: the right result or one clear
// error; never a hang, a crash or a silent difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/open.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/pack/packer.h"
#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/faulty_calls.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"
#include "fuelrail/testing/watchdog.h"

namespace fuelrail {
namespace {

using Files = std::map<std::string, std::string>;  // name: contents

// Two class folders of three photographs each, under `root`.
void make_photographs(FileSystem& files, const std::string& root) {
  for (size_t i = 0; i < 6; ++i) {
    const std::string folder = join_uri(root, "photographs/class" + std::to_string(i % 2));
    files.make_directory(folder);
    const auto sink = files.create(join_uri(folder, std::to_string(i) + ".jpg"));
    sink->write(make_jpeg(20 + static_cast<int64_t>(i), 24, i));
    sink->commit();
  }
}

std::string contents_of(FileSystem& files, const std::string& uri) {
  const auto source = files.open(uri);
  std::string contents(source->size_bytes(), '\0');
  source->read(0, std::as_writable_bytes(std::span(contents)));
  return contents;
}

Files files_in(FileSystem& files, const std::string& directory) {
  Files found;
  for (const FileInfo& info : files.list(directory)) {
    found[base_name(info.uri)] = contents_of(files, info.uri);
  }
  return found;
}

void clear(FileSystem& files, const std::string& directory) {
  for (const FileInfo& info : files.list(directory)) files.remove(info.uri);
}

// Does something that may fail. Returns: what the error says; empty when there was none.
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_FALSE(error.detail().path.empty()) << "no place: " << error.what();
    return error.what();
  }
  return "";
}

// --- packing ------------------------------------------------------------------------------------

struct Packing {
  Packing(FileSystem& seen, const std::string& root, std::string output)
      : files(seen),
        source(join_uri(root, "photographs")),
        out(join_uri(root, "out")),
        name(std::move(output)) {
    make_photographs(files, root);
    files.make_directory(out);
  }
  void make() const { pack::pack(source, join_uri(out, name), {.threads = 2}); }

  FileSystem& files;  // without faults
  std::string source;
  std::string out;
  std::string name;  // says the format
};

// After a pack in which something may have failed: right, or an error and no wrong file; and the
// next pack of the same output is right.
void check_pack(const Packing& packing, const Files& right, const std::string& error,
                const std::string& what) {
  const Files there = files_in(packing.files, packing.out);
  if (error.empty()) {
    EXPECT_EQ(there, right) << what;
  }
  for (const auto& [name, contents] : there) {
    if (right.contains(name)) {
      EXPECT_EQ(contents, right.at(name)) << what << ": " << name << " after " << error;
    } else {
      EXPECT_EQ(name, packing.name + ".errors.jsonl") << what << " after " << error;
    }
  }
  clear(packing.files, packing.out);
  packing.make();
  EXPECT_EQ(files_in(packing.files, packing.out), right) << what << ": the pack after it";
  clear(packing.files, packing.out);
}

class FaultyPack : public testing::TestWithParam<std::tuple<Fault, const char*>> {};

TEST_P(FaultyPack, is_right_or_one_clear_error_whichever_operation_fails) {
  Watchdog watchdog;
  FaultyFileSystem faulty(memory_file_system());
  const auto [fault, name] = GetParam();
  const Packing packing(
      memory_file_system(),
      std::string("memory://faulty_pack_") + name + std::to_string(static_cast<int>(fault)), name);
  packing.make();
  const Files right = files_in(packing.files, packing.out);
  ASSERT_EQ(right.size(), packing.name == "x.rec" ? 3u : 2u);
  clear(packing.files, packing.out);

  size_t errors = 0;
  uint64_t operations = 0;  // of a run in which none failed: the last
  for (uint64_t n = 0; n == 0 || n <= operations; ++n) {
    const std::string what = "operation " + std::to_string(n);
    std::string error;
    {
      const FileSystemOverride instead("memory", faulty);
      faulty.arm(fault, n);
      error = error_of([&] { packing.make(); });
      operations = faulty.operations();
      faulty.arm(Fault::kNone, 0);
    }
    errors += !error.empty();
    check_pack(packing, right, error, what);
    watchdog.feed();
  }
  EXPECT_GT(operations, 20u);
  if (fault == Fault::kDelay) {
    EXPECT_EQ(errors, 0u);
  } else {
    EXPECT_GT(errors, operations / 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, FaultyPack,
                         testing::Combine(testing::Values(Fault::kError, Fault::kShortRead,
                                                          Fault::kDiskFull, Fault::kDelay),
                                          testing::Values("x.rec", "x.ffr")));

class FaultyCallsOfPack : public testing::TestWithParam<std::tuple<int, const char*>> {};

TEST_P(FaultyCallsOfPack, pack_is_right_or_one_clear_error_whichever_call_fails) {
  Watchdog watchdog;
  const TemporaryDirectory directory;
  const auto [fault, name] = GetParam();
  const Packing packing(local_file_system(), directory.path(), name);
  packing.make();
  const Files right = files_in(packing.files, packing.out);
  clear(packing.files, packing.out);
  const bool harmless = fault == EINTR || fault == FaultyCalls::kShort;
  size_t errors = 0;
  uint64_t calls = 0;  // of a run in which none failed: the last
  for (uint64_t n = 0; n == 0 || n <= calls; ++n) {
    FaultyCalls::arm(fault, n);
    const std::string error = error_of([&] { packing.make(); });
    calls = FaultyCalls::calls();
    FaultyCalls::disarm();
    errors += !error.empty();
    check_pack(packing, right, error, "call " + std::to_string(n));
    watchdog.feed();
  }
  EXPECT_GT(calls, 10u);
  EXPECT_EQ(errors == 0, harmless) << errors;
}

INSTANTIATE_TEST_SUITE_P(Errors, FaultyCallsOfPack,
                         testing::Combine(testing::Values(EINTR, EIO, ENOSPC,
                                                          int{FaultyCalls::kShort}),
                                          testing::Values("x.rec", "x.ffr")));

// --- an epoch -----------------------------------------------------------------------------------

// What `next` gave: a batch's bytes, or what the error says.
struct Given {
  std::string bytes{};
  std::string error{};
};

constexpr uint64_t kBatches = 4;

// Opens the file and goes through one epoch. Returns: what each `next` gave; one error when the
// file could not be opened.
std::vector<Given> epoch_of(const std::string& uri) {
  std::vector<Given> given;
  const std::string error = error_of([&] {
    Loader loader(open_container(uri),
                  {.order = OrderOptions{.seed = 5, .shuffle = Shuffle::kFull, .batch_size = 3},
                   .engine = {.threads = 2}},
                  {.transforms = {RandomResizedCrop{.size = {8, 8}}}, .dtype = DType::kUint8});
    for (uint64_t i = 0; i < kBatches; ++i) {
      Given& next = given.emplace_back();
      next.error = error_of([&] {
        const std::optional<Batch> batch = loader.next();
        if (!batch) return;
        for (size_t column = 0; column < batch->layout().columns().size(); ++column) {
          const auto* const from = reinterpret_cast<const char*>(batch->column(column));
          next.bytes.append(from, batch->rows() * batch->layout().columns()[column].row_bytes());
        }
      });
    }
  });
  if (given.empty()) given.push_back({.error = error});
  return given;
}

void check_epoch(const std::vector<Given>& given, const std::vector<Given>& right,
                 const std::string& what, size_t& errors) {
  for (size_t i = 0; i < given.size(); ++i) {
    errors += !given[i].error.empty();
    if (given[i].error.empty()) {
      EXPECT_EQ(given[i].bytes, right[i].bytes) << what << ", batch " << i;
    }
  }
}

void make_records(FileSystem& files, const std::string& root) {
  const Packing packing(files, root, "x.rec");
  packing.make();
}

class FaultyEpoch : public testing::TestWithParam<Fault> {};

TEST_P(FaultyEpoch, every_batch_is_right_or_one_clear_error_whichever_operation_fails) {
  Watchdog watchdog;
  FaultyFileSystem faulty(memory_file_system());
  const std::string root = "memory://faulty_epoch" + std::to_string(static_cast<int>(GetParam()));
  make_records(memory_file_system(), root);
  const std::string uri = root + "/out/x.rec";
  const std::vector<Given> right = epoch_of(uri);
  ASSERT_EQ(right.size(), kBatches);
  size_t with_error = 0;
  uint64_t operations = 0;  // of a run in which none failed: the last
  for (uint64_t n = 0; n == 0 || n <= operations; ++n) {
    const FileSystemOverride instead("memory", faulty);
    faulty.arm(GetParam(), n);
    const std::vector<Given> given = epoch_of(uri);
    operations = faulty.operations();
    size_t errors = 0;
    check_epoch(given, right, "operation " + std::to_string(n), errors);
    EXPECT_LE(errors, 1u) << "operation " << n;
    with_error += errors;
    watchdog.feed();
  }
  EXPECT_GT(operations, 8u);
  EXPECT_EQ(with_error == 0, GetParam() == Fault::kDelay) << with_error;
}

INSTANTIATE_TEST_SUITE_P(Faults, FaultyEpoch,
                         testing::Values(Fault::kError, Fault::kShortRead, Fault::kDiskFull,
                                         Fault::kDelay));

class FaultyCallsOfEpoch : public testing::TestWithParam<int> {};

// The files have no descriptor to show here, so that their reads are these calls.
TEST_P(FaultyCallsOfEpoch, every_batch_is_right_or_one_clear_error_whichever_call_fails) {
  Watchdog watchdog;
  const TemporaryDirectory directory;
  make_records(local_file_system(), directory.path());
  const std::string uri = directory / "out/x.rec";
  FaultyFileSystem plain(local_file_system());
  const FileSystemOverride instead("file", plain);
  const std::vector<Given> right = epoch_of(uri);
  ASSERT_EQ(right.size(), kBatches);
  size_t with_error = 0;
  uint64_t calls = 0;  // of a run in which none failed: the last
  for (uint64_t n = 0; n == 0 || n <= calls; ++n) {
    FaultyCalls::arm(GetParam(), n);
    const std::vector<Given> given = epoch_of(uri);
    calls = FaultyCalls::calls();
    FaultyCalls::disarm();
    size_t errors = 0;
    check_epoch(given, right, "call " + std::to_string(n), errors);
    EXPECT_LE(errors, 1u) << "call " << n;
    with_error += errors;
    watchdog.feed();
  }
  EXPECT_GE(calls, 6u);
  EXPECT_EQ(with_error == 0, GetParam() != EIO) << with_error;
}

INSTANTIATE_TEST_SUITE_P(Errors, FaultyCallsOfEpoch,
                         testing::Values(EINTR, EIO, int{FaultyCalls::kShort}));

}  // namespace
}  // namespace fuelrail
