#include "fuelrail/storage/memory/memory_file_system.h"

#include "fuelrail/testing/file_system_conformance.h"
#include "fuelrail/testing/source_conformance.h"

namespace fuelrail {
namespace {

// Each test has its own directory in the common tree.
struct MemoryFiles {
  MemoryFiles() { memory_file_system().make_directory(uri); }
  FileSystem& file_system() { return memory_file_system(); }
  std::string directory() { return uri; }

  static inline int made = 0;
  std::string uri = "memory://test" + std::to_string(made++);
};

struct Free {
  std::shared_ptr<const Source> make(const std::vector<std::byte>& bytes) {
    return memory_source("bytes", bytes);
  }
};

struct InTree : MemoryFiles {
  std::string put(const std::vector<std::byte>& bytes) {
    const auto sink = memory_file_system().create(uri + "/x");
    sink->write(bytes);
    sink->commit();
    return uri + "/x";
  }
  std::shared_ptr<const Source> make(const std::vector<std::byte>& bytes) {
    return memory_file_system().open(put(bytes));
  }
};

struct Lazy : InTree {
  std::shared_ptr<const Source> make(const std::vector<std::byte>& bytes) {
    return memory_file_system().open_lazily({put(bytes), bytes.size(), false});
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, FileSystemConformance, MemoryFiles);
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, SourceConformance, Free);
INSTANTIATE_TYPED_TEST_SUITE_P(MemoryFile, SourceConformance, InTree);
INSTANTIATE_TYPED_TEST_SUITE_P(MemoryLazy, SourceConformance, Lazy);

TEST(MemoryFileSystem, the_root_is_there_and_slashes_do_not_matter) {
  EXPECT_TRUE(memory_file_system().stat("memory://")->is_directory);
  memory_file_system().make_directory("memory://slashes//inner/");
  EXPECT_TRUE(memory_file_system().stat("memory:///slashes/inner")->is_directory);
}

}  // namespace
}  // namespace fuelrail
