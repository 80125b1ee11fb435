// Options, each stated once: a row of a table has an option's name, its bounds and its meaning, and
// says where its value is; its default is the member's. Constructors check by the table, bindings
// and commands set by it, so that a wrong value is the same error everywhere.
//
//   const OptionTable<ReadOptions>& ReadOptions::table() {
//     static const auto table =
//         OptionTable<ReadOptions>()
//             .number("read_threads", &ReadOptions::threads, 0, 1024, "Reads at the same time.")
//             .flag("direct_reads", &ReadOptions::direct, "Read past the page cache.");
//     return table;
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace fuelrail {

// A value as all tables have it: whole numbers as int64_t, or uint64_t above that; a choice by its
// name. std::monostate is "None".
using OptionValue = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string,
                                 std::vector<int64_t>, std::vector<double>>;

// As errors and help show it.
std::string shown(const OptionValue& value);

// How much of a whole may fail: a count, or a fraction of it, rounded down; the larger of both.
// Python has an int or a float for it.
struct Allowance {
  uint64_t count = 0;
  double fraction = 0;

  // How many of `all` that is. The fraction counts as the decimal number that it was written as:
  // 0.29 of 100 is 29, though the double is a little less.
  uint64_t of(uint64_t all) const;
};

// What may be said of an option without its struct.
struct OptionRule {
  std::string name;
  // Of its values: "bool", "int", "float", "path", "ints", "floats", "one of a b c"; " or None" at
  // the end where it may be left open.
  std::string kind;
  std::string bounds{};   // "1 to 1024", as an error says it; empty: any value of the kind
  std::string meaning{};  // for the user, without the default; sentences
  std::vector<std::string> choices{};                // of "one of"
  std::function<bool(const OptionValue&)> allows{};  // default: any value of the kind

  // Errors: InvalidArgumentError for a value out of bounds or of another kind.
  void check(const OptionValue& value) const;
  // The same for a value that `found` shows, also a whole number that no OptionValue holds.
  [[noreturn]] void refuse(const std::string& found, bool of_64_bits = true) const;
};

template <typename Options>
struct Option {
  OptionRule rule;
  std::function<OptionValue(const Options&)> get;
  std::function<void(Options&, const OptionValue&)> set;  // Requires: `rule` allows it
};

namespace option {

template <typename Value>
struct Inner {
  using Type = Value;
};
template <typename Value>
struct Inner<std::optional<Value>> {
  using Type = Value;
};

// The type of what `At` finds in `Options`; of a std::optional, Number is what it holds.
template <typename Options, typename At>
using Member = std::remove_cvref_t<std::invoke_result_t<At, Options&>>;
template <typename Options, typename At>
using Number = typename Inner<Member<Options, At>>::Type;

template <typename Value>
OptionValue value_of(const Value& value) {
  if constexpr (std::is_floating_point_v<Value>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    if (std::in_range<int64_t>(value)) return static_cast<int64_t>(value);
    return static_cast<uint64_t>(value);
  } else if constexpr (std::is_enum_v<Value>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::is_same_v<Value, Allowance>) {
    return value.fraction != 0 ? OptionValue{value.fraction} : value_of(value.count);
  } else if constexpr (std::is_same_v<Value, std::vector<float>>) {
    return std::vector<double>(value.begin(), value.end());
  } else if constexpr (!std::is_same_v<Value, typename Inner<Value>::Type>) {
    return value ? value_of(*value) : OptionValue{};
  } else {
    return value;
  }
}

// Whether a member of type Value takes what is Given: a bool, a whole number and a float their own
// kind, a float and an enumeration a whole number too, and a std::optional nothing.
template <typename Value, typename Given>
constexpr bool takes() {
  using Type = typename Inner<Value>::Type;
  if constexpr (std::is_same_v<Given, std::monostate>) return !std::is_same_v<Type, Value>;
  if constexpr (std::is_same_v<Given, bool> || std::is_same_v<Type, bool>) {
    return std::is_same_v<Given, Type>;
  }
  if constexpr (std::is_arithmetic_v<Given>) {
    return std::is_floating_point_v<Type> || std::is_same_v<Type, Allowance> ||
           (std::is_integral_v<Given> && (std::is_integral_v<Type> || std::is_enum_v<Type>));
  }
  return std::is_same_v<Given, Type> ||
         (std::is_same_v<Given, std::vector<double>> && std::is_same_v<Type, std::vector<float>>);
}

template <typename Value>
bool may_take(const OptionValue& value) {
  return std::visit(
      [](const auto& given) { return takes<Value, std::remove_cvref_t<decltype(given)>>(); },
      value);
}

// Requires: may_take.
template <typename Value>
void assign(Value& member, const OptionValue& value) {
  std::visit(
      [&](const auto& given) {
        using Type = typename Inner<Value>::Type;
        using Given = std::remove_cvref_t<decltype(given)>;
        if constexpr (!takes<Value, Given>()) {
          return;
        } else if constexpr (std::is_same_v<Given, std::monostate>) {
          member = {};
        } else if constexpr (std::is_same_v<Type, std::vector<float>>) {
          member = Type(given.begin(), given.end());
        } else if constexpr (std::is_same_v<Type, Allowance>) {
          if constexpr (std::is_integral_v<Given>) member = Type{static_cast<uint64_t>(given)};
          if constexpr (!std::is_integral_v<Given>) member = Type{.count = 0, .fraction = given};
        } else {
          member = static_cast<Type>(given);
        }
      },
      value);
}

template <typename Member>
std::string kind_of() {
  using Value = typename Inner<Member>::Type;
  return std::string(std::is_integral_v<Value> ? "int" : "float") +
         (std::is_same_v<Member, Value> ? "" : " or None");
}

OptionRule number_rule(std::string name, std::string kind, OptionValue least, OptionValue most,
                       std::string meaning);
// An enumeration by its numbers.
OptionRule numbers_rule(std::string name, std::vector<int64_t> numbers, std::string meaning);
// `kind`: "int or float", and " or None" where it may be left open.
OptionRule allowance_rule(std::string name, std::string kind, std::string meaning);
OptionRule choice_rule(std::string name, const std::vector<std::string>& names,
                       std::string meaning);

}  // namespace option

template <typename Options>
class OptionTable {
 public:
  // Each adds a row. `at` is a pointer to the member, or a function from `auto&` to it.

  // Any value that the member takes, and that `rule` allows.
  template <typename At>
  OptionTable& any(OptionRule rule, At at) {
    rule.allows = [allows = std::move(rule.allows)](const OptionValue& value) {
      return option::may_take<option::Member<Options, At>>(value) && (!allows || allows(value));
    };
    return row(
        {.rule = std::move(rule),
         .get = [at](const Options& o) { return option::value_of(std::invoke(at, o)); },
         .set = [at](Options& o,
                     const OptionValue& value) { option::assign(std::invoke(at, o), value); }});
  }

  // From `least` to `most`, both included; or none, of a std::optional.
  template <typename At>
  OptionTable& number(std::string name, At at, option::Number<Options, At> least,
                      option::Number<Options, At> most, std::string meaning = "") {
    return any(
        option::number_rule(std::move(name), option::kind_of<option::Member<Options, At>>(),
                            option::value_of(least), option::value_of(most), std::move(meaning)),
        at);
  }

  // Any number; of floats, any that is finite.
  template <typename At>
  OptionTable& number(std::string name, At at, std::string meaning = "") {
    using Limits = std::numeric_limits<option::Number<Options, At>>;
    return number(std::move(name), at, Limits::lowest(), Limits::max(), std::move(meaning));
  }

  template <typename At>
  OptionTable& flag(std::string name, At at, std::string meaning = "") {
    return any({.name = std::move(name), .kind = "bool", .meaning = std::move(meaning)}, at);
  }

  // One of a few values by name.
  template <typename At>
  OptionTable& choice(std::string name, At at,
                      std::vector<std::pair<std::string, option::Member<Options, At>>> values,
                      std::string meaning = "") {
    std::vector<std::string> names;
    for (const auto& [value_name, value] : values) names.push_back(value_name);
    return row({.rule = option::choice_rule(std::move(name), names, std::move(meaning)),
                .get =
                    [at, values](const Options& o) {
                      for (const auto& [value_name, value] : values) {
                        if (value == std::invoke(at, o)) return OptionValue{value_name};
                      }
                      return OptionValue{std::string("none")};
                    },
                .set =
                    [at, values](Options& o, const OptionValue& given) {
                      for (const auto& [value_name, value] : values) {
                        if (value_name == std::get<std::string>(given)) std::invoke(at, o) = value;
                      }
                    }});
  }

  OptionTable& row(Option<Options> added) {
    rows_.push_back(std::move(added));
    return *this;
  }

  // Adds the rows of a part of the options that has a table of its own.
  template <typename At>
  OptionTable& part(At at, const OptionTable<option::Member<Options, At>>& table) {
    for (const auto& of : table.rows()) {
      row({.rule = of.rule,
           .get = [at, get = of.get](const Options& o) { return get(std::invoke(at, o)); },
           .set = [at, set = of.set](
                      Options& o, const OptionValue& value) { set(std::invoke(at, o), value); }});
    }
    return *this;
  }

  const std::vector<Option<Options>>& rows() const { return rows_; }

  // Errors: InvalidArgumentError for the first value that is out of bounds.
  void check(const Options& options) const {
    for (const Option<Options>& one : rows_) one.rule.check(one.get(options));
  }

  // Errors: InvalidArgumentError for a value out of bounds or of another kind.
  static void set(Options& options, const Option<Options>& one, const OptionValue& value) {
    one.rule.check(value);
    one.set(options, value);
  }

 private:
  std::vector<Option<Options>> rows_;
};

}  // namespace fuelrail
