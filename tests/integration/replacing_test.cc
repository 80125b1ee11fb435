// Every way to replace a packed file (pack, im2rec, convert, merge, index), failed and killed at
// every system call that changes files, and read while it happens: what is there opens whole, as
// it was before or as it is after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/container/recordio/record_reader.h"
#include "fuelrail/pack/convert.h"
#include "fuelrail/pack/merge.h"
#include "fuelrail/pack/packer.h"
#include "fuelrail/testing/faulty_calls.h"
#include "fuelrail/testing/photograph_folder.h"
#include "fuelrail/testing/watchdog.h"

namespace fuelrail {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;

enum class Version : uint8_t { kOld, kNew };
enum class Verb : uint8_t { kPack, kIm2rec, kConvert, kMerge, kIndex };

std::string name_of(Version version) { return version == Version::kOld ? "old" : "new"; }

// What opening the file gives: warnings, class names, every record, whether checksums are known.
std::string contents_of(const std::string& uri) {
  std::string said;
  const auto file = open_container(uri, {.warn = [&](const auto& w) { said += "warned: " + w; }});
  for (const std::string& name : file->classes()) said += name + " ";
  said += file->verifies_checksums() ? "checked:" : "unchecked:";
  std::vector<std::byte> framed;
  Sample sample;
  for (uint64_t i = 0; i < file->size(); ++i) {
    const Extent extent = file->extent(i);
    framed.resize(extent.length);
    extent.source->read(extent.offset, framed);
    file->parse(i, framed, sample);
    for (const FieldValue& field : sample.fields) said += std::to_string(crc32(field.bytes)) + " ";
  }
  return said;
}

// Whether each key of the index is the id of the record that it leads to.
bool index_fits(const std::string& uri, const std::string& index_uri) {
  const recordio::IndexedSource file = recordio::open_with_index(uri, index_uri);
  recordio::RecordReader records(file.data);
  recordio::IndexReader entries(file.index.bytes, file.index.uri);
  while (const auto record = records.next()) {
    const auto entry = entries.next();
    if (!entry || entry->offset != record->offset) return false;
    if (entry->key != std::to_string(parse_image_record(record->payload).id)) return false;
  }
  return !entries.next();
}

// Two versions of the sources, of which x.rec or x.ffr is made.
class Replacing : public PhotographFolder {
 protected:
  using Files = std::map<std::string, std::string>;

  // `extension`: of the output.
  Replacing(Verb verb, std::string extension) : verb_(verb), extension_(std::move(extension)) {
    FaultyCalls::only_changes = true;
    for (const Version version : {Version::kOld, Version::kNew}) make_sources(version);
  }
  ~Replacing() override { FaultyCalls::only_changes = false; }

  std::string output() const { return out("x" + extension_); }
  std::string index() const { return out("x.idx"); }
  bool has_index() const { return extension_ == ".rec"; }
  std::string source(Version version, const std::string& name) const {
    return directory_ / ("sources/" + name_of(version) + name);
  }

  void make(Version version) const {
    switch (verb_) {
      case Verb::kPack:
        pack::pack(source(version, ""), output(), {.job = {.overwrite = true}, .threads = 1});
        return;
      case Verb::kIm2rec:
        pack::pack(source(version, ".lst"), output(),
                   {.root = source(version, ""),
                    .job = {.overwrite = true},
                    .resume = true,
                    .threads = 1});
        return;
      case Verb::kConvert:
        pack::convert(source(version, has_index() ? ".ffr" : ".rec"), output(),
                      {.overwrite = true});
        return;
      case Verb::kMerge:
        pack::merge(
            {source(version, ".part000" + extension_), source(version, ".part001" + extension_)},
            output(), {.overwrite = true});
        return;
      case Verb::kIndex:
        build_sidecar(output(), {.checksums = version == Version::kNew});
        return;
    }
  }

  // What is there before.
  void begin() const {
    if (verb_ == Verb::kIndex)
      pack::pack(source(Version::kOld, ""), output(), {.job = {.overwrite = true}});
    make(Version::kOld);
  }

  void reset(const Files& files) const {
    for (const std::string& name : names_in(out())) std::filesystem::remove(out(name));
    for (const auto& [name, contents] : files) write_file(out(name), contents);
  }

  // Whether a run that fails at giving names leaves what it has written.
  bool leaves_its_own() const { return verb_ != Verb::kIndex; }

  std::string contents() const {
    std::string said = contents_of(output());
    if (has_index() && !index_fits(output(), index())) said += " another index";
    return said;
  }

 private:
  void make_sources(Version version) const {
    const bool is_new = version == Version::kNew;
    std::string list;
    for (size_t i = 0; i < (is_new ? 3 : 2); ++i) {
      const std::string name =
          (i % 2 == 0 ? "ant" : "bee") + name_of(version) + "/" + std::to_string(i) + ".jpg";
      write_file(source(version, "/" + name), as_text(make_jpeg(8, 8, i + 10 * size_t{is_new})));
      list += std::to_string(i + (is_new ? 20 : 10)) + "\t1\t" + name + "\n";
    }
    write_file(source(version, ".lst"), list);
    for (const char* extension : {".rec", ".ffr"}) {
      pack::pack(source(version, ""), source(version, extension), {.threads = 1});
    }
    pack::pack(source(version, ""), source(version, extension_), {.nsplit = 2, .threads = 1});
  }

