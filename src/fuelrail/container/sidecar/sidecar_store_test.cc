#include "fuelrail/container/sidecar/sidecar_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/storage/memory/memory_sink.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void accept_all(const Sidecar&) {}

SidecarWriter sidecar_for(uint64_t size, uint32_t crc = 1) {
  SidecarWriter writer;
  writer.add_record({0, size}, crc);
  return writer;
}

// A data file in its own directory, and its own cache directory.
class SidecarStoreTest : public ::testing::Test {
 protected:
  SidecarStoreTest() {
    write_file(data_, "some data of no format at all");
    ::setenv("XDG_CACHE_HOME", (directory_ / "cache").c_str(), 1);
  }
  ~SidecarStoreTest() override {
    ::unsetenv("XDG_CACHE_HOME");
    ::chmod((directory_ / "data").c_str(), 0755);
  }

  std::shared_ptr<const Source> source() const { return file_system_for(data_).open(data_); }
  SidecarStore store() {
    return SidecarStore(source(), [this](const std::string& w) { warnings_.push_back(w); });
  }
  uint64_t size() const { return source()->size_bytes(); }

  TemporaryDirectory directory_;
  std::string data_ = directory_ / "data/x.any";
  std::string beside_ = data_ + ".frx";
  std::vector<std::string> warnings_;
};

TEST_F(SidecarStoreTest, there_is_none_at_first) {
  EXPECT_FALSE(store().find({accept_all}));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(SidecarStoreTest, published_sidecar_lies_beside_and_is_found) {
  const StoredSidecar stored = store().publish(sidecar_for(size()));
  EXPECT_EQ(stored.location.place, SidecarPlace::kBeside);
  EXPECT_EQ(stored.location.uri, beside_);
  const auto found = store().find({accept_all});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->location.place, SidecarPlace::kBeside);
  EXPECT_EQ(found->sidecar->records(), 1u);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(SidecarStoreTest, sidecar_of_another_file_is_set_aside_and_not_overwritten) {
  store().publish(sidecar_for(size()));
  const std::string old_sidecar = file_contents(beside_);
  for (const std::string contents :
       {"longer data than those of before, of another size", "same data of no format at all"}) {
    warnings_.clear();
    write_file(data_, contents);
    SidecarStore changed = store();
    EXPECT_FALSE(changed.find({accept_all}));
    ASSERT_THAT(warnings_, SizeIs(1));
    EXPECT_THAT(warnings_[0], HasSubstr("a sidecar is ignored and not overwritten"));
    EXPECT_THAT(warnings_[0], HasSubstr("does not belong to " + data_));

    const StoredSidecar stored = changed.publish(sidecar_for(size()));
    EXPECT_EQ(stored.location.place, SidecarPlace::kCache);
    EXPECT_EQ(file_contents(beside_), old_sidecar);
    EXPECT_EQ(store().find({accept_all})->location.place, SidecarPlace::kCache);
  }
}

TEST_F(SidecarStoreTest, damaged_sidecar_is_set_aside_and_not_overwritten) {
  store().publish(sidecar_for(size()));
  std::string damaged = file_contents(beside_);
  damaged[damaged.size() / 2] ^= 1;
  write_file(beside_, damaged);
  EXPECT_FALSE(store().find({accept_all}));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr(beside_)));
  SidecarStore with_damage = store();
  EXPECT_FALSE(with_damage.find({accept_all}));
  EXPECT_THROW(with_damage.replace(sidecar_for(size())), CorruptError);
  EXPECT_EQ(file_contents(beside_), damaged);
}

TEST_F(SidecarStoreTest, something_else_in_the_sidecars_place_is_set_aside) {
  std::filesystem::create_directories(beside_);
  SidecarStore blocked = store();
  EXPECT_FALSE(blocked.find({accept_all}));
  EXPECT_THAT(warnings_, SizeIs(1));
  EXPECT_EQ(blocked.publish(sidecar_for(size())).location.place, SidecarPlace::kCache);
}

TEST_F(SidecarStoreTest, sidecar_that_the_format_refuses_is_set_aside) {
  store().publish(sidecar_for(size()));
  EXPECT_FALSE(store().find({[](const Sidecar&) { throw CorruptError("of no use"); }}));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("of no use")));
}

