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

/// An option that a command accepts. Views of string literals.
struct OptionSpec {
  std::string_view name;      // with its dashes: "--config"
  std::string_view argument;  // name of its value in the usage text; empty = a flag without value
  std::string_view help;
  std::string_view alias = {};  // another name, such as "-v" for "--verbose"
};

/// The parsed options and words. Immutable value.
class CommandLine {
 public:
  /// Parses the arguments of a command. InvalidArgument: an option is unknown or lacks its value;
  /// the message has the name of the option.
  static Result<CommandLine> Parse(std::span<const OptionSpec> known,
                                   std::span<const std::string> arguments);

  [[nodiscard]] bool Has(std::string_view option) const { return options_.contains(option); }
  /// Returns the last value of the option, or nullopt if it was not given.
  [[nodiscard]] std::optional<std::string> Value(std::string_view option) const;
  /// Returns every option with a value, in the order given, by name and not by alias.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& given() const {
    return given_;
  }
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::string, std::less<>> options_;  // by name, not by alias
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::string> words_;
};

/// Returns one line for each option: name, argument, help.
std::string DescribeOptions(std::span<const OptionSpec> options);

}  // namespace hg::tsd
