// Shows that a new record format needs only a folder (testing/invented_format.h) and a row, which
// is added here. Every command then works on its files, or reports that an entry of the row is
// missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/loader/loader.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/invented_format.h"
#include "fuelrail/testing/memory_container.h"
#include "fuelrail/testing/packer_rig.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using ::testing::AllOf;
using testing::call;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::refusal_of;
using testing::Said;

class InventedFormat : public Packer {
 protected:
  InventedFormat() {
    pack_photos();
    inv = out("x.inv");
    EXPECT_EQ(call({"pack", photos(), inv, "-q"}).code, 0);
  }

  void expect_equal_files(const std::string& a, const std::string& b) const {
    EXPECT_TRUE(file_contents(out(a)) == file_contents(out(b))) << a << " and " << b;
  }

  void damage(size_t at) const {
    std::string contents = file_contents(inv);
    contents[at] = static_cast<char>(contents[at] ^ 1);
    write_file(inv, contents);
  }

  // The error text of a command that must fail and must not change any file.
  std::string refusal(const std::vector<std::string>& arguments) const {
    const auto before = outputs();
    const Said said = call(arguments);
    EXPECT_NE(said.code, 0) << said.out;
    EXPECT_TRUE(outputs() == before) << arguments[0];
    return said.out + said.err;
  }

  FileFormat row = invented::kFormat;  // tests change it
  LentFormat lent{row};
  std::string inv;
};

TEST_F(InventedFormat, info_ls_and_cat_read_it) {
  EXPECT_THAT(call({"info", inv}).out,
              AllOf(HasSubstr(": Invented"), HasSubstr("3: ant, bee, cat dog"),
                    HasSubstr("12 jpeg"), HasSubstr("verified on every read")));
  EXPECT_EQ(call({"ls", inv}).out, call({"ls", out("x.rec")}).out);
  EXPECT_EQ(call({"cat", inv, "7"}).out, file_contents(photo(images_[7])));
  EXPECT_EQ(call({"cat", inv, "7", "--raw"}).out, call({"cat", out("x.rec"), "7", "--raw"}).out);
}

TEST_F(InventedFormat, a_folder_of_its_files_is_one_container) {
  std::filesystem::create_directory(out("folder"));
  for (const char* name : {"folder/a.inv", "folder/b.inv"}) {
    std::filesystem::copy_file(inv, out(name));
  }
  EXPECT_THAT(call({"verify", out("folder"), "-q"}).out, HasSubstr("24 records, all well"));
  write_file(out("folder/c.ffr"), "");
  EXPECT_THAT(call({"info", out("folder")}).err,
              HasSubstr("the folder has both Invented files and FFRecord files"));
}

TEST_F(InventedFormat, verify_of_a_folder_says_how_to_recover_the_damaged_file) {
  std::filesystem::create_directory(out("folder"));
  std::filesystem::copy_file(inv, out("folder/a.inv"));
  damage(3000);
  std::filesystem::copy_file(inv, out("folder/b.inv"));
  EXPECT_THAT(call({"verify", out("folder"), "-q"}).err,
              HasSubstr("'fuelrail recover " + out("folder/b.inv") + " OUT'"));
}

TEST_F(InventedFormat, verify_and_index_check_it) {
  EXPECT_THAT(call({"verify", inv, "-q", "--decode"}).out, HasSubstr("12 records, all well"));
  const std::string sidecar = file_contents(inv + ".frx");
  EXPECT_EQ(call({"index", inv, "-q"}).code, 0);
  EXPECT_EQ(file_contents(inv + ".frx"), sidecar);
  damage(3000);
  const Said said = call({"verify", inv, "-q"});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, AllOf(HasSubstr(inv + ": record "), HasSubstr("checksum")));
  EXPECT_THAT(said.err, HasSubstr("'fuelrail recover " + inv + " OUT'"));
  EXPECT_THAT(call({"verify", inv, "-q", "--recover"}).out, HasSubstr(": 11 records, "));
}

