// Hints of images: made with a sidecar, given with the images, and never believed wrongly. Here
// they are made by a function that stands for the decoder's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/record_file.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/made_samples.h"
#include "fuelrail/testing/record_file.h"

namespace fuelrail {
namespace {

using recordio::image_payload;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Returns "3:abc" for an image "abc..."; none for an image that begins with "-".
std::vector<std::byte> made_hints(Bytes encoded) {
  const std::string_view image = as_text(encoded);
  if (image.starts_with("-")) return {};
  const std::string text = std::to_string(image.size()) + ":" + std::string(image.substr(0, 3));
  const Bytes hints = as_bytes(text);
  return {hints.begin(), hints.end()};
}

MakeHints maker() { return made_hints; }

// What an image has instead of hints that are damaged or not its own: a decoder refuses it.
const std::string kRefused(1, '\0');

// A record file and its sidecar in memory, without a cache.
class Hints : public ::testing::TestWithParam<const char*> {
 protected:
  Hints() {
    ::unsetenv("XDG_CACHE_HOME");
    ::unsetenv("HOME");
    memory_file_system().remove(frx_);
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
  std::string file_of(const std::vector<std::string>& payloads) const {
    return uri_.ends_with(".ffr") ? ffrecord::file_of(payloads) : recordio::framed_file(payloads);
  }

  void index(const HintOptions& hints = {.maker = maker}) const {
    build_sidecar(uri_, {.hints = hints});
  }
  void make(const std::vector<std::string>& payloads) {
    put(uri_, file_of(payloads));
    memory_file_system().remove(frx_);
    index();
  }

  std::shared_ptr<const Container> open() {
    warnings_.clear();
    return open_container(uri_,
                          {.warn = [this](const std::string& text) { warnings_.push_back(text); }});
  }

  // The hints of each image; empty for a record that cannot be read.
  static std::vector<std::string> hints_of(const Container& container, size_t field = 0) {
    std::vector<std::string> all;
    std::vector<std::byte> framed;
    Sample sample;  // reused, so that nothing may be left over from the record before
    for (uint64_t i = 0; i < container.size(); ++i) {
      try {
        read_sample(container, i, framed, sample);
        all.emplace_back(as_text(sample.fields[field].hints));
      } catch (const CorruptError&) {
        all.emplace_back();
      }
    }
    return all;
  }

  // Writes a sidecar with the given hints and the CRC-32 of these payloads for the file as it is.
  void write_sidecar(const std::vector<std::string>& payloads,
                     const std::function<void(HintsBuilder&)>& add) const {
    SidecarWriter writer;
    const auto old = Sidecar::open(memory_file_system().open(frx_));
    for (uint64_t i = 0; i < payloads.size(); ++i) {
      if (old->has_table()) {
        writer.add_record(old->record(i), crc32(as_bytes(payloads[i])));
      } else {
        writer.add_length(payloads[i].size());
      }
    }
    writer.set_payloads(old->payloads());
    add(writer.hints());
    const auto sink = memory_file_system().create(frx_);
    writer.write_to(identify(*memory_file_system().open(uri_)), *sink);
    sink->commit();
  }

  std::string uri_ = std::string("memory://hints") + GetParam();
  std::string frx_ = uri_ + ".frx";
  std::vector<std::string> warnings_;
};

INSTANTIATE_TEST_SUITE_P(Formats, Hints, ::testing::Values(".rec", ".ffr"),
                         [](const auto& tested) { return std::string(tested.param + 1); });

// FFRecord files have images only if they begin as images do.
const std::string kJpeg = "\xff\xd8\xff";

std::vector<std::string> jpeg_payloads() {
  return {image_payload(1, {1}, kJpeg + "first"), image_payload(2, {0}, kJpeg),
          image_payload(3, {1}, "-none"), image_payload(4, {0}, kJpeg + recordio::kMagicText)};
}

TEST_P(Hints, are_given_with_the_images_they_were_made_of) {
  make(jpeg_payloads());
  const auto container = open();
  EXPECT_THAT(hints_of(*container), ElementsAre("8:" + kJpeg, "3:" + kJpeg, "", "7:" + kJpeg));
  EXPECT_THAT(hints_of(*container, 1), ElementsAre("", "", "", ""));
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_EQ(Sidecar::open(memory_file_system().open(frx_))->hinted_records(), 3u);
}

TEST_P(Hints, are_not_made_without_a_function_that_makes_them_nor_without_checksums) {
  put(uri_, file_of(jpeg_payloads()));
  index({});
  const std::string without = contents(frx_);
  EXPECT_THAT(hints_of(*open()), ElementsAre("", "", "", ""));
  index({.maker = [] { return [](Bytes) { return std::vector<std::byte>(); }; }});
  EXPECT_EQ(contents(frx_), without);  // no section
  index();
  EXPECT_NE(contents(frx_), without);
  build_sidecar(uri_, {.checksums = false, .hints = {.maker = maker}});
  EXPECT_THAT(hints_of(*open()), ElementsAre("", "", "", ""));
  index();
  index({});  // an old sidecar's hints are not kept
  EXPECT_EQ(contents(frx_), without);
}

TEST_P(Hints, are_the_same_bytes_for_any_number_of_threads) {
  std::vector<std::string> payloads;
  for (uint64_t i = 0; i < 500; ++i) {
    payloads.push_back(
        image_payload(i, {1}, (i % 7 == 0 ? "-" : kJpeg) + std::string(i * 37 % 4000, 'x')));
  }
  make(payloads);
  const std::string expected = contents(frx_);
  for (const int threads : {1, 2, 40}) {
    index({.maker = maker, .threads = threads});
    EXPECT_EQ(contents(frx_), expected) << threads;
  }
}

// More than may wait for the threads.
TEST_P(Hints, of_many_large_images_are_made_within_bounded_memory) {
  std::vector<std::string> payloads;
  for (uint64_t i = 0; i < 5; ++i) {
    payloads.push_back(image_payload(i, {1}, kJpeg + std::string(uint64_t{9} << 20, 'x')));
  }
  make(payloads);
  EXPECT_EQ(Sidecar::open(memory_file_system().open(frx_))->hinted_records(), 5u);
}

// FFRecord's checksums of records above 32 MiB are verified in parts.
TEST_P(Hints, of_a_very_large_image_are_made) {
  make({image_payload(1, {1}, kJpeg + std::string(uint64_t{33} << 20, 'x'))});
  EXPECT_EQ(Sidecar::open(memory_file_system().open(frx_))->hinted_records(), 1u);
}

TEST_P(Hints, an_error_of_making_them_is_passed_on_and_the_old_sidecar_stays) {
  make(jpeg_payloads());
  const std::string before = contents(frx_);
  const auto fails = [](Bytes image) -> std::vector<std::byte> {
    if (image.size() == 3) throw std::bad_alloc();
    return made_hints(image);
  };
  EXPECT_THROW(index({.maker = [&] { return fails; }, .threads = 2}), std::bad_alloc);
  EXPECT_EQ(contents(frx_), before);
}

TEST_P(Hints, making_them_can_be_interrupted) {
  put(uri_, file_of(jpeg_payloads()));
  BuildSidecarOptions options{.hints = {.maker = maker, .threads = 2}};
  options.progress = [](uint64_t done, uint64_t) { return done == 0; };
  EXPECT_THROW(build_sidecar(uri_, options), StateError);
  EXPECT_FALSE(memory_file_system().stat(frx_));
}

TEST_P(Hints, are_absent_or_right_whichever_byte_of_the_sidecar_changes) {
  make(jpeg_payloads());
  const std::string whole = contents(frx_);
  const std::vector<std::string> right = hints_of(*open());
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ mask);
      put(frx_, changed);
      const std::vector<std::string> found = hints_of(*open());
      if (found == right) continue;
      ASSERT_THAT(found, ElementsAre("", "", "", "")) << at << " ^ " << mask;
      ASSERT_FALSE(warnings_.empty()) << at << " ^ " << mask;
    }
  }
}

