#pragma once
// Parses the options and words of a command in OpenTSDB's syntax (opentsdb-tools.md §1,
// opentsdb-schema.md §18.1). "--name value" and "--name=value" are equivalent. Options and words
// may be mixed. "--" ends the options. A word that begins with '-' and is not a known option is
// rejected. No library has exactly these rules: for example, a single "-" must be rejected, and
// flags may not be combined.

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
  std::string_view name;      // the name of the option with its dashes: "--config"
  std::string_view argument;  // name of the value for the usage text; empty: the option is a flag
  std::string_view help;
  std::string_view alias = {};  // another name of the option, such as "-v" for "--verbose"
};

/// The parsed options and words of a command. The value is immutable.
class CommandLine {
 public:
  /// Parses the arguments of a command. InvalidArgument: an option is unknown, or an option lacks
  /// its value. The error message contains the name of the option.
  static Result<CommandLine> Parse(std::span<const OptionSpec> known,
                                   std::span<const std::string> arguments);

  [[nodiscard]] bool Has(std::string_view option) const { return options_.contains(option); }
  /// Returns the last value that was given for the option, or nullopt if the option was not given.
  [[nodiscard]] std::optional<std::string> Value(std::string_view option) const;
  /// Returns all given options with their values, in the order in which they were given. Each alias
  /// is replaced by the name of its option.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& given() const {
    return given_;
  }
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  /// Values of the given options; the key is the name of the option, not an alias.
  std::map<std::string, std::string, std::less<>> options_;
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::string> words_;
};

/// Returns one line of text for each option, with its name, argument and help text.
std::string DescribeOptions(std::span<const OptionSpec> options);

}  // namespace hg::tsd
