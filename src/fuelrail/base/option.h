// Options, each defined once: a table row has the option's name, bounds, meaning and the struct
// member that holds its value; the default is the member's. Constructors check values with the
// table, and bindings and commands set them with it, so that an invalid value raises the same error
// everywhere.
//
//   const OptionTable<ReadOptions>& ReadOptions::table() {
//     static const auto table =
//         OptionTable<ReadOptions>()
//             .number("read_threads", &ReadOptions::threads, 0, 1024, "Simultaneous reads.")
//             .flag("direct_reads", &ReadOptions::direct, "Bypass the page cache.");
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

// The value of any option: integers as int64_t, or as uint64_t if larger; a choice as its name.
// std::monostate means "None".
using OptionValue = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string,
                                 std::vector<int64_t>, std::vector<double>>;

// The value as text, for errors and help.
std::string shown(const OptionValue& value);

// How many items of a total may fail: the larger of `count` and `fraction` of the total, rounded
// down. In Python an int is a count, a float a fraction.
struct Allowance {
  uint64_t count = 0;
  double fraction = 0;

  // How many of `all` items may fail. `fraction` is treated as the decimal number that the user
  // wrote: 0.29 of 100 is 29, although the double is slightly less than 0.29.
  uint64_t of(uint64_t all) const;
};

// The part of an option that does not depend on its struct.
struct OptionRule {
  std::string name;
  // The kind of the option's values: "bool", "int", "float", "path", "ints", "floats" or "one of a
  // b c"; ends with " or None" if the option is optional.
  std::string kind;
  std::string bounds{};                // "1 to 1024", as in errors; empty: any value of the kind
  std::string limit{};                 // the bound of 64 bits that `bounds` omits: "at most 2^63-1"
  std::string meaning{};               // for the user, in sentences, without the default
  std::vector<std::string> choices{};  // the names of "one of"
  std::function<bool(const OptionValue&)> allows{};  // default: any value of the kind

  // Errors: InvalidArgumentError for a value out of bounds or of the wrong kind.
  void check(const OptionValue& value) const;
  // Throws the error of `check` for a value that is given as text. `too_long`: whether the value is
  // an integer that does not fit an int64_t; then the error also names `limit`.
  [[noreturn]] void refuse(const std::string& found, bool too_long = false) const;
};

template <typename Options>
struct Option {
  OptionRule rule;
  std::function<OptionValue(const Options&)> get;
  std::function<void(Options&, const OptionValue&)> set;  // Requires: `rule` allows the value
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

// Member: the type that `At` refers to in `Options`. Number: that type, or its value type if it is
// a std::optional.
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

// Whether a value of type Given can be assigned to a member of type Value. Bools, integers and
// floats take values of their own kind; floats and enumerations also take integers; a std::optional
// also takes std::monostate.
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

// Requires: may_take<Value>(value).
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
// The rule of an option whose value must be one of `numbers`, such as an enumeration's numeric
// values.
OptionRule numbers_rule(std::string name, std::vector<int64_t> numbers, std::string meaning);
// `kind`: "int or float", with " or None" if the option is optional.
OptionRule allowance_rule(std::string name, std::string kind, std::string meaning);
OptionRule choice_rule(std::string name, const std::vector<std::string>& names,
                       std::string meaning);

}  // namespace option

template <typename Options>
class OptionTable {
 public:
  // Each function adds a row. `at`: a pointer to the member, or a generic lambda that takes the
  // options (`auto&`) and returns a reference to the member.

  // Any value that the member can take and that `rule` allows.
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

  // From `least` to `most`, inclusive; a std::optional may also be empty.
  template <typename At>
  OptionTable& number(std::string name, At at, option::Number<Options, At> least,
                      option::Number<Options, At> most, std::string meaning = "") {
    return any(
        option::number_rule(std::move(name), option::kind_of<option::Member<Options, At>>(),
                            option::value_of(least), option::value_of(most), std::move(meaning)),
        at);
  }

  // Any number; for floats, any finite number.
  template <typename At>
  OptionTable& number(std::string name, At at, std::string meaning = "") {
    using Limits = std::numeric_limits<option::Number<Options, At>>;
    return number(std::move(name), at, Limits::lowest(), Limits::max(), std::move(meaning));
  }

  template <typename At>
  OptionTable& flag(std::string name, At at, std::string meaning = "") {
    return any({.name = std::move(name), .kind = "bool", .meaning = std::move(meaning)}, at);
  }

  // One of a few values, given by name.
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

  // Adds the rows of a member that has its own table.
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

  // Errors: InvalidArgumentError for the first value out of bounds.
  void check(const Options& options) const {
    for (const Option<Options>& one : rows_) one.rule.check(one.get(options));
  }

  // Errors: InvalidArgumentError for a value out of bounds or of the wrong kind.
  static void set(Options& options, const Option<Options>& one, const OptionValue& value) {
    one.rule.check(value);
    one.set(options, value);
  }

 private:
  std::vector<Option<Options>> rows_;
};

}  // namespace fuelrail