TEST_F(SidecarStoreTest, sidecar_published_meanwhile_is_used_and_not_overwritten) {
  SidecarStore slow = store();
  EXPECT_FALSE(slow.find({accept_all}));
  SidecarWriter packer = sidecar_for(size());
  packer.set_classes({"cat", "dog"});
  store().publish(packer);
  const StoredSidecar stored = slow.publish(sidecar_for(size()));
  EXPECT_THAT(stored.sidecar->classes(), ElementsAre("cat", "dog"));
}

// The store checks the place beside the file before the cache. So the actions of `accept` for the
// cached sidecar happen after the place beside was found empty, and before anything is written
// there.
TEST_F(SidecarStoreTest, sidecar_that_appears_while_another_is_published_is_not_overwritten) {
  std::filesystem::create_directories(beside_);
  const std::string cached = store().publish(sidecar_for(size())).location.uri;
  const std::string refused = file_contents(cached);
  std::filesystem::remove(beside_);
  std::filesystem::remove(cached);
  warnings_.clear();

  SidecarStore slow = store();
  EXPECT_FALSE(slow.find({[&](const Sidecar& sidecar) {
    if (sidecar.uri() == cached) {
      SidecarWriter packer = sidecar_for(size());
      packer.set_classes({"cat", "dog"});
      store().replace(packer);
      throw CorruptError("of no use");
    }
  }}));
  write_file(cached, refused);
  const StoredSidecar stored = slow.publish(sidecar_for(size()));
  EXPECT_EQ(stored.location.place, SidecarPlace::kBeside);
  EXPECT_THAT(stored.sidecar->classes(), ElementsAre("cat", "dog"));
  EXPECT_THAT(store().find({accept_all})->sidecar->classes(), ElementsAre("cat", "dog"));
}

TEST_F(SidecarStoreTest, dangling_link_in_the_sidecars_place_is_left_alone) {
  std::filesystem::create_symlink("nothing", beside_);
  EXPECT_EQ(store().publish(sidecar_for(size())).location.place, SidecarPlace::kCache);
  EXPECT_TRUE(std::filesystem::is_symlink(beside_));
}

TEST_F(SidecarStoreTest, data_file_that_changes_meanwhile_keeps_its_sidecars_place) {
  SidecarStore slow = store();
  EXPECT_FALSE(slow.find({accept_all}));
  const uint64_t old_size = size();
  write_file(data_, "other data, packed while the old ones were scanned");
  EXPECT_EQ(slow.publish(sidecar_for(old_size)).location.place, SidecarPlace::kCache);
  EXPECT_FALSE(std::filesystem::exists(beside_));
  EXPECT_THROW(slow.replace(sidecar_for(old_size)), StateError);
  EXPECT_FALSE(std::filesystem::exists(beside_));
}

TEST_F(SidecarStoreTest, sidecar_that_changed_since_it_was_found_is_not_replaced) {
  store().publish(sidecar_for(size(), 1));
  SidecarStore slow = store();
  ASSERT_TRUE(slow.find({accept_all}));
  SidecarStore quick = store();
  ASSERT_TRUE(quick.find({accept_all}));
  quick.replace(sidecar_for(size(), 2));
  const std::string newer = file_contents(beside_);
  EXPECT_THROW(slow.replace(sidecar_for(size(), 3)), StateError);
  EXPECT_EQ(file_contents(beside_), newer);
  std::filesystem::remove(beside_);
  EXPECT_THROW(slow.replace(sidecar_for(size(), 3)), StateError);
  EXPECT_FALSE(std::filesystem::exists(beside_));
}

TEST_F(SidecarStoreTest, sidecar_that_appeared_where_none_was_found_is_not_replaced) {
  SidecarStore slow = store();
  EXPECT_FALSE(slow.find({accept_all}));
  store().publish(sidecar_for(size(), 1));
  EXPECT_THROW(slow.replace(sidecar_for(size(), 2)), StateError);
  EXPECT_EQ(store().find({accept_all})->sidecar->payload_crc(0), 1u);
}

