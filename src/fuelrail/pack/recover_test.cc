#include "fuelrail/pack/recover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/packer_rig.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The ids of `records`, which come from the twelve photographs.
std::vector<uint64_t> ids_without(const std::vector<uint64_t>& lost) {
  std::vector<uint64_t> ids;
  for (uint64_t id = 0; id < 12; ++id) {
    if (std::find(lost.begin(), lost.end(), id) == lost.end()) ids.push_back(id);
  }
  return ids;
}

std::vector<uint64_t> ids_of(const Container& container) {
  std::vector<uint64_t> ids;
  std::vector<std::byte> framed;
  Sample sample;
  for (uint64_t i = 0; i < container.size(); ++i) {
    read_sample(container, i, framed, sample);
    ids.push_back(sample.id);
  }
  return ids;
}

class Recover : public Packer, public ::testing::WithParamInterface<const char*> {
 protected:
  std::string source() const { return out(std::string("x") + GetParam()); }
  std::string output() const { return out(std::string("good") + GetParam()); }

  void SetUp() override {
    pack(photos(), source(), {.threads = 2});
    const auto container = open_container(source());
    for (uint64_t i = 0; i < 12; ++i) {
      const Extent extent = container->extent(i);
      records_.emplace_back(extent.offset, extent.length);
    }
  }

  Recovery recover_it(bool overwrite = false) {
    losses_.clear();
    warnings_.clear();
    return recover(source(), output(),
                   {.overwrite = overwrite,
                    .warn = [this](const std::string& text) { warnings_.push_back(text); }},
                   [this](const Damage& loss) { losses_.push_back(loss); });
  }

  void flip(uint64_t offset) const {
    std::string contents = file_contents(source());
    contents[offset] = static_cast<char>(contents[offset] ^ 1);
    write_file(source(), contents);
  }

  std::vector<std::pair<uint64_t, uint64_t>> records_;  // offset and length
  std::vector<Damage> losses_;
  std::vector<std::string> warnings_;
};

TEST_P(Recover, a_whole_file_is_copied_with_its_companions) {
  const Recovery recovery = recover_it();
  EXPECT_EQ(recovery.file.records, 12u);
  EXPECT_EQ(recovery.lost_records, 0u);
  EXPECT_EQ(recovery.losses, 0u);
  EXPECT_TRUE(recovery.checksums);
  for (const std::string& name : names_in(out())) {
    if (!name.starts_with("x.")) continue;
    EXPECT_EQ(file_contents(out(name)), file_contents(out("good" + name.substr(1)))) << name;
  }
}

TEST_P(Recover, a_record_with_a_wrong_checksum_is_lost_and_no_other) {
  const auto [offset, length] = records_[5];
  flip(offset + length / 2);
  const Recovery recovery = recover_it();
  EXPECT_EQ(recovery.lost_records, 1u);
  ASSERT_EQ(losses_.size(), 1u);
  EXPECT_EQ(losses_[0].record, 5u);
  EXPECT_EQ(losses_[0].offset, offset);
  EXPECT_EQ(losses_[0].skipped_bytes, length);
  const auto good = open_container(output());
  EXPECT_EQ(ids_of(*good), ids_without({5}));
  EXPECT_THAT(good->classes(), ElementsAre("ant", "bee", "cat dog"));
  EXPECT_TRUE(good->verifies_checksums());
}

TEST_P(Recover, a_cut_file_gives_the_records_before_the_cut) {
  for (const uint64_t cut : {records_[9].first + 3, records_[9].first}) {
    std::filesystem::resize_file(source(), cut);
    const Recovery recovery = recover_it(true);
    EXPECT_EQ(recovery.file.records, 9u);
    EXPECT_EQ(recovery.lost_records, 3u);
    EXPECT_FALSE(losses_.empty());
    const auto good = open_container(output());
    EXPECT_EQ(ids_of(*good), ids_without({9, 10, 11}));
    EXPECT_THAT(good->classes(), ElementsAre("ant", "bee", "cat dog"));
  }
}