  Verb verb_;
  std::string extension_;
};

struct Fault {
  int error;      // of FaultyCalls
  uint64_t more;  // calls after the first
};
constexpr uint64_t kAll = 1'000'000;

class ReplacingWithFaults : public Replacing,
                            public ::testing::WithParamInterface<std::tuple<Verb, const char*>> {
 protected:
  ReplacingWithFaults() : Replacing(std::get<0>(GetParam()), std::get<1>(GetParam())) {
    begin();
    before_ = outputs();
    old_contents_ = contents();
    make(Version::kNew);
    after_ = outputs();
    new_contents_ = contents();
    // The sidecar of an FFRecord file is the same each time.
    EXPECT_EQ(old_contents_ == new_contents_, before_ == after_);
  }

  // Replaces the old file by the new one; the call `n` is killed, or fails. Returns: whether there
  // was such a call.
  bool run(const Fault& fault, uint64_t n, std::string& failed) const {
    if (fault.error == FaultyCalls::kKilled) return run_killed(n);
    FaultyCalls::arm(fault.error, n, fault.more);
    try {
      make(Version::kNew);
    } catch (const Error& error) {
      failed = error.what();
    }
    const bool hit = FaultyCalls::calls() > n;
    FaultyCalls::disarm();
    return hit;
  }

  bool run_killed(uint64_t n) const {
    const pid_t child = ::fork();
    if (child == 0) {
      FaultyCalls::arm(FaultyCalls::kKilled, n);
      make(Version::kNew);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) << status;
    return status != 0;
  }

  void check(const std::string& when, const std::string& failed, bool killed) {
    const std::string there = contents();
    EXPECT_TRUE(there == old_contents_ || there == new_contents_)
        << when << ": " << failed << ": " << there;
    if (before_ == after_) {
      EXPECT_EQ(outputs_but_partials(), after_) << when;
    } else if (there == old_contents_) {
      for (const auto& [name, bytes] : before_) EXPECT_EQ(file_contents(out(name)), bytes) << when;
      EXPECT_TRUE(killed || !failed.empty()) << when;
      if (!failed.empty() && leaves_its_own() && FaultyCalls::last_failed() == Call::kRename) {
        EXPECT_THAT(names_in(out()), Contains(HasSubstr(".partial"))) << when << ": " << failed;
      }
      ++old_;
    } else {
      ++new_;
    }
  }

  Files outputs_but_partials() const {
    Files files = outputs();
    std::erase_if(files, [](const auto& file) { return file.first.ends_with(".partial"); });
    return files;
  }

  void sweep(const Fault& fault) {
    old_ = new_ = 0;
    uint64_t n = 0;
    for (bool hit = true; hit; ++n) {
      const std::string when = "call " + std::to_string(n);
      reset(before_);
      std::string failed;
      hit = run(fault, n, failed);
      check(when, failed, hit && fault.error == FaultyCalls::kKilled);
      make(Version::kNew);
      EXPECT_EQ(outputs(), after_) << when << ": the next run";
      watchdog_.feed();
    }
    EXPECT_GT(n, 5u);
    if (before_ == after_) return;
    EXPECT_GT(old_, 3) << "of " << n;
    EXPECT_GT(new_, 0) << "of " << n;
  }

  Watchdog watchdog_;
  Files before_;
  Files after_;
  std::string old_contents_;
  std::string new_contents_;
  int old_ = 0;
  int new_ = 0;
};

TEST_P(ReplacingWithFaults, a_call_that_fails_leaves_the_old_file_or_the_new_one) {
  sweep({.error = EIO, .more = 0});
}

TEST_P(ReplacingWithFaults, calls_that_fail_from_one_on_leave_the_old_file_or_the_new_one) {
  sweep({.error = EIO, .more = kAll});
}

TEST_P(ReplacingWithFaults, a_kill_leaves_the_old_file_or_the_new_one) {
  sweep({.error = FaultyCalls::kKilled, .more = 0});
}

INSTANTIATE_TEST_SUITE_P(Verbs, ReplacingWithFaults,
                         ::testing::Combine(::testing::Values(Verb::kPack, Verb::kIm2rec,
                                                              Verb::kConvert, Verb::kMerge,
                                                              Verb::kIndex),
                                            ::testing::Values(".rec", ".ffr")));

// One process that opens the file again and again, beside one that replaces it.
class ReplacingBesideReaders : public Replacing, public ::testing::WithParamInterface<const char*> {
 protected:
  ReplacingBesideReaders() : Replacing(Verb::kMerge, GetParam()) {
    begin();
    old_contents_ = contents();
    make(Version::kNew);
    new_contents_ = contents();
    writer_ = ::fork();
    if (writer_ == 0) {
      for (int i = 0;; ++i) make(i % 2 == 0 ? Version::kOld : Version::kNew);
    }
  }
  ~ReplacingBesideReaders() override {
    ::kill(writer_, SIGKILL);
    ::waitpid(writer_, nullptr, 0);
  }

  Watchdog watchdog_;
  std::string old_contents_;
  std::string new_contents_;
  pid_t writer_ = 0;
};

TEST_P(ReplacingBesideReaders, every_opening_gets_the_old_pair_or_the_new_one) {
  const char* asked = ::getenv("FUELRAIL_OPENINGS");
  const int openings = asked == nullptr ? 2'000 : std::stoi(asked);
  int changes = 0;
  std::string last;
  for (int i = 0; i < openings; ++i) {
    std::string there = contents_of(output());
    ASSERT_THAT(there, AnyOf(old_contents_, new_contents_)) << "opening " << i;
    if (has_index() && i % 4 == 0) {
      ASSERT_TRUE(index_fits(output(), index())) << i;
    }
    changes += there != last;
    last = std::move(there);
    watchdog_.feed();
  }
  EXPECT_GT(changes, 2);
}

INSTANTIATE_TEST_SUITE_P(Formats, ReplacingBesideReaders, ::testing::Values(".rec", ".ffr"));

}  // namespace
}  // namespace fuelrail