TEST_F(SidecarStoreTest, replace_writes_over_the_own_one) {
  store().publish(sidecar_for(size(), 1));
  SidecarStore again = store();
  ASSERT_TRUE(again.find({accept_all}));
  EXPECT_EQ(again.replace(sidecar_for(size(), 2)).location.place, SidecarPlace::kBeside);
  EXPECT_EQ(store().find({accept_all})->sidecar->payload_crc(0), 2u);
}

TEST_F(SidecarStoreTest, sidecar_of_a_file_that_is_being_written_is_not_replaced) {
  store().publish(sidecar_for(size(), 1));
  SidecarStore again = store();
  ASSERT_TRUE(again.find({accept_all}));
  {
    const auto writer = file_system_for(data_).create(data_);
    EXPECT_THROW(again.replace(sidecar_for(size(), 2)), StateError);
    EXPECT_EQ(store().find({accept_all})->sidecar->payload_crc(0), 1u);
  }
  write_file(data_ + ".partial", "what a killed one has left");
  EXPECT_NO_THROW(again.replace(sidecar_for(size(), 2)));
  EXPECT_EQ(file_contents(data_ + ".partial"), "what a killed one has left");
}

TEST_F(SidecarStoreTest, unwritable_directory_falls_back_to_the_cache) {
  ::chmod((directory_ / "data").c_str(), 0555);
  ::chmod(directory_.path().c_str(), 0755);
  std::filesystem::create_directories(directory_ / "cache");
  ::chmod((directory_ / "cache").c_str(), 0777);
  const std::string said = in_unprivileged_child([&] {
    const std::string first = name_of(store().publish(sidecar_for(size())).location.place);
    const std::string second = name_of(store().find({accept_all})->location.place);
    return first + " " + second + " " + std::to_string(warnings_.size());
  });
  EXPECT_EQ(said, "cache cache 0");
}

TEST_F(SidecarStoreTest, nowhere_to_write_keeps_it_in_memory_with_one_warning) {
  ::chmod((directory_ / "data").c_str(), 0555);
  ::chmod(directory_.path().c_str(), 0755);
  const std::string said = in_unprivileged_child([&] {
    const StoredSidecar stored = store().publish(sidecar_for(size()));
    return std::string(name_of(stored.location.place)) + stored.location.uri + " " +
           std::to_string(stored.sidecar->records()) + " " + std::to_string(warnings_.size()) +
           " " + warnings_.at(0);
  });
  EXPECT_THAT(said, HasSubstr("memory 1 1 "));
  EXPECT_THAT(said, HasSubstr("the file is scanned each time it is opened"));
}

TEST_F(SidecarStoreTest, own_sidecar_that_cannot_be_replaced_is_an_error) {
  store().publish(sidecar_for(size()));
  ::chmod((directory_ / "data").c_str(), 0555);
  ::chmod(directory_.path().c_str(), 0755);
  const std::string said = in_unprivileged_child([&]() -> std::string {
    SidecarStore again = store();
    again.find({accept_all});
    try {
      again.replace(sidecar_for(size()));
    } catch (const IoError&) {
      return "refused";
    }
    return "replaced";
  });
  EXPECT_EQ(said, "refused");
}

TEST_F(SidecarStoreTest, processes_that_publish_at_once_all_get_a_whole_one) {
  const std::string said = in_forked_child([&] {
    std::vector<pid_t> children;
    for (int rank = 0; rank < 8; ++rank) {
      const pid_t child = ::fork();
      if (child == 0) {
        bool right = true;
        for (int round = 0; round < 20; ++round) {
          SidecarStore mine = store();
          const auto found = mine.find({accept_all});
          const auto sidecar = found ? found->sidecar : mine.publish(sidecar_for(size())).sidecar;
          right = right && sidecar->records() == 1 && warnings_.empty();
          if (rank == round % 8) std::filesystem::remove(beside_);
        }
        ::_exit(right ? 0 : 1);
      }
      children.push_back(child);
    }
    int wrong = 0;
    for (const pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      wrong += status == 0 ? 0 : 1;
    }
    return std::to_string(wrong) + " wrong";
  });
  EXPECT_EQ(said, "0 wrong");
}