TEST_F(InventedFormat, convert_goes_both_ways_without_loss) {
  for (const std::string other : {"rec", "ffr"}) {
    EXPECT_EQ(call({"convert", inv, out("c." + other), "-q"}).code, 0);
    EXPECT_EQ(call({"convert", out("c." + other), out(other + ".inv"), "-q"}).code, 0);
    expect_equal_files("x.inv", other + ".inv");
    expect_equal_files("x.inv.frx", other + ".inv.frx");
  }
  for (const std::string end : {".rec", ".rec.frx", ".idx"})
    expect_equal_files("x" + end, "c" + end);
}

TEST_F(InventedFormat, parts_are_packed_resumed_and_merged) {
  EXPECT_EQ(call({"pack", photos(), out("p.inv"), "-q", "--nsplit", "3"}).code, 0);
  EXPECT_EQ(call({"merge", out("m.inv"), out("p.part000.inv"), out("p.part001.inv"),
                  out("p.part002.inv"), "-q"})
                .code,
            0);
  expect_equal_files("x.inv", "m.inv");
  expect_equal_files("x.inv.frx", "m.inv.frx");
  EXPECT_EQ(call({"pack", photos(), inv, "-q", "--resume"}).code, 0);
}

// A stopped run leaves its records, and the next run resumes from them.
TEST_F(InventedFormat, a_stopped_pack_is_resumed) {
  pack::PackOptions options{.resume = true, .threads = 1, .journal_interval_ms = 0};
  options.job.progress = [](const pack::PackProgress& at) { return at.done < 5; };
  EXPECT_THAT(Packer::refusal<StateError>(photos(), out("r.inv"), options),
              HasSubstr("interrupted"));
  EXPECT_TRUE(std::filesystem::exists(out("r.inv.partial")));
  options.job.progress = nullptr;
  pack::pack(photos(), out("r.inv"), options);
  expect_equal_files("x.inv", "r.inv");
  expect_equal_files("x.inv.frx", "r.inv.frx");
}

TEST_F(InventedFormat, recover_copies_what_can_be_read) {
  damage(3000);
  std::filesystem::resize_file(inv, std::filesystem::file_size(inv) - 3);
  std::filesystem::remove(inv + ".frx");
  for (const std::string& good : {out("good.inv"), out("good.rec")}) {
    const Said said = call({"recover", inv, good, "-q"});
    EXPECT_EQ(said.code, 1);
    EXPECT_THAT(said.out,
                AllOf(HasSubstr("checksum is wrong"), HasSubstr("the record is truncated"),
                      HasSubstr(good + ": 10 records")));
    EXPECT_EQ(call({"verify", good, "-q"}).code, 0);
  }
}

// The contents of each row of an epoch, column by column.
std::vector<std::string> epoch_of(Loader& loader, size_t batches = SIZE_MAX) {
  std::vector<std::string> rows;
  for (size_t k = 0; k < batches; ++k) {
    const auto batch = loader.next();
    if (!batch) break;
    for (size_t row = 0; row < batch->rows(); ++row) {
      std::string& all = rows.emplace_back();
      for (size_t c = 0; c < batch->layout().columns().size(); ++c) {
        all += as_text({batch->row(c, row), batch->layout().columns()[c].row_bytes()});
      }
    }
  }
  return rows;
}

TEST_F(InventedFormat, an_epoch_is_that_of_other_formats_and_is_resumed) {
  const auto make = [&](const std::string& uri) {
    const OrderOptions order{.shuffle = Shuffle::kFull, .batch_size = 4};
    return Loader(open_container(uri), {.order = order},
                  ImageOptions{.transforms = {CenterCrop{.size = {20, 20}}},
                               .fields = {"image", "label", "id"}});
  };
  Loader loader = make(inv);
  const std::vector<std::string> rows = epoch_of(loader);
  EXPECT_EQ(rows.size(), images_.size());
  Loader of_rec = make(out("x.rec"));
  EXPECT_TRUE(rows == epoch_of(of_rec));
  Loader first = make(inv);
  epoch_of(first, 1);
  Loader second = make(inv);
  second.restore(first.state());
  EXPECT_TRUE(epoch_of(second) == std::vector<std::string>(rows.begin() + 4, rows.end()));
}

