#include "tsd/command_line.h"

namespace hg::tsd {
namespace {

const OptionSpec* FindOption(std::span<const OptionSpec> known, std::string_view word) {
  for (const OptionSpec& option : known)
    if (word == option.name || (!option.alias.empty() && word == option.alias)) return &option;
  return nullptr;
}

}  // namespace

Result<CommandLine> CommandLine::Parse(std::span<const OptionSpec> known,
                                       std::span<const std::string> arguments) {
  CommandLine line;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (const OptionSpec* option = FindOption(known, word)) {
      std::string value;
      if (!option->argument.empty()) {
        if (++i == arguments.size()) return Status::InvalidArgument("missing value for " + word);
        value = arguments[i];
        line.given_.emplace_back(option->name, value);
      }
      line.options_[std::string(option->name)] = std::move(value);
      continue;
    }
    const size_t equal = word.find('=', 1);
    if (equal != std::string::npos) {
      if (const OptionSpec* option = FindOption(known, std::string_view(word).substr(0, equal))) {
        line.options_[std::string(option->name)] = word.substr(equal + 1);
        line.given_.emplace_back(option->name, word.substr(equal + 1));
        continue;
      }
    }
    if (word == "--") {
      line.words_.insert(line.words_.end(), arguments.begin() + static_cast<ptrdiff_t>(i) + 1,
                         arguments.end());
      break;
    }
    if (word.starts_with('-')) return Status::InvalidArgument("unrecognized option " + word);
    line.words_.push_back(word);
  }
  return line;
}

std::optional<std::string> CommandLine::Value(std::string_view option) const {
  auto it = options_.find(option);
  if (it == options_.end()) return std::nullopt;
  return it->second;
}

std::string DescribeOptions(std::span<const OptionSpec> options) {
  std::string out;
  for (const OptionSpec& option : options) {
    std::string line = "  " + std::string(option.name);
    if (!option.argument.empty()) line += "=" + std::string(option.argument);
    if (!option.alias.empty()) line += ", " + std::string(option.alias);
    line.resize(std::max<size_t>(line.size() + 2, 30), ' ');
    out += line + std::string(option.help) + "\n";
  }
  return out;
}

}  // namespace hg::tsd
