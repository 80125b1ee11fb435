#include "fuelrail/container/ffrecord/folder_pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <utility>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"

namespace fuelrail::ffrecord {
namespace {

// The operations that are known. Frozen: they are Python's (Lib/pickletools.py).
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

// A folder's pairs stand behind a mark, and behind another one the arguments of protocol 0.
constexpr size_t kMaxMarks = size_t{kMaxFolderDepth} + 1;

constexpr const char* kRemedy = "Pack the folder anew";

// What lies on the stack and in the memo.
struct MarkValue {};
struct OrderedDictClass {};
struct NoArguments {};
struct FolderRef {
  size_t number;
};
using Value =
    std::variant<MarkValue, OrderedDictClass, NoArguments, FolderRef, int64_t, std::string_view>;

void append_utf8(uint32_t code, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

// Surrogates are taken, as Python's "surrogatepass" does.
bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at]);
    const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xc0) || first > 0xf4 || length > text.size() - at) return false;
    uint32_t code = length == 1 ? first : first & (0x7fu >> length);
    for (size_t i = 1; i < length; ++i) {
      const auto next = static_cast<uint8_t>(text[at + i]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3fu);
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast[length] || code > 0x10ffff) return false;
    at += length;
  }
  return true;
}

bool can_be_a_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= kMaxNameBytes &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

class Machine {
 public:
  Machine(Bytes pickle, uint64_t records) : pickle_(as_text(pickle)), records_(records) {}

