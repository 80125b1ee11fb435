// What a packing holds in memory, whatever the number of images, when the disk is slow.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fuelrail/pack/packer.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/memory/memory_file_system.h"

namespace fuelrail {
namespace {

// Bytes of images that have been read and not written.
class Meter {
 public:
  void read(uint64_t bytes) {
    const int64_t held = held_ += static_cast<int64_t>(bytes);
    int64_t most = most_.load();
    while (held > most && !most_.compare_exchange_weak(most, held)) {
    }
  }
  void wrote(uint64_t bytes) { held_ -= static_cast<int64_t>(bytes); }
  int64_t most() const { return most_.load(); }

 private:
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> most_{0};
};

class MeteredSource final : public Source {
 public:
  MeteredSource(std::shared_ptr<const Source> inner, Meter& meter)
      : inner_(std::move(inner)), meter_(meter) {}
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  const std::string& uri() const override { return inner_->uri(); }
  void read(uint64_t offset, MutableBytes into) const override {
    meter_.read(into.size());
    inner_->read(offset, into);
  }
  MappedBytes map() const override { return inner_->map(); }

 private:
  std::shared_ptr<const Source> inner_;
  Meter& meter_;
};

// Takes a millisecond for every large write, and keeps none of its bytes.
class SlowSink final : public Sink {
 public:
  SlowSink(std::string uri, Meter& meter) : uri_(std::move(uri)), meter_(meter) {}
  const std::string& uri() const override { return uri_; }
  void write(Bytes bytes) override {
    position_ += bytes.size();
    if (bytes.size() < 100'000) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    meter_.wrote(bytes.size());
  }
  uint64_t position() const override { return position_; }
  void rewrite(uint64_t, Bytes) override {}
  void read_back(uint64_t, MutableBytes into) override {
    std::fill(into.begin(), into.end(), std::byte{0});
  }
  void truncate(uint64_t size) override { position_ = size; }
  void commit() override {}
  [[nodiscard]] bool commit_new() override { return true; }

 private:
  std::string uri_;
  Meter& meter_;
  uint64_t position_ = 0;
};

class MeteredFileSystem final : public FileSystem {
 public:
  explicit MeteredFileSystem(Meter& meter) : meter_(meter) {}
  std::shared_ptr<const Source> open(const std::string& uri) override {
    auto source = memory_file_system().open(uri);
    if (!uri.ends_with(".jpg")) return source;
    return std::make_shared<MeteredSource>(std::move(source), meter_);
  }
  std::shared_ptr<const Source> open_lazily(const FileInfo& info, const std::string& as) override {
    return memory_file_system().open_lazily(info, as);
  }
  std::string absolute(const std::string& uri) override {
    return memory_file_system().absolute(uri);
  }
  std::unique_ptr<Sink> create(const std::string& uri) override {
    return std::make_unique<SlowSink>(uri, meter_);
  }
  std::optional<FileInfo> stat(const std::string& uri) override {
    return memory_file_system().stat(uri);
  }
  std::vector<FileInfo> list(const std::string& uri) override {
    return memory_file_system().list(uri);
  }
  void remove(const std::string&) override {}
  void make_directory(const std::string&) override {}

 private:
  Meter& meter_;
};

TEST(PackerMemory, a_slow_disk_bounds_what_waits_and_not_the_number_of_images) {
  constexpr uint64_t kImageBytes = uint64_t{1} << 20;
  constexpr int kImages = 1'000;
  constexpr int kThreads = 4;
  const std::string folder = "memory://packer_memory_test";
  memory_file_system().make_directory(folder);
  const auto keep = [&](const std::string& name, Bytes bytes) {
    const auto sink = memory_file_system().create(folder + "/" + name);
    sink->write(bytes);
    sink->commit();
  };
  keep("image.jpg", std::vector<std::byte>(kImageBytes));
  std::string list;  // the same image, again and again
  for (int i = 0; i < kImages; ++i) list += std::to_string(i) + "\t0\timage.jpg\n";
  keep("x.lst", as_bytes(list));

  Meter meter;
  MeteredFileSystem metered(meter);
  {
    const FileSystemOverride instead("memory", metered);
    const PackResult result =
        pack(folder + "/x.lst", folder + "/x.rec", {.verify_images = false, .threads = kThreads});
    EXPECT_EQ(result.files.at(0).records, static_cast<uint64_t>(kImages));
  }
  constexpr int64_t kWaiting = int64_t{64} << 20;
  EXPECT_LE(meter.most(), kWaiting + (kThreads + 1) * static_cast<int64_t>(kImageBytes));
  EXPECT_GT(meter.most(), kWaiting / 2) << "the disk was not slow";
}

}  // namespace
}  // namespace fuelrail