// The rest of the sidecar is used.
TEST_P(Hints, that_are_damaged_are_warned_of_once) {
  make(jpeg_payloads());
  std::string changed = contents(frx_);
  changed.back() = static_cast<char>(changed.back() ^ 1);
  put(frx_, changed);
  const auto container = open();
  EXPECT_THAT(warnings_,
              ElementsAre(AllOf(HasSubstr("the entry points of the images are not used: "),
                                HasSubstr("Run 'fuelrail index' on the data file"),
                                Not(HasSubstr("away")))));
  EXPECT_THAT(hints_of(*container), ElementsAre("", "", "", ""));
  EXPECT_TRUE(container->verifies_checksums());
  const auto sidecar = Sidecar::open(memory_file_system().open(frx_));
  EXPECT_FALSE(sidecar->has_hints());
  EXPECT_THROW(sidecar->verify(), CorruptError);
}

TEST_P(Hints, of_the_sidecar_of_another_file_are_not_used) {
  make(jpeg_payloads());
  const std::string foreign = contents(frx_);
  std::vector<std::string> others = jpeg_payloads();
  others[0] = image_payload(1, {1}, kJpeg + "other");  // of the same length
  put(uri_, file_of(others));
  memory_file_system().remove(frx_);
  put(frx_, foreign);
  EXPECT_THAT(hints_of(*open()), ElementsAre("", ::testing::AnyOf("", "3:" + kJpeg), "",
                                             ::testing::AnyOf("", "7:" + kJpeg)));
}

