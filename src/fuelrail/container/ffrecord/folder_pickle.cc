#include "fuelrail/container/ffrecord/folder_pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/pickle_reader.h"

namespace fuelrail::ffrecord {
namespace {

// The supported operations. Frozen: they are Python's (Lib/pickletools.py).
enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kEmptyTuple = ')',
  kTuple = 't',
  kReduce = 'R',
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kSetItem = 's',
  kSetItems = 'u',
  kPut = 'p',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kMemoize = 0x94,
  kGet = 'g',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kInt = 'I',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong = 'L',
  kLong1 = 0x8a,
  kUnicode = 'V',
  kBinUnicode = 'X',
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kProto = 0x80,
  kFrame = 0x95,
};
constexpr uint8_t kLastProtocol = 5;

// A mark precedes each folder's pairs; in protocol 0, one more precedes the arguments.
constexpr size_t kMaxMarks = size_t{kMaxFolderDepth} + 1;

constexpr uint64_t kMaxForgotten = 255;  // memo numbers that may be skipped

// The values on the stack and in the memo.
struct MarkValue {};
struct OrderedDictClass {};
struct NoArguments {};
struct FolderRef {
  size_t number;
};
using Value =
    std::variant<MarkValue, OrderedDictClass, NoArguments, FolderRef, int64_t, std::string_view>;

bool can_be_a_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= kMaxNameBytes &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

class Machine {
 public:
  Machine(Bytes pickle, uint64_t records) : in_(pickle), records_(records) {}

  PackedStructure run() {
    while (!step()) {
    }
    if (in_.left() > 0) in_.refuse("the packed folder's structure has extra bytes after its end");
    if (stack_.size() != 1) in_.refuse_shape("one OrderedDict at the end");
    const FolderRef root = pop<FolderRef>("one OrderedDict at the end");
    if (folders_[root.number].placed) {
      in_.refuse("a folder in the packed folder's structure contains itself");
    }
    stack_ = {};
    memo_ = {};
    PackedEntries entries = entries_of(root, 1);
    return {std::move(entries), std::move(unescaped_)};
  }

 private:
  struct Folder {
    std::vector<std::pair<std::string_view, Value>> entries;  // records and folders
    bool placed = false;                                      // in another folder
  };

  [[noreturn]] void refuse_depth() const {
    in_.refuse("the packed folder is nested too deeply",
               {.expected = fmt::format("at most {} levels of folders", kMaxFolderDepth),
                .found = "more"});
  }

  // --- The stack ---

  template <typename T>
  T pop(const char* expected) {
    if (stack_.empty() || !std::holds_alternative<T>(stack_.back())) in_.refuse_shape(expected);
    const T value = std::get<T>(stack_.back());
    stack_.pop_back();
    return value;
  }

  void remember(uint64_t number) {
    if (stack_.empty() || std::holds_alternative<MarkValue>(stack_.back())) {
      in_.refuse_shape("a value to memoize");
    }
    // Python numbers memo values consecutively, so only a few skipped numbers are allowed.
    if (number > remembered_ + kMaxForgotten) in_.refuse_shape("a valid memo number");
    if (number >= memo_.size()) memo_.resize(static_cast<size_t>(number) + 1, MarkValue{});
    Value& place = memo_[static_cast<size_t>(number)];
    if (std::holds_alternative<MarkValue>(place)) ++remembered_;
    place = stack_.back();
  }

  void recall(uint64_t number) {
    if (number >= memo_.size() ||
        std::holds_alternative<MarkValue>(memo_[static_cast<size_t>(number)])) {
      in_.refuse_shape("a memoized value");
    }
    stack_.push_back(memo_[static_cast<size_t>(number)]);
  }

  void push_class(std::string_view module, std::string_view name) {
    if (module != "collections" || name != "OrderedDict") {
      in_.refuse(
          "the packed folder's structure names a class or function that fuelrail does not call",
          {.expected = "only collections.OrderedDict",
           .found = fmt::format("{:?}",
                                fmt::format("{}.{}", module.substr(0, 100), name.substr(0, 100))),
           .remedy = "Do not open this file with a program that unpickles it"});
    }
    stack_.push_back(OrderedDictClass{});
  }