// Two images per record; the last image is truncated.
std::shared_ptr<const Container> stereo_images(const std::string& uri, const OpenOptions&) {
  const std::vector<std::byte> jpeg = make_jpeg(40, 60, 1);
  const std::string image(as_text(jpeg));
  return std::make_shared<MemoryContainer>(
      uri,
      Schema{{{.name = "left", .kind = FieldKind::kImage},
              {.name = "right", .kind = FieldKind::kImage}}},
      std::vector<MemoryContainer::Record>{{.fields = {image, image}},
                                           {.fields = {image, image.substr(0, 600)}}});
}

TEST_F(InventedFormat, image_fields_of_any_name_are_shown_checked_and_measured) {
  row.open = stereo_images;
  EXPECT_THAT(call({"info", inv}).out, HasSubstr("2 jpeg of 2 records sampled"));
  EXPECT_THAT(call({"ls", inv, "0"}).out, HasSubstr("40 x 60"));
  const Said said = call({"verify", inv, "-q", "--decode"});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out,
              AllOf(HasSubstr(inv + ": record 1, field 'right', offset "), HasSubstr("1 problem")));
  EXPECT_THAT(call({"bench", inv, "--seconds", "0.02", "--crop", "16", "-q", "--json"}).out,
              HasSubstr("\"left\""));
}

TEST_F(InventedFormat, texts_name_it_with_the_others) {
  EXPECT_THAT(call({"convert", "--help"}).out, HasSubstr(".rec, .ffr, .bzna or .inv"));
  write_file(out("x.bin"), "INV1");
  EXPECT_THAT(
      call({"info", out("x.bin")}).err,
      HasSubstr("found a file in the Invented format. Rename it so that its name ends in .inv"));
}

// --- Bad input: a row without one of its entries ------------------------------------------------

TEST_F(InventedFormat, what_a_row_does_not_have_is_said_plainly) {
  const std::string both = "expected the format .rec, .ffr or .bzna";
  row = invented::kFormat;
  row.open = nullptr;
  EXPECT_THAT(refusal({"info", inv}),
              HasSubstr("files of this format cannot be opened: expected the format .rec, .ffr, "
                        ".bzna, .lst, .csv or .tsv, found Invented"));
  row = invented::kFormat;
  row.damage_hides_rest = false;
  EXPECT_THAT(refusal({"verify", inv, "--recover", "-q"}),
              HasSubstr("--recover is not needed for Invented files, because verify checks all of "
                        "their records even if some are damaged. Omit --recover"));
  row = invented::kFormat;
  row.sidecar_recipe = nullptr;
  EXPECT_THAT(refusal({"index", inv, "-q"}),
              HasSubstr("cannot be indexed: expected the format .rec, .ffr or .bzna"));
  row = invented::kFormat;
  row.make_writer = nullptr;
  EXPECT_THAT(refusal({"pack", photos(), out("y.inv"), "-q"}),
              HasSubstr("cannot be written: " + both));
  EXPECT_THAT(refusal({"convert", out("x.rec"), out("y.inv"), "-q"}),
              HasSubstr("cannot be written: " + both));
  row = invented::kFormat;
  row.open_stream = nullptr;
  for (const char* command : {"convert", "merge"}) {
    const bool merges = command == std::string("merge");
    EXPECT_THAT(refusal({command, merges ? out("y.inv") : inv, merges ? inv : out("y.rec"), "-q"}),
                HasSubstr("cannot be copied record by record: " + both));
  }
  row = invented::kFormat;
  row.open_damaged = nullptr;
  EXPECT_THAT(refusal({"recover", inv, out("y.rec"), "-q"}),
              HasSubstr("cannot be recovered: " + both));
  EXPECT_THAT(refusal({"verify", inv, "--recover", "-q"}),
              HasSubstr("cannot be recovered: " + both));
  row = invented::kFormat;
  row.joined_in_folders = false;
  EXPECT_THAT(call({"info", out()}).err, Not(HasSubstr("Invented files")));
}

