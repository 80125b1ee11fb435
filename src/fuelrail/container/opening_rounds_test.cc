// How many rounds of reads the opening of a file waits for; the reads of one round run in parallel.
// Name lookups and opening files are not counted.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/open.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/made_samples.h"
#include "fuelrail/testing/record_file.h"

namespace fuelrail {
namespace {

// Groups reads into rounds: no read of a round returns before all its reads have begun. Reads that
// are not made in parallel therefore wait until the time limit, which is an error.
class Rounds {
 public:
  void expect(std::vector<size_t> sizes) {
    std::lock_guard hold(mutex_);
    sizes_ = std::move(sizes);
    begun_ = 0;
  }
  size_t begun() const {
    std::lock_guard hold(mutex_);
    return begun_;
  }
  void wait_for_round() {
    std::unique_lock hold(mutex_);
    const size_t number = begun_++;
    size_t end = 0;  // end of this read's round
    for (size_t i = 0; i < sizes_.size() && end <= number; ++i) end += sizes_[i];
    changed_.notify_all();
    if (!changed_.wait_for(hold, std::chrono::seconds(30), [&] { return begun_ >= end; })) {
      throw IoError("the round has fewer reads than it should");
    }
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<size_t> sizes_;
  size_t begun_ = 0;
};

class RoundSource final : public Source {
 public:
  RoundSource(std::shared_ptr<const Source> inner, Rounds& rounds)
      : inner_(std::move(inner)), rounds_(rounds) {}
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  const std::string& uri() const override { return inner_->uri(); }
  void read(uint64_t offset, MutableBytes into) const override {
    rounds_.wait_for_round();
    inner_->read(offset, into);
  }
  bool is_still_named() const override { return inner_->is_still_named(); }

 private:
  std::shared_ptr<const Source> inner_;
  Rounds& rounds_;
};

// Files in memory, whose reads are grouped into rounds once some are expected.
class RoundFileSystem final : public FileSystem {
 public:
  std::shared_ptr<const Source> open(const std::string& uri) override {
    auto source = inner_.open(uri);
    if (!counted) return source;
    return std::make_shared<RoundSource>(std::move(source), rounds);
  }
  std::shared_ptr<const Source> open_lazily(const FileInfo& info,
                                            const std::string& shown_as) override {
    return inner_.open_lazily(info, shown_as);
  }
  std::string absolute(const std::string& uri) override { return inner_.absolute(uri); }
  std::unique_ptr<Sink> create(const std::string& uri) override { return inner_.create(uri); }
  std::optional<FileInfo> stat(const std::string& uri) override { return inner_.stat(uri); }
  std::vector<FileInfo> list(const std::string& uri) override { return inner_.list(uri); }
  void remove(const std::string& uri) override { inner_.remove(uri); }
  void rename(const std::string& from, const std::string& to) override { inner_.rename(from, to); }
  void make_directory(const std::string& uri) override { inner_.make_directory(uri); }

  bool counted = false;
  Rounds rounds;

 private:
  FileSystem& inner_ = memory_file_system();
};

class OpeningRounds : public ::testing::Test {
 protected:
  // Opens a file that has a sidecar. Returns: the number of reads that were made, of those in
  // `rounds`.
  size_t opened(const std::string& uri, const std::string& contents,
                const std::vector<size_t>& rounds, const HintOptions& hints = {}) {
    const auto sink = files_.create(uri);
    sink->write(as_bytes(contents));
    sink->commit();
    files_.remove(uri + ".frx");
    build_sidecar(uri, {.hints = hints});
    files_.rounds.expect(rounds);
    files_.counted = true;
    const auto container = open_container(uri);
    files_.counted = false;
    EXPECT_GT(container->size(), 0u);
    return files_.rounds.begun();
  }

  RoundFileSystem files_;
  FileSystemOverride instead_{"memory", files_};
};

// One round: both ends of the file, and its sidecar.
TEST_F(OpeningRounds, a_small_record_file_takes_one) {
  EXPECT_EQ(opened("memory://rounds.rec", recordio::framed_file({"a", "b", "c"}), {3}), 3u);
}

// A second round: the bytes before and after the blocks of the record table, and the table's first
// and last entries.
TEST_F(OpeningRounds, a_record_file_with_a_large_sidecar_takes_two) {
  const std::string contents =
      recordio::framed_file(std::vector<std::string>(100'000, std::string(4, 'x')));
  EXPECT_EQ(opened("memory://rounds.rec", contents, {3, 2}), 5u);
}

// The second round reads the hints too.
TEST_F(OpeningRounds, a_file_with_large_hints_takes_two) {
  const auto maker = [] { return [](Bytes) { return std::vector<std::byte>(size_t{3} << 20); }; };
  const std::string image = "\xff\xd8\xff";
  const std::string payload = recordio::image_payload(1, {1}, image);
  EXPECT_EQ(opened("memory://rounds.rec", recordio::framed_file({payload, payload}), {3, 1},
                   {.maker = maker}),
            4u);
  EXPECT_EQ(opened("memory://rounds.ffr", ffrecord::file_of({payload, payload}), {3, 1},
                   {.maker = maker}),
            4u);
}

TEST_F(OpeningRounds, a_small_ffrecord_file_takes_one) {
  EXPECT_EQ(opened("memory://rounds.ffr", ffrecord::file_of({"a", "b", "c"}), {3}), 3u);
}

// A second round: the rest of the table. A third one for raw bytes: the first record's beginning.
TEST_F(OpeningRounds, an_ffrecord_file_with_a_long_table_takes_two_or_three) {
  const std::string contents = ffrecord::file_of(std::vector<std::string>(10'000, "x"));
  EXPECT_EQ(opened("memory://rounds.ffr", contents, {3, 1, 1}), 5u);
  const std::string samples = ffrecord::file_of(testing::made_payloads(10'000));
  EXPECT_EQ(opened("memory://rounds.ffr", samples, {3, 1}), 4u);
}

}  // namespace
}  // namespace fuelrail
