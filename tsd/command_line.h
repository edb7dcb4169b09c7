#pragma once
// Parses options and words of a command in OpenTSDB's syntax (opentsdb-tools.md §1,
// opentsdb-schema.md §18.1). "--name value" and "--name=value" are equivalent. Options and words
// may be mixed. "--" ends the options. Other words that begin with '-' are rejected. No library has
// exactly these rules: "-" alone must be rejected, and flags may not be combined.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/status.h"

namespace hg::tsd {

/// An option that a command accepts. The members are views of string literals.
struct OptionSpec {
  std::string_view name;      // with its dashes: "--config"
  std::string_view argument;  // name of the value in the usage text; empty: the option is a flag
  std::string_view help;
  std::string_view alias = {};  // another name, such as "-v" for "--verbose"
};

/// The parsed options and words. Immutable value.
class CommandLine {
 public:
  /// Parses the arguments of a command. InvalidArgument: an option is unknown or lacks its value.
  /// The error message names the option.
  static Result<CommandLine> Parse(std::span<const OptionSpec> known,
                                   std::span<const std::string> arguments);

  [[nodiscard]] bool Has(std::string_view option) const { return options_.contains(option); }
  /// Returns the last value that was given for the option, or nullopt if there is none.
  [[nodiscard]] std::optional<std::string> Value(std::string_view option) const;
  /// Returns all given options with their values, in the given order. An alias is replaced.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& given() const {
    return given_;
  }
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::string, std::less<>> options_;  // key: the option's name, not an alias
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::string> words_;
};

/// Returns one line for each option: name, argument, help.
std::string DescribeOptions(std::span<const OptionSpec> options);

}  // namespace hg::tsd