TEST_P(Recover, what_is_refused_leaves_nothing) {
  EXPECT_THAT(testing::refusal_of<InvalidArgumentError>([&] { recover(source(), source()); }),
              HasSubstr("the source and the output are the same file"));
  EXPECT_THAT(testing::refusal_of<InvalidArgumentError>([&] { recover(source(), out("good")); }),
              HasSubstr("ends in .rec, .ffr or .bzna"));
  EXPECT_THAT(testing::refusal_of<StateError>([&] {
                recover(source(), output(),
                        {.progress = [](const PackProgress&) { return false; }});
              }),
              HasSubstr("interrupted"));
  const auto nothing_made = [&] {
    for (const std::string& name : names_in(out())) EXPECT_FALSE(name.starts_with("good")) << name;
  };
  nothing_made();
  std::string contents = file_contents(source());
  for (const auto& [offset, length] : records_) contents.replace(offset, length, length, '\0');
  write_file(source(), contents);
  testing::refusal_of<CorruptError>([&] { recover_it(); });
  nothing_made();
  write_file(output(), "mine");
  EXPECT_THAT(testing::refusal_of<IoError>([&] { recover_it(); }), HasSubstr("already exists"));
  EXPECT_EQ(file_contents(output()), "mine");
}

INSTANTIATE_TEST_SUITE_P(Formats, Recover, ::testing::Values(".rec", ".ffr"));

class RecoverRec : public Recover {};

TEST_P(RecoverRec, damaged_framing_is_passed_over) {
  flip(records_[5].first);
  flip(records_[7].first);
  EXPECT_EQ(recover_it().lost_records, 2u);
  EXPECT_EQ(ids_of(*open_container(output())), ids_without({5, 7}));
  EXPECT_EQ(losses_.size(), 2u);
}

TEST_P(RecoverRec, keys_of_the_index_stay) {
  std::string index;
  for (size_t i = 0; i < 12; ++i) {
    index += std::to_string(100 + i) + "\t" + std::to_string(records_[i].first) + "\n";
  }
  write_file(out("x.idx"), index);
  flip(records_[5].first + 40);
  recover_it();
  const std::string made = file_contents(out("good.idx"));
  const auto entries = recordio::parse_index(as_bytes(made), "good.idx");
  ASSERT_EQ(entries.size(), 11u);
  EXPECT_EQ(entries[4].key, "104");
  EXPECT_EQ(entries[5].key, "106");
  EXPECT_EQ(entries[5].offset, records_[5].first);
}

TEST_P(RecoverRec, a_damaged_index_is_a_warning) {
  write_file(out("x.idx"), "no index");
  EXPECT_EQ(recover_it().file.records, 12u);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0],
              HasSubstr("the output does not keep the keys of the index: " + out("x.idx")));
  EXPECT_EQ(ids_of(*open_container(output())), ids_without({}));
}

TEST_P(RecoverRec, keep_going_ends_the_scan) {
  EXPECT_THAT(testing::refusal_of<StateError>(
                  [&] { recover(source(), output(), {.keep_going = [] { return false; }}); }),
              HasSubstr("interrupted"));
}

TEST_P(RecoverRec, without_a_sidecar_nothing_tells_how_much_was_lost) {
  std::filesystem::remove(source() + ".frx");
  std::filesystem::resize_file(source(), records_[9].first + 3);
  const Recovery recovery = recover_it();
  EXPECT_EQ(recovery.file.records, 9u);
  EXPECT_EQ(recovery.lost_records, std::nullopt);
  EXPECT_FALSE(recovery.checksums);
  EXPECT_EQ(losses_.size(), 1u);
  EXPECT_EQ(ids_of(*open_container(output())), ids_without({9, 10, 11}));
  EXPECT_FALSE(std::filesystem::exists(source() + ".frx"));
}