TEST_F(InventedFormat, a_row_without_an_extension_fits_no_file) {
  row.extension = "";
  EXPECT_EQ(call({"info", out("x.rec")}).code, 0);
  EXPECT_THAT(refusal({"info", inv}), HasSubstr("fuelrail cannot open files of this format"));
}

TEST_F(InventedFormat, a_row_without_a_signature_is_one_of_those_that_a_file_may_be) {
  row.signature = {};
  write_file(out("x.bin"), std::string("INV\0", 4));
  EXPECT_THAT(
      refusal({"info", out("x.bin")}),
      HasSubstr("Rename it so that its name ends in .inv, if it is in the Invented format"));
}

TEST_F(InventedFormat, records_are_as_long_as_the_row_says) {
  row.max_payload_bytes = FileFormat{}.max_payload_bytes;
  EXPECT_EQ(call({"convert", out("x.rec"), out("any.inv"), "-q"}).code, 0);
  row.max_payload_bytes = 10;
  EXPECT_THAT(refusal({"convert", out("x.rec"), out("y.inv"), "-q"}),
              HasSubstr("record 0: the record is too long for the output: expected at most 10"));
}

TEST_F(InventedFormat, a_row_with_a_schema_and_an_index_is_told_of_both) {
  row.schema = {.name = "boxes", .meaning = "a file of boxes"};
  row.index_extension = ".ini";
  EXPECT_EQ(call({"info", inv, "--schema", "boxes"}).code, 0);
  EXPECT_THAT(refusal({"info", inv, "--schema", "boxen"}), HasSubstr("Did you mean 'boxes'"));
  EXPECT_THAT(call({"info", "--help"}).out, HasSubstr("boxes: a .inv is a file of boxes"));
  row.open_damaged = [](const auto&, const auto&, const OpenOptions& options,
                        const auto&) -> Salvage { throw CorruptError(options.schema); };
  EXPECT_THAT(refusal({"verify", inv, "--recover", "-q", "--schema", "boxes"}),
              HasSubstr(inv + ": boxes"));
  row.make_writer = [](const RecordFileSinks& sinks, uint64_t) {
    sinks.index->write(as_bytes("an index"));
    return invented::kFormat.make_writer(sinks, 0);
  };
  EXPECT_EQ(call({"pack", photos(), out("y.inv"), "-q"}).code, 0);
  EXPECT_EQ(file_contents(out("y.ini")), "an index");
  EXPECT_THAT(refusal({"info", out("y.ini")}), HasSubstr("Open the .inv file"));
}

TEST_F(InventedFormat, a_list_of_images_is_not_recovered) {
  write_file(out("x.lst"), "0\t0\ta.jpg\n");
  EXPECT_THAT(refusal({"verify", out("x.lst"), "--recover", "-q"}),
              HasSubstr("files of this format cannot be recovered: expected the format .rec, .ffr, "
                        ".bzna or .inv, found list of images"));
}

// The error text of each command that calls a missing entry.
TEST_F(InventedFormat, an_entry_that_returns_nothing_is_an_error_with_the_path) {
  const std::string nothing = ": the code for this file's format returned nothing";
  row.open = [](const auto&, const auto&) { return std::shared_ptr<const Container>(); };
  row.sidecar_recipe = [](auto, const auto&) { return SidecarRecipe(); };
  row.make_writer = [](const auto&, uint64_t) { return std::unique_ptr<RecordFileWriter>(); };
  row.open_damaged = [](const auto&, const auto&, const auto&, const auto&) { return Salvage(); };
  row.open_stream = [](const auto&, uint64_t, const auto&) {
    return std::unique_ptr<RecordStream>();
  };
  EXPECT_THAT(refusal({"info", inv}), HasSubstr(inv + nothing));
  EXPECT_THAT(refusal({"verify", inv, "--recover", "-q"}), HasSubstr(inv + nothing));
  EXPECT_THAT(refusal({"index", inv, "-q"}), HasSubstr(inv + nothing));
  EXPECT_THAT(refusal({"recover", inv, out("y.rec"), "-q"}), HasSubstr(inv + nothing));
  EXPECT_THAT(refusal({"convert", inv, out("y.rec"), "-q"}), HasSubstr(inv + nothing));
  EXPECT_THAT(refusal({"pack", photos(), out("y.inv"), "-q"}), HasSubstr(out("y.inv") + nothing));
}

