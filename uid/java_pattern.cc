#include "uid/java_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <utility>

#include "uid/java_dialect.h"

namespace hg::uid {
namespace {

// Steps of one match: far beyond what a sane pattern needs on a name, reached in milliseconds.
constexpr uint32_t kMatchLimit = 1'000'000;
constexpr uint32_t kHeapLimitKib = 32 << 10;

using MatchData = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;

}  // namespace

struct JavaPattern::Impl {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = nullptr;

  ~Impl() {
    pcre2_code_free(code);
    pcre2_match_context_free(context);
  }
  [[nodiscard]] MatchData NewMatch() const {
    return {pcre2_match_data_create_from_pattern(code, nullptr), pcre2_match_data_free};
  }
  [[nodiscard]] bool Match(std::string_view text, size_t from, const MatchData& match) const {
    const auto run = [&](uint32_t options) {
      return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                         options, match.get(), context);
    };
    const int found = run(0);
    // Compiled, a match has 32 KiB of stack; interpreted, memory of its own.
    return (found == PCRE2_ERROR_JIT_STACKLIMIT ? run(PCRE2_NO_JIT) : found) > 0;
  }
};

JavaPattern::JavaPattern(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JavaPattern::~JavaPattern() = default;

Result<std::shared_ptr<const JavaPattern>> JavaPattern::Compile(std::string_view pattern) {
  const std::string named = "Bad regular expression '" + std::string(pattern) + "'";
  const Result<PcrePattern> translated = FromJava(pattern);
  if (!translated.ok()) return Prepend(translated.status(), named);
  auto impl = std::make_unique<Impl>();
  int error = 0;
  PCRE2_SIZE offset = 0;
  const uint32_t options = PCRE2_UTF | (translated->unicode_classes ? PCRE2_UCP : 0);
  impl->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated->text.data()),
                             translated->text.size(), options, &error, &offset, nullptr);
  if (impl->code == nullptr) {
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(error, text, sizeof(text));
    return Status::InvalidArgument(named + ": " + reinterpret_cast<const char*>(text));
  }
  pcre2_jit_compile(impl->code, PCRE2_JIT_COMPLETE);  // without JIT the interpreter serves
  impl->context = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(impl->context, kMatchLimit);
  pcre2_set_heap_limit(impl->context, kHeapLimitKib);
  return std::shared_ptr<const JavaPattern>(new JavaPattern(std::move(impl)));
}

bool JavaPattern::Search(std::string_view text) const {
  return impl_->Match(text, 0, impl_->NewMatch());
}

std::optional<std::string> JavaPattern::Group(std::string_view text, int group) const {
  const MatchData match = impl_->NewMatch();
  if (group < 0 || !impl_->Match(text, 0, match)) return {};
  const auto index = static_cast<uint32_t>(group) + 1;
  if (index >= pcre2_get_ovector_count(match.get())) return {};
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
  const size_t begin = bounds[2 * index];
  if (begin == PCRE2_UNSET) return {};
  return std::string(text.substr(begin, bounds[2 * index + 1] - begin));
}

int JavaPattern::group_count() const {
  return static_cast<int>(pcre2_get_ovector_count(impl_->NewMatch().get())) - 1;
}

std::vector<std::string> JavaPattern::Split(std::string_view text) const {
  const MatchData match = impl_->NewMatch();
  std::vector<std::string> pieces;
  size_t piece = 0;
  for (size_t at = 0; at < text.size() && impl_->Match(text, at, match);) {
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
    const size_t begin = bounds[0];
    const size_t end = bounds[1];
    // A match of nothing cuts before a character, but not before the first one.
    if (begin < end || (begin > 0 && begin < text.size())) {
      pieces.emplace_back(text.substr(piece, begin - piece));
      piece = end;
    }
    at = end;
    if (begin < end) continue;
    do ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  if (pieces.empty()) return {std::string(text)};
  pieces.emplace_back(text.substr(piece));
  while (!pieces.empty() && pieces.back().empty()) pieces.pop_back();
  return pieces;
}

}  // namespace hg::uid