TEST_F(SidecarStoreTest, ways_to_name_a_file_share_its_cached_sidecar) {
  std::filesystem::create_directories(beside_);  // so that the cache is used
  store().publish(sidecar_for(size()));
  const std::string other_name = "file://" + (directory_ / "data/../data/x.any");
  SidecarStore other(file_system_for(other_name).open(other_name), {});
  EXPECT_TRUE(other.find({accept_all}));
}

// --- while the data file is replaced ------------------------------------------------------------

// The steps of a writer that replaces the data file; the last one completes the replacement.
class ReplacedData : public SidecarStoreTest {
 protected:
  ReplacedData() {
    write_file(data_ + ".partial", "the new data of no format at all");
    old_sidecar_ = bytes_of("old class", data_);
    new_sidecar_ = bytes_of("new class", data_ + ".partial");
    write_file(beside_, old_sidecar_);
  }

  static std::string bytes_of(const std::string& name, const std::string& data) {
    const auto source = file_system_for(data).open(data);
    SidecarWriter writer = sidecar_for(source->size_bytes());
    writer.set_classes({name});
    MemorySink sink("a sidecar");
    writer.write_to(identify(*source), sink);
    return std::string(as_text(sink.bytes()));
  }

  void name_the_sidecar() const { write_file(next_, new_sidecar_); }
  void name_the_data() const { std::filesystem::rename(data_ + ".partial", data_); }
  void name_the_sidecar_again() const { std::filesystem::rename(next_, beside_); }

  std::optional<StoredSidecar> found() { return store().find({accept_all}); }

  std::string next_ = next_uri(beside_);
  std::string old_sidecar_;
  std::string new_sidecar_;
};

