#pragma once
// Options and words of one command, in OpenTSDB's own syntax (spec cli.md §1, schema.md §18.1):
// "--name value" and
// "--name=value" are the same, options and words mix, "--" ends the options, and any other word
// that begins with
// '-' is refused. No library's parser has exactly these rules ("-" alone must be refused, a flag
// may not cluster).

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::tsd {

/// One option that a command knows. Views of string literals.
struct OptionSpec {
  std::string_view name;      // with its dashes: "--config"
  std::string_view argument;  // what the usage text calls its value; empty = a flag without one
  std::string_view help;
  std::string_view alias = {};  // "-v" for "--verbose"
};

/// What was given. Immutable value.
class CommandLine {
 public:
  /// InvalidArgument names the option that nobody registered, or that lacks its value.
  static Result<CommandLine> Parse(std::span<const OptionSpec> known,
                                   std::span<const std::string> arguments);

  [[nodiscard]] bool Has(std::string_view option) const { return options_.contains(option); }
  /// The value given last; none if the option was not given.
  [[nodiscard]] std::optional<std::string> Value(std::string_view option) const;
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::string, std::less<>> options_;  // by name, not alias
  std::vector<std::string> words_;
};

/// A line for each option: name, argument, help.
std::string DescribeOptions(std::span<const OptionSpec> options);

}  // namespace hg::tsd
