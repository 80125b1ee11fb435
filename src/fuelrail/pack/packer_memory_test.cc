// The memory that packing needs when the disk is slow, which does not depend on the number of
// images.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fuelrail/pack/image/image_pipeline.h"
#include "fuelrail/pack/packer.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/turnstile.h"

namespace {

// The bytes in use now, and their maximum so far.
class Meter {
 public:
  void add(int64_t bytes) {
    const int64_t held = held_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t most = most_.load(std::memory_order_relaxed);
    while (held > most && !most_.compare_exchange_weak(most, held)) {
    }
  }
  int64_t held() const { return held_.load(std::memory_order_relaxed); }
  int64_t most() const { return most_.load(std::memory_order_relaxed); }
  void forget_most() { most_ = held(); }

 private:
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> most_{0};
};

}  // namespace

#ifndef FUELRAIL_SANITIZED  // sanitizers have their own allocators

// All memory that the program allocated with `new`: pixels, encoded images, payloads.
static constinit Meter heap;

// g++ inlines one of the two and then misses it.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  heap.add(static_cast<int64_t>(::malloc_usable_size(memory)));
  return memory;
}
void operator delete(void* memory) noexcept {
  heap.add(-static_cast<int64_t>(::malloc_usable_size(memory)));
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { ::operator delete(memory); }

#endif

namespace fuelrail::pack {
namespace {

constexpr int kThreads = 4;
constexpr int64_t kWaiting = kThreads * (int64_t{8} << 20);  // as in packer.h

class MeteredSource final : public Source {
 public:
  MeteredSource(std::shared_ptr<const Source> inner, Meter& meter)
      : inner_(std::move(inner)), meter_(meter) {}
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  const std::string& uri() const override { return inner_->uri(); }
  void read(uint64_t offset, MutableBytes into) const override {
    meter_.add(static_cast<int64_t>(into.size()));
    inner_->read(offset, into);
  }

 private:
  std::shared_ptr<const Source> inner_;
  Meter& meter_;
};

// Discards its bytes. The first large write lasts until as much data is waiting as is allowed, and
// then long enough for more to arrive; every other write takes a millisecond.
class SlowSink final : public Sink {
 public:
  SlowSink(std::string uri, Meter& meter) : uri_(std::move(uri)), meter_(meter) {}
  const std::string& uri() const override { return uri_; }
  void write(Bytes bytes) override {
    position_ += bytes.size();
    if (bytes.size() < 100'000) return;
    if (!std::exchange(filled_, true)) {
      within_patience([&] { return meter_.held() >= kWaiting; });
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    meter_.add(-static_cast<int64_t>(bytes.size()));
  }
  uint64_t position() const override { return position_; }
  void rewrite(uint64_t, Bytes) override {}
  void read_back(uint64_t, MutableBytes into) override {
    std::fill(into.begin(), into.end(), std::byte{0});
  }
  void truncate(uint64_t size) override { position_ = size; }
  void commit_as(const std::string&) override {}
  [[nodiscard]] bool commit_new() override { return true; }

 private:
  std::string uri_;
  Meter& meter_;
  uint64_t position_ = 0;
  bool filled_ = false;
};

class MeteredFileSystem final : public FileSystem {
 public:
  explicit MeteredFileSystem(Meter& meter) : meter_(meter) {}
  std::shared_ptr<const Source> open(const std::string& uri) override {
    auto source = memory_file_system().open(uri);
    if (!uri.ends_with(".raw")) return source;
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
  void rename(const std::string&, const std::string&) override {}
  void make_directory(const std::string&) override {}

 private:
  Meter& meter_;
};

// Packs the same image repeatedly. `meter` counts the bytes that are read from an `image.raw`, and
// those that are written.
class PackerMemory : public ::testing::Test {
 protected:
  PackerMemory() { memory_file_system().make_directory(folder_); }

  void keep(const std::string& name, Bytes bytes) const {
    const auto sink = memory_file_system().create(folder_ + "/" + name);
    sink->write(bytes);
    sink->commit();
  }

  void pack_often(const std::string& image, int images, PackOptions options) {
    std::string list;
    for (int i = 0; i < images; ++i) list += std::to_string(i) + "\t0\t" + image + "\n";
    keep("x.lst", as_bytes(list));
    options.threads = kThreads;
    MeteredFileSystem metered(meter_);
    const FileSystemOverride instead("memory", metered);
    const PackResult result = pack(folder_ + "/x.lst", folder_ + "/x.rec", options);
    EXPECT_EQ(result.files.at(0).records, static_cast<uint64_t>(images));
  }

  // The waiting images, one more for each thread, the one that is being written, and the one whose
  // turn is next, which may always wait.
  void expect_bounded(size_t image_bytes) const {
    EXPECT_LE(meter_.most(), kWaiting + (kThreads + 2) * static_cast<int64_t>(image_bytes));
    EXPECT_GE(meter_.most(), kWaiting) << "the disk was not slow";
  }

  std::string folder_ = "memory://packer_memory_test";
  Meter meter_;
};

TEST_F(PackerMemory, a_slow_disk_bounds_what_waits_and_not_the_number_of_images) {
  constexpr size_t kImageBytes = size_t{1} << 20;
  keep("image.raw", std::vector<std::byte>(kImageBytes));
  pack_often("image.raw", 150, {.images = StoredImages{.verify_images = false}});
  expect_bounded(kImageBytes);
}

TEST_F(PackerMemory, a_slow_disk_bounds_what_is_decoded_and_encoded) {
  const std::vector<std::byte> jpeg = make_jpeg(500, 700, 1);
  ImageSteps steps{.shorter_side = 600, .encoding = ImageEncoding::kPng, .quality = 0};
  const size_t image_bytes = ImagePipeline(steps).prepare(jpeg, 0).size();
  keep("image.jpg", jpeg);
  steps.stages = {
      PixelFunction([&](ConstImageView from, OwnedPixels& to) {  // so that the image is decoded
        meter_.add(static_cast<int64_t>(image_bytes));
        to.pixels.assign(from.data, from.data + from.height * from.width * from.channels);
        to.size = from.size();
        to.channels = from.channels;
      })};
#ifdef FUELRAIL_SANITIZED
  pack_often("image.jpg", 60, {.images = steps});
  expect_bounded(image_bytes);
#else
  for (const int images : {60, 120}) {
    meter_.forget_most();
    const int64_t before = heap.held();
    heap.forget_most();
    pack_often("image.jpg", images, {.images = steps});
    expect_bounded(image_bytes);
    // Each thread holds the image as read, decoded, resized, returned by the function, and encoded.
    constexpr int64_t kInWork = 5 * kThreads;
    const auto most = kWaiting + (kInWork + kThreads + 2) * static_cast<int64_t>(image_bytes);
    EXPECT_LE(heap.most() - before, most) << images;
  }
#endif
}

}  // namespace
}  // namespace fuelrail::pack