  void make_folder() {
    pop<NoArguments>("no arguments");
    pop<OrderedDictClass>("collections.OrderedDict");
    stack_.push_back(FolderRef{folders_.size()});
    folders_.emplace_back();
  }

  // Moves the pairs on the stack from `begin` on into the folder below them, which stays on the
  // stack.
  void add_entries(size_t begin, size_t below) {
    if ((stack_.size() - begin) % 2 != 0 || below == 0)
      in_.refuse_shape("pairs for an OrderedDict");
    const auto* folder = std::get_if<FolderRef>(&stack_[below - 1]);
    if (folder == nullptr) in_.refuse_shape("pairs for an OrderedDict");
    for (size_t i = begin; i < stack_.size(); i += 2) {
      add_entry(folders_[folder->number], stack_[i], stack_[i + 1]);
    }
    stack_.resize(below, MarkValue{});
  }

  void add_entry(Folder& folder, const Value& key, const Value& value) {
    const auto* name = std::get_if<std::string_view>(&key);
    if (name == nullptr) in_.refuse_shape("a name");
    if (!can_be_a_name(*name)) {
      in_.refuse("the packed folder has an invalid file name",
                 {.found = fmt::format("{:?}", name->substr(0, 100))});
    }
    if (const auto* record = std::get_if<int64_t>(&value)) {
      if (*record < 0 || static_cast<uint64_t>(*record) >= records_) {
        in_.refuse("the packed folder names a file without a record",
                   {.expected = fmt::format("a record number below {}", records_),
                    .found = fmt::format("{} for {:?}", *record, *name)});
      }
      if (files_++ == records_) {
        in_.refuse("the packed folder names more files than it has records",
                   {.expected = fmt::format("at most {}", records_)});
      }
    } else if (const auto* below = std::get_if<FolderRef>(&value)) {
      if (folders_[below->number].placed) {
        in_.refuse("the packed folder's structure has one folder in two places",
                   {.found = fmt::format("{:?}", *name)});
      }
      folders_[below->number].placed = true;
    } else {
      in_.refuse_shape("a number or an OrderedDict");
    }
    folder.entries.emplace_back(*name, value);
  }

  // Terminates, because every folder is in at most one other folder, and the root in none.
  PackedEntries entries_of(FolderRef ref, int depth) {
    if (depth > kMaxFolderDepth) refuse_depth();
    Folder& folder = folders_[ref.number];
    check_names(folder);
    PackedEntries result;
    result.entries.reserve(folder.entries.size());
    for (const auto& [name, value] : folder.entries) {
      if (const auto* record = std::get_if<int64_t>(&value)) {
        result.entries.emplace_back(name, static_cast<uint64_t>(*record));
      } else {
        result.entries.emplace_back(name, entries_of(std::get<FolderRef>(value), depth + 1));
      }
    }
    folder.entries = {};
    return result;
  }

  void check_names(const Folder& folder) const {
    std::vector<std::string_view> names;
    names.reserve(folder.entries.size());
    for (const auto& [name, value] : folder.entries) names.push_back(name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) {
      in_.refuse("the packed folder has the same name twice in one folder",
                 {.found = fmt::format("{:?}", *twice)});
    }
  }

  // --- Operations ---