// As if a record of an `.ffr`, whose own table has the checksums, changed behind its sidecar.
TEST_P(Hints, of_a_payload_that_was_replaced_are_not_given) {
  std::vector<std::string> payloads = jpeg_payloads();
  make(payloads);
  write_sidecar(payloads, [&](HintsBuilder& hints) {
    hints.add(0, crc32(as_bytes(payloads[0])) ^ 1, as_bytes("of another"));
    hints.add(3, crc32(as_bytes(payloads[3])), as_bytes("right"));
  });
  EXPECT_THAT(hints_of(*open()), ElementsAre(kRefused, "", "", "right"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_P(Hints, need_a_record_whose_checksum_was_verified) {
  make(jpeg_payloads());
  EXPECT_THAT(hints_of(*open_container(uri_, {.ignore_sidecar = true})),
              ElementsAre("", "", "", ""));
}

// A forged section: its checksums are right, its table is not.
TEST_P(Hints, in_a_forged_table_are_warned_of_and_not_used) {
  make(jpeg_payloads());
  const auto forged = [&](const std::vector<uint64_t>& ends, uint64_t bytes) {
    SidecarWriter writer;
    const auto old = Sidecar::open(memory_file_system().open(frx_));
    for (uint64_t i = 0; i < 4; ++i) {
      old->has_table() ? writer.add_record(old->record(i), old->payload_crc(i))
                       : writer.add_length(jpeg_payloads()[i].size());
    }
    writer.set_payloads(old->payloads());
    std::vector<std::byte> data;
    for (const uint64_t end : ends) append_le(data, end);
    data.resize(data.size() + bytes);
    writer.add_section(kHintsSection, data, true);
    const auto sink = memory_file_system().create(frx_);
    writer.write_to(old->identity(), *sink);
    sink->commit();
    const auto container = open();
    const std::vector<std::string> found = hints_of(*container);
    const std::string valid = warnings_.empty() ? kRefused : "";
    EXPECT_THAT(found, ElementsAre(valid, "", "", valid));
    return warnings_.size();
  };
  EXPECT_EQ(forged({0, 8, 8, 8, 16}, 16), 0u);  // valid, for a payload whose CRC-32 is 0
  EXPECT_EQ(forged({0, 8, 8, 8}, 0), 1u);       // too short
  EXPECT_EQ(forged({}, 0), 1u);
  EXPECT_EQ(forged({16, 8, 8, 8, 16}, 16), 1u);
  EXPECT_EQ(forged({0, 8, 0, 8, 16}, 16), 1u);
  EXPECT_EQ(forged({0, 8, 8, 8, 17}, 16), 1u);
  EXPECT_EQ(forged({0, 8, 8, 8, UINT64_MAX}, 16), 1u);
  EXPECT_EQ(forged({0, 3, 8, 8, 16}, 16), 1u);  // too short for a CRC-32
  EXPECT_EQ(forged({0, 0, 0, 0, kMaxHintsBytes + 5}, kMaxHintsBytes + 5), 1u);
  index();  // makes the section anew, although its flag says that it cannot be rebuilt
  EXPECT_THAT(hints_of(*open()), ElementsAre("8:" + kJpeg, "3:" + kJpeg, "", "7:" + kJpeg));
}

// In blocks.
TEST_P(Hints, of_a_large_section_are_right_or_all_refused) {
  std::vector<std::string> payloads = jpeg_payloads();
  make(payloads);
  const std::string large(uint64_t{3} << 20, 'l');
  write_sidecar(payloads, [&](HintsBuilder& hints) {
    for (const uint64_t i : {0, 2}) hints.add(i, crc32(as_bytes(payloads[i])), as_bytes(large));
    hints.add(3, crc32(as_bytes(payloads[3])), as_bytes(large + "r"));
  });
  EXPECT_THAT(hints_of(*open()), ElementsAre(large, "", large, large + "r"));
  const std::string whole = contents(frx_);
  for (const size_t at :
       {whole.find("lll") + 5'000'000, whole.size() - 1}) {  // a block, its CRC-32
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    put(frx_, changed);
    EXPECT_THAT(hints_of(*open()), ElementsAre("", "", "", "")) << at;
    ASSERT_EQ(warnings_.size(), 1u) << at;
    EXPECT_THAT(warnings_[0], AllOf(HasSubstr("fuelrail index"), Not(HasSubstr("away")))) << at;
    EXPECT_TRUE(open()->verifies_checksums()) << at;
  }
}

#ifndef FUELRAIL_SANITIZED  // takes ten seconds there
// Too large to be read at opening: only hints that use a damaged block cannot be used.
TEST_P(Hints, of_a_section_above_64_mib_are_read_as_they_are_used) {
  std::vector<std::string> payloads = jpeg_payloads();
  make(payloads);
  const std::string longest(kMaxHintsBytes, 'l');
  for (uint64_t i = 4; i < 6; ++i) payloads.push_back(image_payload(i, {0}, kJpeg));
  make(payloads);
  write_sidecar(payloads, [&](HintsBuilder& hints) {
    hints.add(0, crc32(as_bytes(payloads[0])), as_bytes(longest + "+"));  // too long to be stored
    for (uint64_t i = 1; i < 5; ++i) {
      hints.add(i, crc32(as_bytes(payloads[i])), as_bytes(longest));
    }
    hints.add(5, crc32(as_bytes(payloads[5])), as_bytes("last"));
  });
  std::vector<std::string> found = hints_of(*open());
  ASSERT_EQ(found.size(), 6u);
  EXPECT_EQ(found[0], "");
  for (size_t i = 1; i < 5; ++i) EXPECT_TRUE(found[i] == longest) << i;
  EXPECT_EQ(found[5], "last");
  std::string changed = contents(frx_);
  changed[changed.find("last") - kMaxHintsBytes / 2] = 'x';
  put(frx_, changed);
  found = hints_of(*open());
  EXPECT_TRUE(found[3] == longest);
  EXPECT_EQ(found[4], kRefused);
  EXPECT_EQ(found[5], "last");
}

#endif

// --- Sample records ---

std::vector<std::string> sample_payloads(const Schema& schema, size_t images) {
  const SampleEncoder encoder(schema);
  std::vector<std::string> payloads;
  for (uint64_t i = 0; i < 2; ++i) {
    const std::string image = "image " + std::to_string(i);
    const std::vector<FieldValue> values(images, FieldValue{as_bytes(image)});
    std::vector<std::byte> payload;
    encoder.append(i, values, payload);
    payloads.emplace_back(as_text(payload));
  }
  return payloads;
}

TEST_P(Hints, of_samples_with_one_image_are_given) {
  make(sample_payloads({{image_field("camera")}}, 1));
  EXPECT_THAT(hints_of(*open()), ElementsAre("7:ima", "7:ima"));
}

TEST_P(Hints, of_samples_with_several_images_do_not_exist) {
  make(sample_payloads({{image_field("left"), image_field("right")}}, 2));
  EXPECT_THAT(hints_of(*open()), ElementsAre("", ""));
  EXPECT_FALSE(Sidecar::open(memory_file_system().open(frx_))->has_hints());
  make(testing::made_payloads(2));  // an image and a mask
  EXPECT_FALSE(Sidecar::open(memory_file_system().open(frx_))->has_hints());
}

TEST_P(Hints, of_lists_of_images_do_not_exist) {
  FieldSpec clip = image_field("clip");
  clip.flags = kListField;
  const SampleEncoder encoder({{clip}});
  FieldValue value;
  value.items = {as_bytes("image")};
  std::vector<std::byte> payload;
  encoder.append(1, {&value, 1}, payload);
  make({std::string(as_text(payload))});
  EXPECT_FALSE(Sidecar::open(memory_file_system().open(frx_))->has_hints());
}

}  // namespace
}  // namespace fuelrail
