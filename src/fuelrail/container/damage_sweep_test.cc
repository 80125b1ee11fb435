// Changes every byte of small record files and of their sidecars, and truncates them at every
// length. Each read must then give the original data or an error, never different data or a
// different number of records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
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

// The content of a dataset; a record that cannot be read is empty.
struct Seen {
  std::vector<std::string> fields;
  std::vector<std::string> classes;
  std::vector<std::optional<std::string>> records;
};

std::string record_of(const Container& container, uint64_t i) {
  std::vector<std::byte> framed;
  Sample sample;
  read_sample(container, i, framed, sample);
  std::string text = std::to_string(sample.id);
  for (const FieldValue& field : sample.fields) {
    text += "|" + std::string(as_text(field.bytes));
    for (const int64_t extent : field.shape) text += " " + std::to_string(extent);
    for (const Bytes item : field.items) text += "," + std::string(as_text(item));
  }
  return text;
}

Seen seen(const Container& container) {
  Seen all;
  all.classes = container.classes();
  for (const FieldSpec& field : container.schema().fields) {
    all.fields.push_back(field.name + " " + name_of(field.dtype));
  }
  for (uint64_t i = 0; i < container.size(); ++i) {
    try {
      all.records.push_back(record_of(container, i));
    } catch (const Error&) {
      all.records.push_back(std::nullopt);
    }
  }
  return all;
}

// A pair of files in memory, without a cache.
class DamageSweep : public ::testing::Test {
 protected:
  DamageSweep() {
    ::unsetenv("XDG_CACHE_HOME");
    ::unsetenv("HOME");
  }

  static void put(const std::string& uri, std::string_view contents) {
    const auto sink = memory_file_system().create(uri);
    sink->write(as_bytes(contents));
    sink->commit();
  }
  static std::string contents(const std::string& uri) {
    const std::vector<std::byte> bytes = read_whole(*memory_file_system().open(uri));
    return std::string(as_text(bytes));
  }

  // Creates the pair with class names, and with payload checksums if requested.
  void make(const std::string& data, bool checksums) {
    put(uri_, data);
    memory_file_system().remove(sidecar_);
    build_sidecar(uri_, {.checksums = checksums});
    SidecarWriter writer;
    const auto old = Sidecar::open(memory_file_system().open(sidecar_));
    for (uint64_t i = 0; i < old->records(); ++i) {
      if (!old->has_table()) {
        writer.add_length(open_container(uri_)->extent(i).length);
      } else if (checksums) {
        writer.add_record(old->record(i), old->payload_crc(i));
      } else {
        writer.add_record(old->record(i));
      }
    }
    writer.set_payloads(old->payloads());
    writer.set_classes({"cat", "dog"});
    const auto sink = memory_file_system().create(sidecar_);
    writer.write_to(old->identity(), *sink);
    sink->commit();
    data_ = data;
    frx_ = contents(sidecar_);
    right_ = seen(*open_container(uri_));
    ASSERT_EQ(right_.classes.size(), 2u);
    for (const auto& record : right_.records) ASSERT_TRUE(record);
  }

  // Opens the dataset. Returns: the problem with its content, or an empty text. `warned`: class
  // names may be missing, because a warning was given.
  std::string wrong() {
    std::vector<std::string> warnings;
    std::optional<Seen> now;
    try {
      now = seen(*open_container(
          uri_, {.warn = [&](const std::string& text) { warnings.push_back(text); }}));
    } catch (const Error&) {
      ++errors_;
      return "";
    }
    if (now->records.size() != right_.records.size()) return "another number of records";
    if (now->fields != right_.fields) return "other fields";
    if (now->classes != right_.classes && (!now->classes.empty() || warnings.empty())) {
      return "other classes";
    }
    for (size_t i = 0; i < now->records.size(); ++i) {
      if (!now->records[i]) {
        ++bad_records_;
      } else if (now->records[i] != right_.records[i]) {
        return "other data in record " + std::to_string(i);
      }
    }
    return "";
  }

  // Flips each byte at a multiple of `stride` from either end in three ways, and truncates the file
  // before it.
  void sweep(const std::string& uri, const std::string& whole, size_t stride = 1) {
    for (size_t at = 0; at < whole.size(); at += stride) {
      for (const int mask : {0x01, 0x80, 0xff}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ mask);
        put(uri, changed);
        ASSERT_EQ(wrong(), "") << uri << ": byte " << at << " ^ " << mask;
      }
      put(uri, whole.substr(0, at));
      ASSERT_EQ(wrong(), "") << uri << " cut to " << at;
    }
    put(uri, whole);
    ASSERT_EQ(wrong(), "");
  }

  std::string uri_ = "memory://sweep.rec";
  std::string sidecar_ = "memory://sweep.rec.frx";
  std::string data_;
  std::string frx_;
  Seen right_;
  uint64_t errors_ = 0;
  uint64_t bad_records_ = 0;
};