// --- Bad input: an entry that throws -------------------------------------------------------------

[[noreturn]] void fail() { throw CorruptError("made up"); }

TEST_F(InventedFormat, what_an_entry_throws_arrives_with_the_path) {
  const std::string at_source = inv + ": made up";
  const std::string at_output = out("y.inv") + ": made up";
  row.open = [](const auto&, const auto&) -> std::shared_ptr<const Container> { fail(); };
  row.sidecar_recipe = [](auto, const auto&) -> SidecarRecipe { fail(); };
  row.make_writer = [](const auto&, uint64_t) -> std::unique_ptr<RecordFileWriter> { fail(); };
  row.open_damaged = [](const auto&, const auto&, const auto&, const auto&) -> Salvage { fail(); };
  EXPECT_THAT(refusal({"info", inv}), HasSubstr(at_source));
  EXPECT_THAT(refusal({"verify", inv, "--recover", "-q"}), HasSubstr(at_source));
  EXPECT_THAT(refusal({"index", inv, "-q"}), HasSubstr(at_source));
  EXPECT_THAT(refusal({"recover", inv, out("y.rec"), "-q"}), HasSubstr(at_source));
  EXPECT_THAT(refusal({"pack", photos(), out("y.inv"), "-q"}), HasSubstr(at_output));
  EXPECT_THAT(refusal({"convert", out("x.rec"), out("y.inv"), "-q"}), HasSubstr(at_output));
  row.open_stream = [](const auto&, uint64_t, const auto&) -> std::unique_ptr<RecordStream> {
    fail();
  };
  EXPECT_THAT(refusal({"convert", inv, out("y.rec"), "-q"}), HasSubstr(at_source));
}

TEST_F(InventedFormat, what_fails_at_a_record_arrives_with_its_place) {
  struct FailingWriter final : RecordFileWriter {
    void append(Bytes, uint32_t, uint64_t) override {
      if (++records == 3) fail();
    }
    std::optional<Bytes> payload_of(Bytes) override { return std::nullopt; }
    void adopt(uint64_t, Bytes, uint32_t, uint64_t) override {}
    uint64_t first_offset() const override { return 0; }
    void finish() override {}
    int records = 0;
  };
  struct FailingStream final : RecordStream {
    explicit FailingStream(const std::string& uri) : RecordStream(uri, 1) {}
    uint64_t size() const override { return 3; }
    StreamedRecord read_next(uint64_t i) override {
      if (i == 2) fail();
      return {};
    }
    void finish(SidecarWriter&) override {}
  };
  row.make_writer = [](const auto&, uint64_t) -> std::unique_ptr<RecordFileWriter> {
    return std::make_unique<FailingWriter>();
  };
  for (const std::string& source : {photos(), out("x.rec")}) {
    EXPECT_THAT(refusal({source == photos() ? "pack" : "convert", source, out("y.inv"), "-q"}),
                HasSubstr(out("y.inv") + ": record 2: made up"));
  }
  row = invented::kFormat;
  row.open_stream = [](const auto& uri, uint64_t, const auto&) -> std::unique_ptr<RecordStream> {
    return std::make_unique<FailingStream>(uri);
  };
  EXPECT_THAT(refusal({"convert", inv, out("y.rec"), "-q"}),
              HasSubstr(inv + ": record 2: made up"));
}