  // Returns: whether this was the last operation.
  bool step() {
    const auto opcode = static_cast<Opcode>(in_.next_operation());
    switch (opcode) {
      case kStop:
        return true;
      case kProto:
        if (in_.take_number<uint8_t>() > kLastProtocol) in_.refuse_shape("pickle protocol 0 to 5");
        break;
      case kFrame:
        if (in_.take_number<uint64_t>() > in_.left()) {
          in_.refuse("the packed folder's structure is truncated");
        }
        break;
      case kMark:
        if (marks_.size() == kMaxMarks) refuse_depth();
        marks_.push_back(stack_.size());
        stack_.push_back(MarkValue{});
        break;
      case kEmptyTuple:
        stack_.push_back(NoArguments{});
        break;
      case kTuple:
        if (marks_.empty() || marks_.back() + 1 != stack_.size()) in_.refuse_shape("no arguments");
        stack_.back() = NoArguments{};
        marks_.pop_back();
        break;
      case kReduce:
        make_folder();
        break;
      case kGlobal: {
        const std::string_view module = in_.take_line();
        push_class(module, in_.take_line());
        break;
      }
      case kStackGlobal: {
        const auto name = pop<std::string_view>("a class's name");
        push_class(pop<std::string_view>("a module's name"), name);
        break;
      }
      case kSetItem:
        if (stack_.size() < 3) in_.refuse_shape("a pair for an OrderedDict");
        add_entries(stack_.size() - 2, stack_.size() - 2);
        break;
      case kSetItems: {
        if (marks_.empty()) in_.refuse_shape("pairs for an OrderedDict");
        const size_t mark = marks_.back();
        marks_.pop_back();
        add_entries(mark + 1, mark);
        break;
      }
      default:
        if (!step_memo(opcode) && !step_number(opcode) && !step_text(opcode)) {
          in_.refuse("the packed folder's structure has a pickle operation that is not allowed",
                     {.expected = "OrderedDicts of names and numbers",
                      .found = fmt::format("opcode {:#04x} at byte {}", static_cast<int>(opcode),
                                           in_.begin())});
        }
    }
    return false;
  }

  bool step_memo(Opcode opcode) {
    switch (opcode) {
      case kPut:
        remember(static_cast<uint64_t>(in_.take_decimal()));
        return true;
      case kBinPut:
        remember(in_.take_number<uint8_t>());
        return true;
      case kLongBinPut:
        remember(in_.take_number<uint32_t>());
        return true;
      case kMemoize:
        remember(remembered_);
        return true;
      case kGet:
        recall(static_cast<uint64_t>(in_.take_decimal()));
        return true;
      case kBinGet:
        recall(in_.take_number<uint8_t>());
        return true;
      case kLongBinGet:
        recall(in_.take_number<uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool step_number(Opcode opcode) {
    switch (opcode) {
      case kInt:
        stack_.push_back(in_.take_int());
        return true;
      case kLong:
        stack_.push_back(in_.take_decimal_long());
        return true;
      case kBinInt:
        stack_.push_back(int64_t{in_.take_number<int32_t>()});
        return true;
      case kBinInt1:
        stack_.push_back(int64_t{in_.take_number<uint8_t>()});
        return true;
      case kBinInt2:
        stack_.push_back(int64_t{in_.take_number<uint16_t>()});
        return true;
      case kLong1:
        stack_.push_back(in_.take_long(in_.take_number<uint8_t>()));
        return true;
      default:
        return false;
    }
  }

  bool step_text(Opcode opcode) {
    switch (opcode) {
      case kUnicode:
        stack_.push_back(std::string_view(unescaped_.emplace_back(in_.take_escaped_line())));
        return true;
      case kShortBinUnicode:
        stack_.push_back(in_.take_utf8(in_.take_number<uint8_t>()));
        return true;
      case kBinUnicode:
        stack_.push_back(in_.take_utf8(in_.take_number<uint32_t>()));
        return true;
      case kBinUnicode8:
        stack_.push_back(in_.take_utf8(in_.take_number<uint64_t>()));
        return true;
      default:
        return false;
    }
  }

  PickleReader in_;
  uint64_t records_;
  // Deques, because they grow without copying all elements.
  std::deque<Value> stack_;
  std::vector<size_t> marks_;  // positions on the stack
  std::deque<Value> memo_;     // by number; a mark in unused places
  uint64_t remembered_ = 0;
  std::deque<Folder> folders_;
  uint64_t files_ = 0;
  std::deque<std::string> unescaped_;
};

}  // namespace

PackedStructure parse_folder_pickle(Bytes pickle, uint64_t records) {
  return Machine(pickle, records).run();
}

}  // namespace fuelrail::ffrecord
