#include "query/promql/anchored_pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "storage/base/no_wait.h"
#include "storage/model/utf8.h"

namespace hg::query::promql {
namespace {

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Behind a backslash it stands for itself.
bool IsEscapable(char c) { return static_cast<unsigned char>(c) < 0x80 && !IsWord(c); }

/// One group around all of a pattern, as dashboards write choices: taken off.
std::string_view WithoutGroup(std::string_view pattern) {
  if (!pattern.starts_with('(') || !pattern.ends_with(')')) return pattern;
  const size_t head = pattern.starts_with("(?:") ? 3 : 1;
  return pattern.substr(head, pattern.size() - head - 1);
}

/// Takes the name of a group off `rest`, which stands behind a '$'. Empty: there is none.
std::string_view TakeGroupName(std::string_view* rest) {
  const bool braces = rest->starts_with('{');
  std::string_view word = rest->substr(braces ? 1 : 0);
  word = word.substr(
      0, static_cast<size_t>(std::find_if_not(word.begin(), word.end(), IsWord) - word.begin()));
  const size_t taken = word.size() + (braces ? 2 : 0);
  if (word.empty() || (braces && (rest->size() < taken || (*rest)[taken - 1] != '}'))) return {};
  rest->remove_prefix(taken);
  return word;
}

}  // namespace

std::vector<std::string> LiteralChoices(std::string_view pattern) {
  if (!IsUtf8(pattern)) return {};
  pattern = WithoutGroup(pattern);
  std::vector<std::string> choices(1);
  for (size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '|') {
      if (choices.size() == kLiteralChoicesMax) return {};
      choices.emplace_back();
      continue;
    }
    if (c == '\\') {
      if (++i == pattern.size() || !IsEscapable(pattern[i])) return {};
      c = pattern[i];
    } else if (std::string_view(".+*?()[]{}^$").find(c) != std::string_view::npos) {
      return {};
    }
    choices.back().push_back(c);
  }
  std::sort(choices.begin(), choices.end());
  choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
  return choices;
}

AnchoredPattern::AnchoredPattern(std::unique_ptr<re2::RE2> pattern)
    : pattern_(std::move(pattern)) {}
AnchoredPattern::~AnchoredPattern() = default;

Result<std::shared_ptr<const AnchoredPattern>> AnchoredPattern::Compile(std::string_view pattern) {
  RETURN_IF_ERROR(NoWait::MayWait());
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemoryMax);
  auto compiled = std::make_unique<re2::RE2>(Piece(pattern), options);
  if (!compiled->ok()) {
    return Status::InvalidArgument("the regular expression \"" + std::string(pattern) +
                                   "\" is not valid: " + compiled->error());
  }
  return std::shared_ptr<const AnchoredPattern>(new AnchoredPattern(std::move(compiled)));
}

bool AnchoredPattern::Matches(std::string_view text) const {
  return re2::RE2::FullMatch(Piece(text), *pattern_);
}

Result<std::optional<std::string>> AnchoredPattern::Expand(std::string_view text,
                                                           std::string_view form,
                                                           size_t bytes_max) const {
  std::vector<re2::StringPiece> groups(static_cast<size_t>(pattern_->NumberOfCapturingGroups()) +
                                       1);
  if (!pattern_->Match(Piece(text), 0, text.size(), re2::RE2::ANCHOR_BOTH, groups.data(),
                       static_cast<int>(groups.size()))) {
    return std::optional<std::string>();
  }
  std::string out;
  const auto append = [&](std::string_view piece) -> Status {
    if (piece.size() > bytes_max - out.size())
      return Status::InvalidArgument("longer than " + std::to_string(bytes_max) + " bytes");
    out.append(piece);
    return {};
  };
  while (!form.empty()) {
    const size_t dollar = std::min(form.find('$'), form.size());
    RETURN_IF_ERROR(append(form.substr(0, dollar)));
    form.remove_prefix(dollar);
    if (form.empty()) break;
    form.remove_prefix(1);
    if (form.starts_with('$')) {
      RETURN_IF_ERROR(append("$"));
      form.remove_prefix(1);
      continue;
    }
    const std::string_view name = TakeGroupName(&form);
    if (name.empty()) {
      RETURN_IF_ERROR(append("$"));  // names nothing: stays as it is
      continue;
    }
    size_t number = groups.size();
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size()) {
      const auto& named = pattern_->NamedCapturingGroups();
      const auto found = named.find(std::string(name));
      number = found != named.end() ? static_cast<size_t>(found->second) : groups.size();
    }
    if (number < groups.size())
      RETURN_IF_ERROR(append({groups[number].data(), groups[number].size()}));
  }
  return std::optional<std::string>(std::move(out));
}

}  // namespace hg::query::promql