TEST_P(RecoverRec, the_output_may_be_of_the_other_format) {
  flip(records_[5].first + 40);
  recover(source(), out("good.ffr"));
  const auto good = open_container(out("good.ffr"));
  EXPECT_EQ(ids_of(*good), ids_without({5}));
  EXPECT_THAT(good->classes(), ElementsAre("ant", "bee", "cat dog"));
}

INSTANTIATE_TEST_SUITE_P(Formats, RecoverRec, ::testing::Values(".rec"));

using RecoverOpaque = Packer;

TEST_F(RecoverOpaque, numbers_of_records_without_keys_stay_those_of_the_source) {
  const auto sink = file_system_for(out()).create(out("x.rec"));
  recordio::RecordWriter writer(*sink);
  for (const char letter : {'a', 'b', 'c'}) writer.append(as_bytes(std::string(5000, letter)));
  sink->commit();
  build_sidecar(out("x.rec"));
  std::string contents = file_contents(out("x.rec"));
  contents[contents.size() / 2] = 'B';
  write_file(out("x.rec"), contents);
  EXPECT_EQ(recover(out("x.rec"), out("good.rec")).lost_records, 1u);
  EXPECT_EQ(file_contents(out("good.idx")), "0\t0\n2\t5008\n");
}

TEST_F(RecoverOpaque, a_key_that_is_made_up_is_no_other_records_key) {
  const auto sink = file_system_for(out()).create(out("x.rec"));
  recordio::RecordWriter writer(*sink);
  for (const char letter : {'a', 'b', 'c', 'd'}) writer.append(as_bytes(std::string(8, letter)));
  sink->commit();
  write_file(out("x.idx"), "3\t0\n1\t16\n");  // truncated at the end of a line
  EXPECT_EQ(recover(out("x.rec"), out("good.rec")).file.records, 4u);
  EXPECT_EQ(file_contents(out("good.idx")), "3\t0\n1\t16\n2\t32\n4\t48\n");
}

TEST_F(RecoverOpaque, what_the_sidecar_does_not_know_is_no_record) {
  const auto sink = file_system_for(out()).create(out("x.rec"));
  recordio::RecordWriter writer(*sink);
  const std::string magic("\x0a\x23\xd7\xce", 4);
  for (const std::string& payload :
       {std::string("aaaa"), "bbbb" + magic + "bbbb" + magic + "bbbb", std::string("cccc")}) {
    writer.append(as_bytes(payload));
  }
  sink->commit();
  open_container(out("x.rec"));  // writes a sidecar without checksums
  std::string contents = file_contents(out("x.rec"));
  contents[12 + 12 + 7] = 0;  // turns the middle part of the second record into a record
  write_file(out("x.rec"), contents);
  const Recovery recovery = recover(out("x.rec"), out("good.rec"));
  EXPECT_EQ(recovery.lost_records, 1u);
  EXPECT_EQ(file_contents(out("good.idx")), "0\t0\n2\t12\n");
  const auto verified = recordio::open_damaged(out("x.rec"), [](const auto&) {}).file;
  EXPECT_EQ(verified->size(), 2);
}

TEST_F(RecoverOpaque, a_record_too_long_for_the_output_is_refused_before_it_is_read) {
  write_file(out("x.ffr"), ffrecord::file_of(1, {0}, {24}, ""));
  std::filesystem::resize_file(out("x.ffr"), 24 + (uint64_t{1} << 40));
  for (const auto& [output, most] : {std::pair("good.rec", "536870911"), {"y.ffr", "2147483648"}}) {
    EXPECT_THAT(
        testing::refusal_of<UnsupportedError>([&] { recover(out("x.ffr"), out(output)); }),
        HasSubstr(std::string(" too long for the output: expected at most ") + most + " bytes"));
  }
}

}  // namespace
}  // namespace fuelrail::pack
