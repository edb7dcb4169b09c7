#include "query/promql/anchored_pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>
#include <vector>

#include "storage/model/utf8.h"

namespace hg::query::promql {
namespace {

// The cost of compiling a node of a pattern, and of expanding a byte of a replacement, in steps.
constexpr uint64_t kStepsPerNode = 64;
constexpr uint64_t kStepsPerFormByte = 8;
// RE2 limits the memory of the compiled pattern, but not that of the parsed pattern. A parsed
// pattern has a node for each copy of a repetition. A class such as \pL has hundreds of ranges,
// which take as much memory as this many nodes.
constexpr size_t kNodesPerUnicodeClass = 96;
constexpr int64_t kBytesPerNode = 256;
// Limit for the product of the bytes of a text, the instructions of a pattern, and the groups whose
// positions are requested. The limit is needed because RE2 cannot be stopped during a match. If
// RE2's automaton exceeds its memory, RE2 runs each instruction at each byte and may copy the
// positions of all groups each time.
constexpr uint64_t kMatchProductMax = 1 << 23;
// Copying the positions of this many groups takes about as long as an instruction.
constexpr size_t kGroupsPerInstruction = 8;
// Memory per instruction of a compiled program, including the parse tree.
constexpr int64_t kBytesPerInstruction = 48;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Returns whether a backslash before the character makes it literal.
bool IsEscapable(char c) { return static_cast<unsigned char>(c) < 0x80 && !IsWord(c); }

/// Returns the number of copies that a counted repetition ("{3}", "{3,}", "{3,5}") at the front of
/// the text creates, or 0 if there is no repetition. RE2 refuses more than 1000 copies.
size_t CopiesOf(std::string_view text) {
  constexpr size_t kBeyond = 1001;
  size_t most = 0, number = 0;
  for (const char c : text.substr(1)) {
    if (c >= '0' && c <= '9') {
      number = std::min(10 * number + static_cast<size_t>(c - '0'), kBeyond);
    } else if (c == ',' || c == '}') {
      most = std::max(most, std::exchange(number, 0));
      if (c == '}') return most;
    } else {
      return 0;
    }
  }
  return 0;
}

/// Returns an upper limit of the nodes of the parsed pattern.
size_t NodesOf(std::string_view pattern) {
  size_t nodes = pattern.size();
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{') nodes += CopiesOf(pattern.substr(i));
    const bool escape = pattern[i] == '\\' && i + 1 < pattern.size();
    if (escape && (pattern[i + 1] == 'p' || pattern[i + 1] == 'P')) nodes += kNodesPerUnicodeClass;
  }
  return nodes;
}

/// Removes a group around the whole pattern. Dashboards write alternatives in this form.
std::string_view WithoutGroup(std::string_view pattern) {
  if (!pattern.starts_with('(') || !pattern.ends_with(')')) return pattern;
  const size_t head = pattern.starts_with("(?:") ? 3 : 1;
  return pattern.substr(head, pattern.size() - head - 1);
}

/// Removes a group name from the front of `rest`, which follows a '$'. Returns an empty name if
/// there is none.
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

Result<std::shared_ptr<const AnchoredPattern>> AnchoredPattern::Compile(std::string_view pattern,
                                                                        RequestContext& context) {
  RETURN_IF_ERROR(context.MayWait());
  const auto invalid = [&](const std::string& why) {
    return Status::InvalidArgument("the regular expression \"" + std::string(pattern) +
                                   "\" is not valid: " + why);
  };
  const size_t nodes = NodesOf(pattern);
  if (nodes > kPatternNodesMax) return invalid("pattern too large - it has too many repetitions");
  RETURN_IF_ERROR(context.Step(kStepsPerNode * (1 + nodes)));
  MemoryTally parsed(&context);
  RETURN_IF_ERROR(parsed.Add(static_cast<int64_t>(nodes) * kBytesPerNode));
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemoryMax);
  auto compiled = std::make_unique<re2::RE2>(Piece(pattern), options);
  if (!compiled->ok()) return invalid(compiled->error());
  RETURN_IF_ERROR(context.Check());
  // RE2 uses a third of its memory limit for the states that it caches.
  RETURN_IF_ERROR(
      context.Charge(kPatternMemoryMax / 3 + compiled->ProgramSize() * kBytesPerInstruction));
  return std::shared_ptr<const AnchoredPattern>(new AnchoredPattern(std::move(compiled)));
}

Result<bool> AnchoredPattern::Match(std::string_view text, re2::StringPiece* groups, size_t count,
                                    RequestContext& context) const {
  const auto instructions = static_cast<uint64_t>(pattern_->ProgramSize());
  const uint64_t per_byte = instructions * (1 + count / kGroupsPerInstruction);
  if (std::max<size_t>(text.size(), 1) * per_byte > kMatchProductMax) {
    return Status::LimitExceeded(
        "the regular expression \"" + Shortened(pattern_->pattern(), 1024) + "\" has " +
        std::to_string(instructions) + " instructions, too many to match a text of " +
        std::to_string(text.size()) + " bytes" +
        (count > 1 ? " with " + std::to_string(count - 1) + " groups" : "") +
        ": please simplify it");
  }
  // Each state of the automaton may store the positions of all groups.
  MemoryTally places(&context);
  RETURN_IF_ERROR(places.Add(static_cast<int64_t>(instructions * count * 2 * sizeof(void*))));
  // RE2 does not report the cost of a match, so the elapsed time is used: one step per nanosecond.
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  const bool found = pattern_->Match(Piece(text), 0, text.size(), re2::RE2::ANCHOR_BOTH, groups,
                                     static_cast<int>(count));
  const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begun);
  RETURN_IF_ERROR(context.Step(1 + text.size() + static_cast<uint64_t>(spent.count())));
  return found;
}

Result<bool> AnchoredPattern::Matches(std::string_view text, RequestContext& context) const {
  return Match(text, nullptr, 0, context);
}

Result<std::optional<std::string>> AnchoredPattern::Expand(std::string_view text,
                                                           std::string_view form, size_t bytes_max,
                                                           RequestContext& context) const {
  std::vector<re2::StringPiece> groups(static_cast<size_t>(pattern_->NumberOfCapturingGroups()) +
                                       1);
  ASSIGN_OR_RETURN(const bool found, Match(text, groups.data(), groups.size(), context));
  if (!found) return std::optional<std::string>();
  RETURN_IF_ERROR(context.Step(kStepsPerFormByte * form.size()));
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
      RETURN_IF_ERROR(append("$"));  // no group name follows, so "$" is a plain character
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
