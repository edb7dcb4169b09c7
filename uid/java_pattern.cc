#include "uid/java_pattern.h"

#include "storage/base/status.h"
#include "uid/java_dialect.h"

namespace hg::uid {
namespace {

// The cost of compiling a byte of a pattern, in steps.
constexpr uint64_t kStepsPerPatternByte = 64;

}  // namespace

Result<std::shared_ptr<const JavaPattern>> JavaPattern::Compile(std::string_view pattern,
                                                                RequestContext& context) {
  constexpr size_t kShownBytesMax = 1024;
  constexpr size_t kBytesMax = WatchedRegex::kPatternBytesMax;
  std::string shown = Shortened(pattern, kShownBytesMax);
  const std::string named = "Bad regular expression '" + shown + "'";
  if (pattern.size() > kBytesMax) {
    return Status::InvalidArgument(named + ": it has " + std::to_string(pattern.size()) +
                                   " bytes, at most " + std::to_string(kBytesMax) + " are allowed");
  }
  RETURN_IF_ERROR(context.Step(kStepsPerPatternByte * (1 + pattern.size())));
  Result<PcrePattern> translated = FromJava(pattern);
  if (!translated.ok()) return Prepend(translated.status(), named);
  uint32_t options = WatchedRegex::kUtf8;
  if (translated->unicode_classes) options |= WatchedRegex::kUnicodeClasses;
  auto regex = WatchedRegex::Compile(std::move(translated->text), options, std::move(shown));
  if (!regex.ok()) return Prepend(regex.status(), named);
  RETURN_IF_ERROR(context.Charge(static_cast<int64_t>((*regex)->bytes())));
  return std::shared_ptr<const JavaPattern>(new JavaPattern(std::move(*regex)));
}

Result<bool> JavaPattern::Search(std::string_view text, RequestContext& context) const {
  return regex_->Search(text, context);
}

bool JavaPattern::Search(std::string_view text) const {
  const Result<bool> found = Search(text, RequestContext::Unlimited());
  return found.ok() && *found;
}

std::optional<std::string> JavaPattern::Group(std::string_view text, int group) const {
  if (group < 0) return {};
  WatchedRegex::Finder finder(*regex_, text, 1, RequestContext::Unlimited());
  const Result<WatchedRegex::Groups> groups = finder.Next(0);
  const size_t index = static_cast<size_t>(group) + 1;
  if (!groups.ok() || index >= groups->size() || !(*groups)[index]) return {};
  const WatchedRegex::Span span = *(*groups)[index];
  return std::string(text.substr(span.begin, span.end - span.begin));
}

int JavaPattern::group_count() const { return static_cast<int>(regex_->group_count()); }

Result<std::vector<std::string>> JavaPattern::Split(std::string_view text,
                                                    RequestContext& context) const {
  WatchedRegex::Finder finder(*regex_, text, text.size(), context);
  std::vector<std::string> pieces;
  size_t piece = 0;
  for (size_t at = 0; at < text.size();) {
    // Before each match, PCRE2 checks that the rest of the text is valid UTF-8.
    constexpr size_t kBytesPerStep = 16;
    RETURN_IF_ERROR(context.Step(1 + (text.size() - at) / kBytesPerStep));
    const Result<WatchedRegex::Groups> groups = finder.Next(at);
    // A match that takes too much work counts as no match, unless the request has ended.
    if (!groups.ok()) RETURN_IF_ERROR(context.Check());
    if (!groups.ok() || groups->empty()) break;
    const auto [begin, end] = *groups->front();
    // An empty match splits before a character, but not before the first one.
    if (begin < end || (begin > 0 && begin < text.size())) {
      pieces.emplace_back(text.substr(piece, begin - piece));
      piece = end;
    }
    at = end;
    if (begin < end) continue;
    do ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  if (pieces.empty()) return std::vector<std::string>{std::string(text)};
  pieces.emplace_back(text.substr(piece));
  while (!pieces.empty() && pieces.back().empty()) pieces.pop_back();
  return pieces;
}

}  // namespace hg::uid