TEST_F(ReplacedData, the_sidecar_is_the_datas_after_every_step) {
  name_the_sidecar();
  EXPECT_THAT(found()->sidecar->classes(), ElementsAre("old class"));
  EXPECT_FALSE(is_next_in_use(*source()));
  name_the_data();
  const auto next = found();
  EXPECT_THAT(next->sidecar->classes(), ElementsAre("new class"));
  EXPECT_EQ(next->location.place, SidecarPlace::kBeside);
  EXPECT_EQ(next->location.uri, next_);
  EXPECT_TRUE(is_next_in_use(*source()));
  name_the_sidecar_again();
  EXPECT_THAT(found()->sidecar->classes(), ElementsAre("new class"));
  EXPECT_FALSE(is_next_in_use(*source()));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ReplacedData, files_alike_in_size_and_ends_are_told_apart) {
  std::string data(30'000, 'x');
  write_file(data_, data);
  data[15'000] = 'y';
  write_file(data_ + ".partial", data);
  old_sidecar_ = bytes_of("old class", data_);
  new_sidecar_ = bytes_of("new class", data_ + ".partial");
  write_file(beside_, old_sidecar_);
  name_the_sidecar();
  EXPECT_THAT(found()->sidecar->classes(), ElementsAre("old class"));
  EXPECT_FALSE(is_next_in_use(*source()));
  std::filesystem::remove(beside_);
  EXPECT_FALSE(found());
  write_file(beside_, old_sidecar_);
  name_the_data();
  EXPECT_THAT(found()->sidecar->classes(), ElementsAre("new class"));
  EXPECT_TRUE(is_next_in_use(*source()));
  name_the_sidecar_again();
  EXPECT_THAT(found()->sidecar->classes(), ElementsAre("new class"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ReplacedData, a_file_without_a_sidecar_gets_its_own_beside_anothers_next_one) {
  std::filesystem::remove(beside_);
  name_the_sidecar();
  EXPECT_FALSE(found());
  EXPECT_EQ(store().publish(sidecar_for(size())).location.uri, beside_);
  EXPECT_EQ(found()->location.uri, beside_);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ReplacedData, an_index_that_is_made_anew_has_the_place_of_the_old_one) {
  name_the_sidecar();
  name_the_data();
  SidecarStore again = store();
  ASSERT_TRUE(again.find({accept_all}));
  EXPECT_EQ(again.replace(sidecar_for(size(), 2)).location.uri, next_);
  EXPECT_EQ(found()->sidecar->payload_crc(0), 2u);
  EXPECT_EQ(file_contents(beside_), old_sidecar_);
}

TEST_F(ReplacedData, a_damaged_next_sidecar_is_set_aside_with_the_foreign_one) {
  name_the_sidecar();
  name_the_data();
  new_sidecar_.back() = static_cast<char>(new_sidecar_.back() ^ 1);
  name_the_sidecar();
  EXPECT_FALSE(found());
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr(beside_ + ": the sidecar does not belong")));
}

TEST_F(ReplacedData, a_writer_without_a_sidecar_removes_those_of_other_files) {
  name_the_sidecar();
  remove_foreign_sidecar(data_);
  EXPECT_EQ(file_contents(beside_), old_sidecar_);
  EXPECT_FALSE(std::filesystem::exists(next_));
  name_the_sidecar();
  name_the_data();
  remove_foreign_sidecar(data_);
  EXPECT_FALSE(std::filesystem::exists(beside_));
  EXPECT_EQ(file_contents(next_), new_sidecar_);
}

// Runs each step of the writer before each check of the reader. The files have the same size and
// the same ends, so only the names show which sidecar belongs to which file.
TEST_F(ReplacedData, an_opening_beside_the_writer_gets_one_pair_whole) {
  const std::string old_data = std::string(5000, 'x') + "old" + std::string(5000, 'x');
  const std::string new_data = std::string(5000, 'x') + "new" + std::string(5000, 'x');
  write_file(data_, old_data);
  write_file(data_ + ".partial", new_data);
  old_sidecar_ = bytes_of("old class", data_);
  new_sidecar_ = bytes_of("new class", data_ + ".partial");
  FaultyFileSystem hooked(local_file_system());
  const FileSystemOverride instead("file", hooked);
  const std::vector<std::function<void()>> steps{
      [&] { name_the_sidecar(); }, [&] { name_the_data(); }, [&] { name_the_sidecar_again(); }};
  constexpr int kLooks = 9;  // more checks than one opening makes
  int openings = 0;
  const auto open_when = [&](std::array<int, 3> moments) {
    write_file(data_, old_data);
    write_file(data_ + ".partial", new_data);
    write_file(beside_, old_sidecar_);
    std::filesystem::remove(next_);
    int look = 0;
    hooked.watch = [&](std::string_view, const std::string&) {
      for (size_t step = 0; step < steps.size(); ++step) {
        if (moments[step] == look) steps[step]();
      }
      ++look;
    };
    const auto warn = [&](const std::string& w) { warnings_.push_back(w); };
    return open_with_store(data_, warn, [&](const auto& source, SidecarStore& store) {
      ++openings;
      const auto sidecar = store.find({accept_all});
      hooked.watch = {};
      std::string bytes(source->size_bytes(), 0);
      source->read(0, std::as_writable_bytes(std::span(bytes)));
      return bytes.substr(5000, 3) + ": " + (sidecar ? sidecar->sidecar->classes().at(0) : "none");
    });
  };
  int cases = 0;
  for (int a = 0; a < kLooks; ++a) {
    for (int b = a; b < kLooks; ++b) {
      for (int c = b; c < kLooks; ++c, ++cases) {
        EXPECT_THAT(open_when({a, b, c}), AnyOf("old: old class", "new: new class"))
            << a << " " << b << " " << c;
      }
    }
  }
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_GT(openings, cases) << "no opening was begun again";
}

TEST(SidecarCache, is_where_the_environment_says) {
  const std::string said = in_forked_child([] {
    ::setenv("HOME", "/home/somebody", 1);
    ::setenv("XDG_CACHE_HOME", "/var/cache", 1);
    std::string places = *sidecar_cache_directory();
    ::setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    places += " " + *sidecar_cache_directory();
    ::unsetenv("XDG_CACHE_HOME");
    places += " " + *sidecar_cache_directory();
    ::unsetenv("HOME");
    return places + (sidecar_cache_directory() ? " some" : " none");
  });
  EXPECT_EQ(said,
            "/var/cache/fuelrail /home/somebody/.cache/fuelrail /home/somebody/.cache/fuelrail "
            "none");
}

}  // namespace
}  // namespace fuelrail