  PackedStructure run() {
    while (!step()) {
    }
    if (at_ != pickle_.size()) refuse("bytes follow the end of the packed folder's structure");
    if (stack_.size() != 1) refuse_shape("one OrderedDict at the end");
    const FolderRef root = pop<FolderRef>("one OrderedDict at the end");
    if (folders_[root.number].placed) {
      refuse("the packed folder's structure has a folder in itself");
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

  [[noreturn]] void refuse(const std::string& failure, ErrorDetail detail = {}) const {
    if (detail.found.empty()) {
      detail.found = fmt::format("byte {} of {}", begin_, pickle_.size());
    }
    if (detail.remedy.empty()) detail.remedy = kRemedy;
    throw CorruptError(failure, detail);
  }

  [[noreturn]] void refuse_shape(const std::string& expected) const {
    refuse("the packed folder's structure is no nested OrderedDict of names and numbers",
           {.expected = expected, .found = fmt::format("something else at byte {}", begin_)});
  }

  [[noreturn]] void refuse_depth() const {
    refuse("the packed folder is nested too deep",
           {.expected = fmt::format("at most {} folders", kMaxFolderDepth), .found = "more"});
  }

  // --- Bytes of the pickle ---

  std::string_view take(uint64_t length) {
    if (length > pickle_.size() - at_) refuse("the packed folder's structure ends too early");
    at_ += length;
    return pickle_.substr(at_ - length, length);
  }

  template <typename T>
  T number() {
    return load_le<T>(as_bytes(take(sizeof(T))).data());
  }

  std::string_view line() {
    const size_t end = pickle_.find('\n', at_);
    if (end == std::string_view::npos) refuse("the packed folder's structure ends too early");
    const std::string_view text = pickle_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  int64_t decimal(std::string_view text) const {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) refuse_shape("a number");
    return value;
  }

  int64_t long_of(std::string_view bytes) const {
    if (bytes.size() > sizeof(int64_t)) refuse_shape("a number of at most 8 bytes");
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    }
    const auto unused = static_cast<int>(64 - 8 * bytes.size());  // sign-extended
    if (bytes.empty()) return 0;
    return static_cast<int64_t>(value << unused) >> unused;
  }

  // Of protocol 0: Latin-1, with \uXXXX and \UXXXXXXXX.
  std::string_view unescaped(std::string_view line) {
    std::string text;
    for (size_t at = 0; at < line.size();) {
      const bool escape =
          line[at] == '\\' && at + 1 < line.size() && (line[at + 1] == 'u' || line[at + 1] == 'U');
      if (!escape) {
        append_utf8(static_cast<uint8_t>(line[at++]), text);
        continue;
      }
      const std::string_view digits = line.substr(at + 2, line[at + 1] == 'u' ? 4 : 8);
      uint32_t code = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
      if (error != std::errc() || end != digits.data() + digits.size() ||
          digits.size() != (line[at + 1] == 'u' ? 4u : 8u) || code > 0x10ffff) {
        refuse_shape("text");
      }
      append_utf8(code, text);
      at += 2 + digits.size();
    }
    return unescaped_.emplace_back(std::move(text));
  }

  std::string_view utf8(std::string_view text) const {
    if (!is_utf8(text)) refuse_shape("text in UTF-8");
    return text;
  }

  // --- The stack ---

  template <typename T>
  T pop(const char* expected) {
    if (stack_.empty() || !std::holds_alternative<T>(stack_.back())) refuse_shape(expected);
    const T value = std::get<T>(stack_.back());
    stack_.pop_back();
    return value;
  }

  void remember(uint64_t number) {
    if (stack_.empty() || std::holds_alternative<MarkValue>(stack_.back())) {
      refuse_shape("something to remember");
    }
    if (number > at_) refuse_shape("a number of something to remember");  // there are not as many
    if (number >= memo_.size()) memo_.resize(static_cast<size_t>(number) + 1, MarkValue{});
    Value& place = memo_[static_cast<size_t>(number)];
    if (std::holds_alternative<MarkValue>(place)) ++remembered_;
    place = stack_.back();
  }

  void recall(uint64_t number) {
    if (number >= memo_.size() ||
        std::holds_alternative<MarkValue>(memo_[static_cast<size_t>(number)])) {
      refuse_shape("something that was remembered");
    }
    stack_.push_back(memo_[static_cast<size_t>(number)]);
  }

  void push_class(std::string_view module, std::string_view name) {
    if (module != "collections" || name != "OrderedDict") {
      refuse(
          "the packed folder's structure names what no packed folder has, and nothing of it was "
          "called",
          {.expected = "collections.OrderedDict and nothing else",
           .found = fmt::format("{:?}",
                                fmt::format("{}.{}", module.substr(0, 100), name.substr(0, 100))),
           .remedy = "Do not open this file with anything that unpickles it"});
    }
    stack_.push_back(OrderedDictClass{});
  }

  void make_folder() {
    pop<NoArguments>("no arguments");
    pop<OrderedDictClass>("collections.OrderedDict");
    stack_.push_back(FolderRef{folders_.size()});
    folders_.emplace_back();
  }

  // The pairs on the stack from `begin` on, into the folder below them, which stays.
  void add_entries(size_t begin, size_t below) {
    if ((stack_.size() - begin) % 2 != 0 || below == 0) refuse_shape("pairs for an OrderedDict");
    const auto* folder = std::get_if<FolderRef>(&stack_[below - 1]);
    if (folder == nullptr) refuse_shape("pairs for an OrderedDict");
    for (size_t i = begin; i < stack_.size(); i += 2) {
      add_entry(folders_[folder->number], stack_[i], stack_[i + 1]);
    }
    stack_.resize(below, MarkValue{});
  }

  void add_entry(Folder& folder, const Value& key, const Value& value) {
    const auto* name = std::get_if<std::string_view>(&key);
    if (name == nullptr) refuse_shape("a name");
    if (!can_be_a_name(*name)) {
      refuse("the packed folder has a name that no file can have",
             {.found = fmt::format("{:?}", name->substr(0, 100))});
    }
    if (const auto* record = std::get_if<int64_t>(&value)) {
      if (*record < 0 || static_cast<uint64_t>(*record) >= records_) {
        refuse("the packed folder names a file that is not there",
               {.expected = fmt::format("a record below {}", records_),
                .found = fmt::format("{} for {:?}", *record, *name)});
      }
      if (files_++ == records_) {
        refuse("the packed folder names more files than it has",
               {.expected = fmt::format("at most {}", records_)});
      }
    } else if (const auto* below = std::get_if<FolderRef>(&value)) {
      if (folders_[below->number].placed) {
        refuse("the packed folder's structure has one folder in two places",
               {.found = fmt::format("{:?}", *name)});
      }
      folders_[below->number].placed = true;
    } else {
      refuse_shape("a number or an OrderedDict");
    }
    folder.entries.emplace_back(*name, value);
  }

  // Every folder is in one other at most, and the root in none: this ends.
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
      refuse("the packed folder has a name twice in one folder",
             {.found = fmt::format("{:?}", *twice)});
    }
  }

  // --- Operations ---

  // Returns: whether that was the end.
  bool step() {
    begin_ = at_;
    const auto opcode = static_cast<Opcode>(number<uint8_t>());
    switch (opcode) {
      case kStop:
        return true;
      case kProto:
        if (number<uint8_t>() > kLastProtocol) refuse_shape("a protocol up to 5");
        break;
      case kFrame:
        if (number<uint64_t>() > pickle_.size() - at_) {
          refuse("the packed folder's structure ends too early");
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
        if (marks_.empty() || marks_.back() + 1 != stack_.size()) refuse_shape("no arguments");
        stack_.back() = NoArguments{};
        marks_.pop_back();
        break;
      case kReduce:
        make_folder();
        break;
      case kGlobal: {
        const std::string_view module = line();
        push_class(module, line());
        break;
      }
      case kStackGlobal: {
        const auto name = pop<std::string_view>("a class's name");
        push_class(pop<std::string_view>("a module's name"), name);
        break;
      }
      case kSetItem:
        if (stack_.size() < 3) refuse_shape("a pair for an OrderedDict");
        add_entries(stack_.size() - 2, stack_.size() - 2);
        break;
      case kSetItems: {
        if (marks_.empty()) refuse_shape("pairs for an OrderedDict");
        const size_t mark = marks_.back();
        marks_.pop_back();
        add_entries(mark + 1, mark);
        break;
      }
      default:
        if (!step_memo(opcode) && !step_number(opcode) && !step_text(opcode)) {
          refuse("the packed folder's structure does what no packed folder needs",
                 {.expected = "OrderedDicts of names and numbers",
                  .found =
                      fmt::format("opcode {:#04x} at byte {}", static_cast<int>(opcode), begin_)});
        }
    }
    return false;
  }

  bool step_memo(Opcode opcode) {
    switch (opcode) {
      case kPut:
        remember(static_cast<uint64_t>(decimal(line())));
        return true;
      case kBinPut:
        remember(number<uint8_t>());
        return true;
      case kLongBinPut:
        remember(number<uint32_t>());
        return true;
      case kMemoize:
        remember(remembered_);
        return true;
      case kGet:
        recall(static_cast<uint64_t>(decimal(line())));
        return true;
      case kBinGet:
        recall(number<uint8_t>());
        return true;
      case kLongBinGet:
        recall(number<uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool step_number(Opcode opcode) {
    switch (opcode) {
      case kInt: {
        const std::string_view text = line();
        if (text == "00" || text == "01") refuse_shape("a number");  // False and True
        stack_.push_back(decimal(text));
        return true;
      }
      case kLong: {
        const std::string_view text = line();
        if (!text.ends_with('L')) refuse_shape("a number");
        stack_.push_back(decimal(text.substr(0, text.size() - 1)));
        return true;
      }
      case kBinInt:
        stack_.push_back(int64_t{number<int32_t>()});
        return true;
      case kBinInt1:
        stack_.push_back(int64_t{number<uint8_t>()});
        return true;
      case kBinInt2:
        stack_.push_back(int64_t{number<uint16_t>()});
        return true;
      case kLong1:
        stack_.push_back(long_of(take(number<uint8_t>())));
        return true;
      default:
        return false;
    }
  }

  bool step_text(Opcode opcode) {
    switch (opcode) {
      case kUnicode:
        stack_.push_back(unescaped(line()));
        return true;
      case kShortBinUnicode:
        stack_.push_back(utf8(take(number<uint8_t>())));
        return true;
      case kBinUnicode:
        stack_.push_back(utf8(take(number<uint32_t>())));
        return true;
      case kBinUnicode8:
        stack_.push_back(utf8(take(number<uint64_t>())));
        return true;
      default:
        return false;
    }
  }

  std::string_view pickle_;
  uint64_t records_;
  size_t at_ = 0;
  size_t begin_ = 0;  // of the operation
  // Deques: what grows byte by byte is never there twice.
  std::deque<Value> stack_;
  std::vector<size_t> marks_;  // where on the stack
  std::deque<Value> memo_;     // by number; a mark where there is nothing
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