TEST_F(InventedFormat, what_is_no_error_of_fuelrail_ends_the_command_too) {
  row.open = [](const auto&, const auto&) -> std::shared_ptr<const Container> {
    throw std::runtime_error("made up");
  };
  row.sidecar_recipe = [](auto, const auto&) -> SidecarRecipe { throw std::bad_alloc(); };
  row.make_writer = [](const auto&, uint64_t) -> std::unique_ptr<RecordFileWriter> {
    throw std::runtime_error("made up");
  };
  row.open_damaged = [](const auto&, const auto&, const auto&, const auto&) -> Salvage {
    throw std::bad_alloc();
  };
  row.open_stream = [](const auto&, uint64_t, const auto&) -> std::unique_ptr<RecordStream> {
    throw std::runtime_error("made up");
  };
  EXPECT_THAT(refusal({"info", inv}), HasSubstr("made up"));
  EXPECT_THAT(refusal({"index", inv, "-q"}), HasSubstr("not enough memory"));
  EXPECT_THAT(refusal({"pack", photos(), out("y.inv"), "-q"}), HasSubstr("made up"));
  EXPECT_THAT(refusal({"recover", inv, out("y.rec"), "-q"}), HasSubstr("not enough memory"));
  EXPECT_THAT(refusal({"convert", inv, out("y.rec"), "-q"}), HasSubstr("made up"));
}

// --- Bad input: a file or a writer that throws ---------------------------------------------------

const char* faulty = "";  // the member that throws

void fail_at(const char* member) {
  if (std::string_view(faulty) == member) fail();
}

struct FaultyFile final : invented::File {
  using File::File;
  Extent extent(uint64_t i) const override {
    Extent extent = File::extent(i);
    if (has_long_records()) extent.length = uint64_t{33} << 20;
    return extent;
  }
  Bytes payload(uint64_t i, Bytes framed, std::vector<std::byte>& storage) const override {
    if (i == 7) fail_at("payload");
    return File::payload(i, framed, storage);
  }
  std::optional<uint32_t> payload_crc(uint64_t i) const override {
    if (i == 7) fail_at("payload_crc");
    return File::payload_crc(i);
  }
  void check_companions(bool) const override { fail_at("check_companions"); }
  std::optional<uint64_t> packed_files() const override {
    fail_at("packed_files");
    return std::nullopt;
  }
  bool has_long_records() const override { return std::string_view(faulty) == "read_pieces"; }
};

struct FaultyWriter final : invented::Writer {
  using Writer::Writer;
  std::optional<Bytes> payload_of(Bytes framed) override {
    fail_at("payload_of");
    return Writer::payload_of(framed);
  }
  void adopt(uint64_t framed_bytes, Bytes payload, uint32_t crc, uint64_t key) override {
    fail_at("adopt");
    Writer::adopt(framed_bytes, payload, crc, key);
  }
  void finish() override { fail_at("finish"); }
};

class FaultyInventedFormat : public InventedFormat {
 protected:
  FaultyInventedFormat() {
    row.open = [](const auto& uri, const auto& options) -> std::shared_ptr<const Container> {
      return invented::open_file<FaultyFile>(uri, options);
    };
    row.open_stream = [](const auto& uri, uint64_t longest, const auto& options) {
      return stream_of(invented::open_file<FaultyFile>(uri, options), longest);
    };
    row.make_writer = [](const auto& sinks, uint64_t) -> std::unique_ptr<RecordFileWriter> {
      return std::make_unique<FaultyWriter>(sinks);
    };
  }
  ~FaultyInventedFormat() override { faulty = ""; }

