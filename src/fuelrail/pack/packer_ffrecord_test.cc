// Packing to `.ffr`: the differences from `.rec`, and the same guarantees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/sidecar/sidecar.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Compared with the checksums in the table.
std::vector<std::string> payloads_of_ffr(const std::string& uri) {
  const auto source = file_system_for(uri).open(uri);
  const auto table = ffrecord::RecordTable::read(*source, true);
  std::vector<std::string> payloads(table.size());
  for (uint64_t i = 0; i < table.size(); ++i) {
    payloads[i].resize(table.length(i));
    source->read(table.offset(i), std::as_writable_bytes(std::span(payloads[i])));
    EXPECT_EQ(crc32(as_bytes(payloads[i])), table.crc(i)) << i;
  }
  return payloads;
}

std::vector<std::string> payloads_of_rec(const std::string& uri) {
  recordio::RecordReader reader(file_system_for(uri).open(uri));
  std::vector<std::string> payloads;
  while (const auto record = reader.next()) payloads.emplace_back(as_text(record->payload));
  return payloads;
}

std::unique_ptr<Sidecar> sidecar_at(const std::string& uri) {
  return Sidecar::open(file_system_for(uri).open(uri));
}

TEST_F(Packer, an_ffrecord_file_has_the_payloads_of_the_recordio_file) {
  pack_photos();
  const PackResult result = pack(photos(), out("x.ffr"), {.threads = 2});
  EXPECT_THAT(names_in(out()), ElementsAre("x.ffr", "x.ffr.frx", "x.idx", "x.rec", "x.rec.frx"));
  const auto payloads = payloads_of_rec(out("x.rec"));
  EXPECT_EQ(payloads.size(), images_.size());
  EXPECT_TRUE(payloads_of_ffr(out("x.ffr")) == payloads);
  EXPECT_TRUE(file_contents(out("x.ffr")) == ffrecord::file_of(payloads));
  ASSERT_EQ(result.files.size(), 1u);
  EXPECT_EQ(result.files[0].path, out("x.ffr"));
  EXPECT_EQ(result.files[0].records, images_.size());
  EXPECT_EQ(result.files[0].bytes, std::filesystem::file_size(out("x.ffr")));
}

TEST_F(Packer, an_ffrecord_files_sidecar_has_labels_and_classes_alone) {
  pack(photos(), out("x.ffr"), {.threads = 2});
  const auto sidecar = sidecar_at(out("x.ffr.frx"));
  EXPECT_EQ(sidecar->identity(), identify(*file_system_for(out("x.ffr")).open(out("x.ffr"))));
  EXPECT_EQ(sidecar->records(), images_.size());
  EXPECT_EQ(sidecar->labels(), (LabelSummary{.width = 1, .integral = true}));
  EXPECT_THAT(sidecar->classes(), ElementsAre("ant", "bee", "cat dog"));
  EXPECT_FALSE(sidecar->has_table());
  EXPECT_FALSE(sidecar->has_checksums());
  EXPECT_FALSE(sidecar->has_keys());
  sidecar->verify();
}

TEST_F(Packer, an_ffrecord_file_is_the_same_for_any_number_of_threads) {
  std::vector<std::string> files;
  std::vector<std::string> sidecars;
  for (const int threads : {1, 2, 7}) {
    pack(photos(), out("x.ffr"),
         {.images = StoredImages{.resize = 24}, .job = {.overwrite = true}, .threads = threads});
    files.push_back(file_contents(out("x.ffr")));
    sidecars.push_back(file_contents(out("x.ffr.frx")));
  }
  for (size_t i = 1; i < files.size(); ++i) {
    EXPECT_TRUE(files[i] == files[0]);
    EXPECT_TRUE(sidecars[i] == sidecars[0]);
  }
}

// The writer reserved space for the table entries of all images.
TEST_F(Packer, images_left_out_of_an_ffrecord_file_leave_no_gap) {
  write_file(photo(images_[3]), "no image");
  write_file(photo(images_[7]), "nor this");
  PackOptions options{.max_errors = {.count = 2}, .threads = 2};
  const PackResult result = pack(photos(), out("x.ffr"), options);
  EXPECT_EQ(result.failures.size(), 2u);
  EXPECT_EQ(result.report, out("x.ffr.errors.jsonl"));
  EXPECT_EQ(result.files[0].bytes, std::filesystem::file_size(out("x.ffr")));
  pack(photos(), out("x.rec"), options);
  const auto payloads = payloads_of_rec(out("x.rec"));
  EXPECT_EQ(payloads.size(), images_.size() - 2);
  EXPECT_TRUE(file_contents(out("x.ffr")) == ffrecord::file_of(payloads));
  EXPECT_EQ(sidecar_at(out("x.ffr.frx"))->records(), images_.size() - 2);
}

TEST_F(Packer, an_ffrecord_output_is_split_into_ffrecord_files) {
  const PackOptions options{.split = {{"train", 0.75}, {"val", 0.25}}, .threads = 2};
  const PackResult result = pack(photos(), out("x.ffr"), options);
  EXPECT_THAT(names_in(out()),
              ElementsAre("x_train.ffr", "x_train.ffr.frx", "x_val.ffr", "x_val.ffr.frx"));
  pack(photos(), out("x.rec"), options);
  for (const char* part : {"x_train", "x_val"}) {
    EXPECT_TRUE(payloads_of_ffr(out(std::string(part) + ".ffr")) ==
                payloads_of_rec(out(std::string(part) + ".rec")));
  }
  EXPECT_EQ(result.files[0].records + result.files[1].records, images_.size());
}

TEST_F(Packer, an_ffrecord_output_that_is_there_is_refused_or_replaced) {
  write_file(out("x.ffr"), "mine");
  EXPECT_THAT(refusal<IoError>(photos(), out("x.ffr")),
              HasSubstr("x.ffr: the output already exists"));
  EXPECT_EQ(file_contents(out("x.ffr")), "mine");
  pack(photos(), out("x.ffr"), {.job = {.overwrite = true}, .threads = 2});
  EXPECT_EQ(payloads_of_ffr(out("x.ffr")).size(), images_.size());
}

TEST_F(Packer, an_ffrecord_output_that_is_given_up_leaves_nothing) {
  PackOptions options{.threads = 2};
  options.job.progress = [](const PackProgress& now) { return now.done < 6; };
  EXPECT_EQ(refusal<StateError>(photos(), out("x.ffr"), options), "the work was interrupted");
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Packer, a_second_packer_of_an_ffrecord_output_is_refused) {
  std::string refused;
  PackOptions options{.threads = 2};
  options.job.progress = [&](const PackProgress&) {
    if (refused.empty()) refused = refusal<IoError>(photos(), out("x.ffr"));
    return true;
  };
  pack(photos(), out("x.ffr"), options);
  EXPECT_THAT(refused, HasSubstr("x.ffr: another job is writing the output"));
  EXPECT_EQ(payloads_of_ffr(out("x.ffr")).size(), images_.size());
}

}  // namespace
}  // namespace fuelrail::pack
