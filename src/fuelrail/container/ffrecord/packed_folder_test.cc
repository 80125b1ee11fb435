#include "fuelrail/container/ffrecord/packed_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/files/files_container.h"
#include "fuelrail/testing/container_conformance.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/hex.h"
#include "fuelrail/testing/record_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::ffrecord {
namespace {

using namespace std::string_literals;
using fuelrail::testing::refusal_of;
using recordio::as_label;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Lines of "name hex": the output of Python 3.11's pickle.dumps for OrderedDicts. The "evil" ones
// contain an object that calls os.system.
std::map<std::string, std::string> golden_pickles() {
  std::map<std::string, std::string> pickles;
  std::istringstream lines(file_contents(kGolden + "pickles.txt"));
  for (std::string name, hex; lines >> name >> hex;) {
    pickles[name] = std::string(as_text(bytes_of_hex(hex)));
  }
  return pickles;
}

std::string shown(const PackedEntries& folder) {
  std::string text;
  for (const auto& [name, entry] : folder.entries) {
    const auto* record = std::get_if<uint64_t>(&entry);
    text += record != nullptr
                ? std::string(name) + ":" + std::to_string(*record) + " "
                : std::string(name) + "/(" + shown(std::get<PackedEntries>(entry)) + ") ";
  }
  return text;
}

// The structure as text: "cat/(1.jpg:0 black/(7.png:1 ) ) ".
std::string parsed(const std::string& pickle, uint64_t records = 100'000) {
  const std::string record = std::string(kFolderMark) + pickle;
  return shown(parse_packed_folder(as_bytes(record), records).root);
}

std::string refusal(const std::string& pickle) {
  return refusal_of<CorruptError>([&] { parsed(pickle, 10); });
}

// --- The structure ---

TEST(PackedFolder, every_protocol_of_python_gives_the_same) {
  const auto pickles = golden_pickles();
  for (int protocol = 0; protocol <= 5; ++protocol) {
    EXPECT_EQ(parsed(pickles.at("tree" + std::to_string(protocol))),
              "cat/(1.jpg:0 black/(7.png:1 ) ) "
              "dog/(2.JPEG:2 n\u00f6tes.txt:3 \u732b\U0001f63a.bmp:300 bad\xed\xb3\xbf:70000 ) "
              "empty/() ")
        << "protocol " << protocol;
  }
}

TEST(PackedFolder, the_originals_golden_file_is_read) {
  const std::string file = file_contents(kGolden + "folder.ffr");
  const std::string last = file.substr(file.rfind(kFolderMark));
  EXPECT_EQ(shown(parse_packed_folder(as_bytes(last), 4).root),
            "001.txt:0 empty.bin:1 sub/(deep/(data.bin:2 ) \u00fcn\u00ef.txt:3 ) ");
}

TEST(PackedFolder, what_calls_anything_is_refused_by_its_name_and_not_called) {
  const auto pickles = golden_pickles();
  for (const char* name : {"evil0", "evil2", "evil4"}) {
    EXPECT_THAT(refusal(pickles.at(name)),
                HasSubstr("the packed folder's structure names a class or function that fuelrail "
                          "does not call: expected only "
                          "collections.OrderedDict, found \"posix.system\". Do not open this file "
                          "with a program that unpickles it."));
  }
  EXPECT_FALSE(std::filesystem::exists("/tmp/pwned"));
  EXPECT_THAT(refusal("cos\nsystem\n(S'true'\ntR."), HasSubstr("found \"os.system\""));
  EXPECT_THAT(refusal("ccollections\nOrderedDict.fromkeys\n)R."), HasSubstr("fromkeys"));
  EXPECT_THAT(refusal("c__builtin__\neval\n."), HasSubstr("__builtin__.eval"));
}

TEST(PackedFolder, every_other_operation_is_refused_by_its_code) {
  const std::string known = "(.)tRc\x93supqr\x94ghjIJKML\x8aVX\x8c\x8d\x80\x95";
  for (int code = 0; code < 256; ++code) {
    if (known.find(static_cast<char>(code)) != std::string::npos) continue;
    EXPECT_THAT(refusal(kPickledFolder + static_cast<char>(code) + std::string(64, 'x')),
                HasSubstr("has a pickle operation that is not allowed"))
        << code;
  }
  EXPECT_THAT(refusal("}."), HasSubstr("found opcode 0x7d at byte 0"));
}

TEST(PackedFolder, cut_pickles_are_refused_everywhere) {
  for (const auto& [name, pickle] : golden_pickles()) {
    for (size_t length = 0; length < pickle.size(); ++length) {
      EXPECT_THROW(parsed(pickle.substr(0, length)), CorruptError) << name << " " << length;
    }
    EXPECT_THROW(parsed(pickle + "x"), CorruptError);
  }
}

TEST(PackedFolder, names_and_numbers_that_cannot_be_are_refused) {
  const auto with = [](const std::string& pair) { return refusal(kPickledFolder + pair + "s."); };
  for (const char* name : {"", ".", "..", "a/b", "/etc/passwd"}) {
    EXPECT_THAT(with(pickled(name) + pickled(1)), HasSubstr("an invalid file name"));
  }
  EXPECT_THAT(with(pickled(std::string_view("a\0b", 3)) + pickled(1)),
              HasSubstr("an invalid file name: found \"a\\x00b\""));
  EXPECT_THAT(with(pickled(std::string(1025, 'x')) + pickled(1)), HasSubstr("invalid file name"));
  EXPECT_THAT(with(pickled("a\xff") + pickled(1)), HasSubstr("expected text in UTF-8"));
  EXPECT_THAT(with(pickled("\xc0\xaf") + pickled(1)), HasSubstr("expected text in UTF-8"));
  EXPECT_THAT(with(pickled("a") + pickled(10)),
              HasSubstr("names a file without a record: expected a record number below 10, found "
                        "10 for \"a\""));
  EXPECT_THAT(with(pickled("a") + "I-1\n"), HasSubstr("found -1"));
  EXPECT_THAT(with(pickled("a") + "I01\n"), HasSubstr("expected a number"));
  EXPECT_THAT(with(pickled("a") + "\x8a\x09" + std::string(9, '\1')),
              HasSubstr("expected a number of at most 8 bytes"));
  EXPECT_THAT(with(pickled("a") + "I99999999999999999999\n"), HasSubstr("expected a number"));
  EXPECT_THAT(with(pickled(1) + pickled("a")), HasSubstr("expected a name"));
  EXPECT_THAT(with(pickled("a") + pickled("b")), HasSubstr("expected a number or an OrderedDict"));
  EXPECT_EQ(parsed(kPickledFolder + pickled("a") + "\x8a\x01\x07s."), "a:7 ");
  EXPECT_EQ(parsed(kPickledFolder + "V\\u00e9\\U0001f63a\xe9\nL7L\ns."),
            "\u00e9\U0001f63a\u00e9:7 ");
  // As in Python, a backslash after another backslash does not begin an escape.
  EXPECT_EQ(parsed(kPickledFolder + "V\\\\u0041\\\nI7\ns."), "\\\\u0041\\:7 ");
}

TEST(PackedFolder, a_name_twice_in_one_folder_is_refused) {
  const std::string pair = pickled("a") + pickled(1);
  EXPECT_THAT(refusal(kPickledFolder + "(" + pair + pair + "u."),
              HasSubstr("has the same name twice in one folder: found \"a\""));
}

TEST(PackedFolder, a_folder_in_two_places_or_in_itself_is_refused) {
  EXPECT_THAT(refusal(kPickledFolder + "q\1" + pickled("a") + "h\1s."),
              HasSubstr("a folder in the packed folder's structure contains itself"));
  const std::string twice =
      kPickledFolder + "(" + pickled("a") + kPickledFolder + "q\1" + pickled("b") + "h\1u.";
  EXPECT_THAT(refusal(twice), HasSubstr("has one folder in two places: found \"b\""));
  // a/b is a: following it would never end.
  const std::string cycle =
      kPickledFolder + "(" + pickled("a") + kPickledFolder + "q\1" + pickled("b") + "h\1su.";
  EXPECT_THAT(refusal(cycle), HasSubstr("has one folder in two places: found \"a\""));
}

TEST(PackedFolder, folders_nested_too_deep_are_refused) {
  const auto nested = [](int depth) {
    std::string pickle = kPickledFolder;
    for (int i = 1; i < depth; ++i) pickle += pickled("d") + kPickledFolder;
    return pickle + std::string(static_cast<size_t>(depth - 1), 's') + ".";
  };
  EXPECT_THAT(parsed(nested(kMaxFolderDepth)), StartsWith("d/(d/(d/("));
  EXPECT_THAT(refusal(nested(kMaxFolderDepth + 1)), HasSubstr("is nested too deeply"));
  EXPECT_THAT(refusal(nested(100'000)), HasSubstr("is nested too deeply"));
}

TEST(PackedFolder, marks_nested_too_deep_are_refused) {
  const auto marked = [](int depth) {
    std::string pickle = kPickledFolder;
    for (int i = 1; i < depth; ++i) pickle += "(" + pickled("d") + kPickledFolder;
    return pickle + std::string(static_cast<size_t>(depth - 1), 'u') + ".";
  };
  EXPECT_THAT(parsed(marked(kMaxFolderDepth)), StartsWith("d/(d/(d/("));
  EXPECT_THAT(refusal(std::string(kMaxFolderDepth + 2, '(')),
              HasSubstr("the packed folder is nested too deeply: expected at most 256 levels"
                        " of folders"));
}

TEST(PackedFolder, more_files_than_there_are_records_are_refused) {
  std::string pickle = kPickledFolder + "(";
  for (int i = 0; i < 10; ++i) pickle += pickled(std::to_string(i)) + pickled(0);
  EXPECT_THAT(parsed(pickle + "u.", 10), StartsWith("0:0 1:0 "));
  EXPECT_THAT(refusal(pickle + pickled("x") + pickled(0) + "u."),
              HasSubstr("names more files than it has records: expected at most 10"));
}

TEST(PackedFolder, what_was_not_remembered_is_not_recalled) {
  EXPECT_THAT(refusal(kPickledFolder + "r" + little_endian(uint32_t{1'000'000})),
              HasSubstr("expected a valid memo number"));
  EXPECT_THAT(refusal(kPickledFolder + "q\5" + "h\3"), HasSubstr("expected a memoized value"));
  // MEMOIZE assigns the number of memo entries, not the highest number plus one.
  EXPECT_EQ(parsed(kPickledFolder + "q\5" + pickled("a") + "\x94" + pickled(1) + "s" +
                   pickled("b") + kPickledFolder + "h\1K\2ss."),
            "a:1 b/(a:2 ) ");
}

// The memory growth of a child process that parses this.
size_t growth_bytes(const std::string& pickle, uint64_t records, bool sound) {
  const std::string record = std::string(kFolderMark) + pickle;
  const std::string said = in_forked_child([&]() -> std::string {
    ::malloc_trim(0);
    const auto most = [] {
      rusage usage;
      ::getrusage(RUSAGE_SELF, &usage);
      return static_cast<size_t>(usage.ru_maxrss) * 1024;
    };
    const size_t before = most();
    bool refused = false;
    try {
      parse_packed_folder(as_bytes(record), records);
    } catch (const CorruptError&) {
      refused = true;
    }
    return refused == sound ? "0 0" : std::to_string(most() - before);
  });
  EXPECT_NE(said, "0 0") << pickle.substr(0, 100);
  return std::stoul(said);
}

std::string repeated(const std::string& part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

// The contents with the highest memory use for their size: 12 bytes of table per record, and the
// pickle.
TEST(PackedFolder, memory_is_at_most_32_bytes_a_byte_whatever_the_pickle_says) {
#ifdef FUELRAIL_SANITIZED
  GTEST_SKIP() << "its own memory is counted";
#endif
  constexpr size_t kSize = 1 << 20;
  const auto number = [](size_t i) {  // four letters
    std::string name = "\x8c\x04";
    for (int k = 0; k < 4; ++k, i /= 64) name += static_cast<char>('0' + i % 64);
    return name;
  };
  std::string files = kPickledFolder, pairs = kPickledFolder + "(";
  for (size_t i = 0; files.size() < kSize; ++i) {
    files += number(i) + "K\1s";
    pairs += number(i) + "K\1";
  }
  // Empty folders, and folders with a file whose long name is memoized as 1.
  const std::string first = "ccollections\nOrderedDict\nq\2)R";
  std::string folders = kPickledFolder + "(" + pickled("first") + first;
  std::string long_names = kPickledFolder + "(" + pickled(std::string(1000, 'x')) + "q\1" + first;
  for (size_t i = 0; folders.size() < kSize; ++i) {
    folders += number(i) + "h\2)R";
    long_names += number(i) + "h\2)Rh\1K\1s";
  }
  const std::vector<std::pair<std::string, std::string>> pickles{
      {"arguments", repeated(")", kSize)},
      {"marks", repeated("(", kSize)},
      {"numbers", repeated("K\1", kSize / 2)},
      {"memo", "K\1" + repeated("\x94", kSize)},
      {"memo far behind the stack", repeated(")", kSize) + "r" + std::string("\0\0\x10\0", 4)},
      {"memo and stack", "K\1" + repeated("\x94K\1", kSize / 3)},
      {"files", files + "."},
      {"pairs", pairs + "u."},
      {"folders", folders + "u."},
      {"long names", long_names + "u."}};
  for (const auto& [name, pickle] : pickles) {
    const uint64_t records = 150'000;
    const bool sound = pickle.ends_with('.');
    const size_t bytes = growth_bytes(pickle, records, sound);
    const size_t in_file = pickle.size() + (sound && name != "folders" ? kEntryBytes * records : 0);
    EXPECT_LE(bytes, 32 * in_file + (2 << 20)) << name;
    if (::getenv("FUELRAIL_SHOW_MEMORY") != nullptr) {
      std::printf("%s: %.1f bytes a byte\n", name.c_str(),
                  static_cast<double>(bytes) / static_cast<double>(in_file));
    }
  }
}

TEST(PackedFolder, shapes_that_are_no_folder_are_refused) {
  const std::vector<std::string> pickles{std::string("."),
                                         std::string("K\1."),
                                         std::string("(."),
                                         std::string(")."),
                                         kPickledFolder + kPickledFolder + ".",
                                         std::string("s."),
                                         std::string("u."),
                                         std::string("(u."),
                                         std::string("R."),
                                         std::string(")R."),
                                         std::string("t."),
                                         std::string("(K\1t."),
                                         std::string("(q\1."),
                                         std::string("h\1."),
                                         std::string("ccollections\nOrderedDict\n."),
                                         kPickledFolder + "(" + pickled("a") + "u.",
                                         kPickledFolder + "((" + pickled("a") + pickled(1) + "u.",
                                         std::string("\x80\x06."),
                                         std::string("\x95\xff\xff\xff\xff\xff\xff\xff\xff."),
                                         std::string("X\xff\xff\xff\xff."),
                                         std::string("\x8d\xff\xff\xff\xff\xff\xff\xff\xff.")};
  for (const std::string& pickle : pickles) {
    EXPECT_THAT(refusal(pickle), HasSubstr("the packed folder's structure ")) << pickle;
  }
}

TEST(PackedFolder, a_record_without_the_mark_is_no_packed_folder) {
  for (const std::string record : {"", "piou", "a picture"}) {
    EXPECT_THAT(refusal_of<CorruptError>([&] { parse_packed_folder(as_bytes(record), 1); }),
                HasSubstr("the file is not a packed folder: expected a last record that begins "
                          "with \"piouhjgbr\", found \""));
  }
}

// --- Images ---

void write_photographs(const std::string& folder) {
  write_file(folder + "/cat/1.jpg", "jpeg of a cat");
  write_file(folder + "/cat/black/7.png", "png of a black cat");
  write_file(folder + "/cat/black-white/8.png", "png of another");
  write_file(folder + "/cat/notes.txt", "no image");
  write_file(folder + "/dog/0.JPEG", "jpeg of a dog");
  write_file(folder + "/d\u00f6ner/1.jpg", "jpeg of a meal");
  write_file(folder + "/list.txt", "no image either");
}

struct PackedImagesFile {
  static constexpr bool kDetectsTruncation = true;
  static std::shared_ptr<const Container> made(const TemporaryDirectory& directory) {
    write_photographs(directory / "train");
    write_file(directory / "train.ffr", PackedFolderFile(directory / "train").contents());
    return open_packed_images(directory / "train.ffr");
  }
  std::shared_ptr<const Container> make() { return made(here); }
  std::shared_ptr<const Container> make_copy() { return made(there); }
  std::vector<ExpectedSample> expected() {
    return {{{"jpeg of a cat", as_label(0)}, 0},
            {{"png of a black cat", as_label(0)}, 1},
            {{"png of another", as_label(0)}, 2},
            {{"jpeg of a dog", as_label(1)}, 3},
            {{"jpeg of a meal", as_label(2)}, 4}};
  }
  TemporaryDirectory here, there;
};

}  // namespace
}  // namespace fuelrail::ffrecord

namespace fuelrail {
INSTANTIATE_TYPED_TEST_SUITE_P(PackedImages, ContainerConformance,
                               WithViews<ffrecord::PackedImagesFile>);
}  // namespace fuelrail

namespace fuelrail::ffrecord {
namespace {

TEST(PackedImages, are_what_the_folder_itself_is) {
  const TemporaryDirectory directory;
  PackedImagesFile::made(directory);
  const auto opened = [](const auto& open, const std::string& uri,
                         std::vector<std::string>& warnings) {
    return open(uri, OpenOptions{.warn = [&warnings, uri](const std::string& text) {
                  warnings.push_back(text.substr(uri.size()));
                }});
  };
  std::vector<std::string> said, said_of_folder;
  const auto packed = opened(open_packed_images, directory / "train.ffr", said);
  const auto folder = opened(files::open_files, directory / "train", said_of_folder);
  EXPECT_EQ(packed->fingerprint(), folder->fingerprint());
  EXPECT_EQ(packed->classes(), folder->classes());
  EXPECT_EQ(packed->schema(), folder->schema());
  recordio::Reader read(*packed), read_folder(*folder);
  for (uint64_t i = 0; i < folder->size(); ++i) {
    EXPECT_EQ(read(i).id, read_folder(i).id);
    for (size_t field : {0, 1}) EXPECT_EQ(read.field(i, field), read_folder.field(i, field));
  }
  ASSERT_THAT(said, ElementsAre(HasSubstr("2 files are skipped because")));
  ASSERT_EQ(said_of_folder.size(), 1u);
  EXPECT_STREQ(packed->format(), "packed folder");
  EXPECT_TRUE(packed->verifies_checksums());
  EXPECT_EQ(packed->extent(0).source.get(), packed->extent(4).source.get());
  EXPECT_THAT(names_in(directory.path()), ElementsAre("train", "train.ffr"));  // no sidecar
}

TEST(PackedImages, a_damaged_image_is_one_bad_record) {
  const TemporaryDirectory directory;
  PackedImagesFile::made(directory);
  std::string file = file_contents(directory / "train.ffr");
  file[file.find("png of a black")] ^= 1;
  write_file(directory / "train.ffr", file);
  const auto container = open_packed_images(directory / "train.ffr");
  recordio::Reader read(*container);
  EXPECT_EQ(read.field(0, 0), "jpeg of a cat");
  EXPECT_THAT(refusal_of<CorruptError>([&] { read(1); }),
              HasSubstr("train.ffr: record 1, offset "));
}

TEST(PackedImages, folders_of_another_layout_are_refused_as_the_folder_is) {
  const TemporaryDirectory directory;
  const auto packed = [&](const std::string& folder) {
    write_file(directory / "x.ffr", PackedFolderFile(directory / folder).contents());
    return directory / "x.ffr";
  };
  write_file(directory / "flat/1.jpg", "an image");
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { open_packed_images(packed("flat")); }),
              HasSubstr("x.ffr: the folder has images but no class folders"));
  write_file(directory / "empty/cat/notes.txt", "no image");
  EXPECT_THAT(refusal_of<NotFoundError>([&] { open_packed_images(packed("empty")); }),
              HasSubstr("the class folder 'cat' has no images"));
  EXPECT_THROW(open_packed_images(packed("empty"), {.keep_going = [] { return false; }}),
               StateError);
}

// 200 nested folders, all with the same name of 1,000 bytes; the innermost holds many files.
TEST(PackedImages, paths_that_are_longer_together_than_any_folders_are_refused) {
  std::string pickle = kPickledFolder + pickled(std::string(1000, 'x')) + "q\1" + kPickledFolder;
  for (int i = 0; i < 200; ++i) pickle += "h\1" + kPickledFolder;
  for (int i = 0; i < 1000; ++i) pickle += pickled(std::to_string(i) + ".jpg") + "K\0s"s;
  pickle += std::string(201, 's') + ".";
  std::vector<std::string> records(1001);
  records.back() = std::string(kFolderMark) + pickle;
  const TemporaryDirectory directory;
  write_file(directory / "x.ffr", file_of(records));
  EXPECT_THAT(refusal_of<CorruptError>([&] { open_packed_images(directory / "x.ffr"); }),
              HasSubstr("x.ffr: the packed folder's paths are too long in total"));
}

TEST(PackedImages, a_file_that_is_no_packed_folder_is_refused_with_its_last_record) {
  const TemporaryDirectory directory;
  const std::string path = directory / "x.ffr";
  write_file(path, file_of({"one", "two"}));
  EXPECT_THAT(refusal_of<CorruptError>([&] { open_packed_images(path); }),
              HasSubstr("x.ffr: record 1, offset 39: the file is not a packed folder"));
  write_file(path, file_of({}));
  EXPECT_THAT(refusal_of<CorruptError>([&] { open_packed_images(path); }),
              HasSubstr("found no records"));
  write_file(path, file_of({"piouhjgbr" + kPickledFolder + "."}) + "appended");
  EXPECT_THAT(refusal_of<CorruptError>([&] { open_packed_images(path); }),
              HasSubstr("checksum is wrong"));
  std::filesystem::resize_file(path, (uint64_t{2} << 30) + 1000);
  EXPECT_THAT(refusal_of<CorruptError>([&] { open_packed_images(path); }),
              HasSubstr("is too long: expected at most 2147483648 bytes"));
}

}  // namespace
}  // namespace fuelrail::ffrecord