  // A file with one record that is not an image.
  std::string opaque() const {
    const std::string payload(70'000, 'x');
    std::string head = "INV1........";
    store_le(reinterpret_cast<std::byte*>(&head[4]), static_cast<uint32_t>(payload.size()));
    store_le(reinterpret_cast<std::byte*>(&head[8]), crc32(as_bytes(payload)));
    write_file(out("o.inv"), head + payload);
    return out("o.inv");
  }
};

TEST_F(FaultyInventedFormat, a_record_that_throws_is_named) {
  for (const char* member : {"payload", "payload_crc"}) {
    faulty = member;
    const std::string at = inv + ": record 7, offset ";
    EXPECT_THAT(refusal({"verify", inv, "-q"}), AllOf(HasSubstr(at), HasSubstr("1 problem")));
    EXPECT_THAT(refusal({"cat", inv, "7"}), HasSubstr(at));
    EXPECT_THAT(refusal({"convert", inv, out("y.rec"), "-q"}),
                HasSubstr(inv + ": record 7: made up"));
    Loader loader(open_container(inv), {.order = OrderOptions{}},
                  ImageOptions{.fields = {"label"}});
    EXPECT_THAT(refusal_of<CorruptError>([&] { epoch_of(loader); }), HasSubstr(at));
  }
}

TEST_F(FaultyInventedFormat, what_the_file_throws_arrives_with_the_path) {
  faulty = "check_companions";
  EXPECT_THAT(refusal({"verify", inv, "-q"}), HasSubstr(inv + ": made up"));
  const std::string file = opaque();
  EXPECT_EQ(call({"info", file}).code, 0);
  faulty = "packed_files";
  EXPECT_THAT(refusal({"info", file}), HasSubstr(file + ": made up"));
}

TEST_F(FaultyInventedFormat, long_records_that_it_cannot_read_are_an_error) {
  const std::string file = opaque();
  EXPECT_EQ(call({"verify", file, "-q"}).code, 0);
  faulty = "read_pieces";
  const std::string error = file + ": record 0: the code for this file's format cannot read long";
  EXPECT_THAT(refusal({"cat", file, "0", "-o", out("copy")}), HasSubstr(error));
  EXPECT_THAT(refusal({"verify", file, "-q"}), HasSubstr("cannot read long records"));
}

struct LongFile final : invented::File {
  using File::File;
  Extent extent(uint64_t i) const override {
    return {source(), sidecar().record(i).offset, uint64_t{33} << 20};
  }
  bool has_long_records() const override { return true; }
  void read_pieces(uint64_t i, MutableBytes buffer,
                   const std::function<void(Bytes piece)>& take) const override {
    const auto [offset, length] = sidecar().record(i);
    for (uint64_t at = invented::kHeadBytes; at < length;) {
      const MutableBytes piece = buffer.first(std::min<uint64_t>(30'000, length - at));
      source()->read(offset + at, piece);
      take(piece);
      at += piece.size();
    }
  }
};

TEST_F(FaultyInventedFormat, a_long_record_is_written_in_pieces) {
  row.open = [](const auto& uri, const auto& options) -> std::shared_ptr<const Container> {
    return invented::open_file<LongFile>(uri, options);
  };
  EXPECT_EQ(call({"cat", opaque(), "0", "-o", out("copy")}).code, 0);
  EXPECT_TRUE(file_contents(out("copy")) == std::string(70'000, 'x'));
}

TEST_F(FaultyInventedFormat, what_the_writer_throws_arrives_with_the_place) {
  pack::PackOptions options{.resume = true, .threads = 1, .journal_interval_ms = 0};
  options.job.progress = [](const pack::PackProgress& at) { return at.done < 5; };
  Packer::refusal<StateError>(photos(), out("r.inv"), options);
  for (const char* member : {"payload_of", "adopt"}) {
    faulty = member;
    EXPECT_THAT(Packer::refusal<CorruptError>(photos(), out("r.inv"), {.resume = true}),
                HasSubstr(out("r.inv") + ": record 0: made up"));
  }
  faulty = "finish";
  EXPECT_THAT(refusal({"pack", photos(), out("y.inv"), "-q"}),
              HasSubstr(out("y.inv") + ": made up"));
}

}  // namespace
}  // namespace fuelrail