// One record has several parts, and some records are padded.
std::vector<std::string> small_payloads() {
  using recordio::image_payload;
  return {image_payload(1, {1}, "abc"), image_payload(2, {0}, "ab" + recordio::kMagicText + "cdef"),
          image_payload(3, {1}, "abcd" + recordio::kMagicText + "e"), image_payload(4, {0}, "x")};
}

TEST_F(DamageSweep, no_change_of_a_small_record_file_gives_other_data) {
  make(recordio::framed_file(small_payloads()), true);
  sweep(uri_, data_);
  EXPECT_GT(bad_records_, 0u);
  EXPECT_GE(errors_, data_.size());  // each cut
}

// Both ends cover the whole file.
TEST_F(DamageSweep, no_change_of_a_small_record_file_without_checksums_gives_other_data) {
  make(recordio::framed_file(small_payloads()), false);
  sweep(uri_, data_);
}

TEST_F(DamageSweep, no_change_of_a_file_of_one_record_gives_other_data) {
  make(recordio::framed_file({small_payloads()[0]}), true);
  sweep(uri_, data_);
}

// The file is longer than both ends. Tests some of its bytes, with a stride that reaches all
// residues.
TEST_F(DamageSweep, no_change_of_a_longer_record_file_gives_other_data) {
  std::vector<std::string> payloads;
  for (uint64_t i = 0; i < 5; ++i) {
    payloads.push_back(recordio::image_payload(i, {float(i % 2)},
                                               std::string(2500 + i, static_cast<char>('a' + i))));
  }
  make(recordio::framed_file(payloads), true);
  sweep(uri_, data_, 97);
}

TEST_F(DamageSweep, no_change_of_a_sidecar_gives_other_data) {
  make(recordio::framed_file(small_payloads()), true);
  sweep(sidecar_, frx_, 2);
  EXPECT_EQ(bad_records_, 0u);
  EXPECT_EQ(errors_, 0u);
}

TEST_F(DamageSweep, no_change_of_a_file_of_samples_or_of_its_sidecar_gives_other_data) {
  make(recordio::framed_file(testing::made_payloads(2)), true);
  sweep(uri_, data_);
  EXPECT_GE(errors_, data_.size());  // each cut
  errors_ = 0;
  sweep(sidecar_, frx_, 3);
  EXPECT_EQ(errors_, 0u);
}

// Without checksums, a changed value cannot be told from another sample.
TEST_F(DamageSweep, every_change_of_a_file_of_samples_without_a_sidecar_is_an_error_or_a_sample) {
  const std::string whole = recordio::framed_file(testing::made_payloads(2));
  const size_t first_record = recordio::framed_file(testing::made_payloads(1)).size();
  const auto records_that_are_read = [&](const std::string& changed) {
    put(uri_, changed);
    size_t records = 0;
    try {
      const Seen now = seen(*open_container(uri_, {.ignore_sidecar = true}));
      for (const auto& record : now.records) records += record.has_value();
    } catch (const Error&) {
    }
    return records;
  };
  ASSERT_EQ(records_that_are_read(whole), 2u);
  for (size_t at = 0; at < whole.size(); ++at) {
    EXPECT_EQ(records_that_are_read(whole.substr(0, at)), at == first_record ? 1u : 0u) << at;
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ mask);
      EXPECT_LE(records_that_are_read(changed), 2u) << at;
    }
  }
}

class FfrecordDamageSweep : public DamageSweep {
 protected:
  FfrecordDamageSweep() {
    uri_ = "memory://sweep.ffr";
    sidecar_ = "memory://sweep.ffr.frx";
    std::vector<std::string> records = small_payloads();
    for (std::string& record : records) record.replace(24, 3, "\xff\xd8\xff");  // as JPEG begins
    make(ffrecord::file_of(records), true);
  }
};

TEST_F(FfrecordDamageSweep, no_change_of_the_file_gives_other_data) {
  sweep(uri_, data_);
  EXPECT_GE(errors_, data_.size());  // each cut
}

TEST_F(FfrecordDamageSweep, no_change_of_a_file_of_samples_gives_other_data) {
  make(ffrecord::file_of(testing::made_payloads(2)), true);
  sweep(uri_, data_);
  EXPECT_GE(errors_, data_.size());  // each cut
}

TEST_F(FfrecordDamageSweep, no_change_of_its_sidecar_gives_other_data) {
  sweep(sidecar_, frx_, 3);
  EXPECT_EQ(errors_, 0u);
}

}  // namespace
}  // namespace fuelrail
