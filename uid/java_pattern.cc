#include "uid/java_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "storage/model/utf8.h"
#include "uid/java_dialect.h"

namespace hg::uid {
namespace {

// Each match is tried in up to two ways. A quick match is bounded only by PCRE2's match limit. This
// limit is so low that even the most expensive steps take a few milliseconds together. If a quick
// match reaches the limit, a counted match follows, in which PCRE2 calls OnItem before each item of
// the pattern.

// Maximum cost of a quick match, in steps of a RequestContext.
constexpr uint64_t kQuickSteps = 8 << 20;
// One step of work pays for this many bytes of a pattern whose parts consume no text, such as
// \b\b\b.
constexpr size_t kPatternBytesPerStep = 8;
constexpr uint32_t kQuickHeapKib = 256;
// Limits of counted matches: the maximum number of steps of one call, the steps per item of the
// pattern, and the steps between two reports to the context.
constexpr uint64_t kCountedSteps = 8 << 20;
constexpr uint64_t kStepsPerItem = 16;
constexpr uint64_t kStepsPerReport = 1 << 14;
constexpr uint32_t kCountedHeapKib = 32 << 10;
// Number of matches after which a pattern is compiled to machine code, which pays off only after
// many matches. Large patterns take too long to compile.
constexpr uint32_t kMatchesBeforeJit = 256;
constexpr size_t kJitCodeBytesMax = 8 << 10;
// The cost of compiling a byte of a pattern, in steps.
constexpr uint64_t kStepsPerPatternByte = 64;

using Code = std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)>;
using MatchData = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;
using MatchLimits = std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)>;

Code NoCode() { return {nullptr, pcre2_code_free}; }

PCRE2_SPTR Units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

size_t CodeBytes(const pcre2_code* code, uint32_t what) {
  size_t bytes = 0;
  pcre2_pattern_info(code, what, &bytes);
  return bytes;
}

/// The limits and the cost so far of the matches of one call.
struct Account {
  Account(RequestContext& request, std::string_view of_pattern)
      : context(request), pattern(of_pattern), memory(&request) {}

  Status Report() { return context.Step(std::exchange(unreported, 0)); }

  RequestContext& context;
  const std::string_view pattern;  // in PCRE2's syntax
  MemoryTally memory;              // memory of a counted match
  uint64_t left = kCountedSteps;
  uint64_t unreported = 0;
  size_t at = 0;   // position in the text when the last item was tried
  Status failure;  // error of the context
  bool exhausted = false;
};

/// Returns the bytes that a back reference may compare, or 0 for other items.
size_t ReferenceBytes(const pcre2_callout_block& block, std::string_view pattern) {
  std::string_view item = pattern.substr(block.pattern_position, block.next_item_length);
  if (item.size() < 2 || item[0] != '\\') return 0;
  const bool named = item[1] == 'k' || item[1] == 'g';
  item.remove_prefix(named ? 2 : 1);
  if (item.starts_with('{')) item.remove_prefix(1);
  uint32_t group = 0;
  const bool number =
      std::from_chars(item.data(), item.data() + item.size(), group).ec == std::errc() && group > 0;
  if (!number) return named ? block.subject_length : 0;
  if (group >= block.capture_top) return 0;
  const PCRE2_SIZE begin = block.offset_vector[2 * group], end = block.offset_vector[2 * group + 1];
  return begin == PCRE2_UNSET || end < begin ? 0 : end - begin;
}

/// Called by PCRE2 before each item that it tries. Counts the item and the text that the previous
/// item has passed.
int OnItem(pcre2_callout_block* block, void* data) {
  Account& account = *static_cast<Account*>(data);
  const size_t at = block->current_position;
  const uint64_t steps = kStepsPerItem + (at > account.at ? at - account.at : 0) +
                         ReferenceBytes(*block, account.pattern);
  account.at = at;
  account.unreported += steps;
  account.exhausted = account.left < steps;
  if (account.exhausted) return PCRE2_ERROR_CALLOUT;
  account.left -= steps;
  if (account.unreported < kStepsPerReport) return 0;
  account.failure = account.Report();
  return account.failure.ok() ? 0 : PCRE2_ERROR_CALLOUT;
}

/// Charges memory for a counted match, and allocates it.
void* TakeMemory(size_t bytes, void* data) {
  Account& account = *static_cast<Account*>(data);
  account.failure = account.memory.Add(static_cast<int64_t>(bytes));
  return account.failure.ok() ? std::malloc(bytes) : nullptr;
}
void GiveMemory(void* block, void*) { std::free(block); }

MatchData ChargedMatchData(const pcre2_code* code, Account* account) {
  using General = std::unique_ptr<pcre2_general_context, decltype(&pcre2_general_context_free)>;
  const General memory(pcre2_general_context_create(TakeMemory, GiveMemory, account),
                       pcre2_general_context_free);
  return {memory != nullptr ? pcre2_match_data_create_from_pattern(code, memory.get()) : nullptr,
          pcre2_match_data_free};
}

}  // namespace

struct JavaPattern::Impl {
  std::string shown;       // the pattern for messages
  PcrePattern translated;  // kept to compile it again for counted matches
  Code code = NoCode();
  bool anchored = false;  // a match can start at one position of a text only

  // The following members are created when they are first needed.
  mutable std::atomic<uint32_t> matches{0};
  mutable std::once_flag jit_once, counted_once;
  mutable Code jit = NoCode(), counted = NoCode();

  [[nodiscard]] Code NewCode(uint32_t options, int* error) const {
    PCRE2_SIZE offset = 0;
    options |= PCRE2_UTF | (translated.unicode_classes ? PCRE2_UCP : 0);
    return {pcre2_compile(Units(translated.text), translated.text.size(), options, error, &offset,
                          nullptr),
            pcre2_code_free};
  }

  /// Returns the code for quick matches. Machine code is added to a copy, because other threads may
  /// be using the original.
  const pcre2_code* QuickCode(RequestContext& context) const {
    if (matches.fetch_add(1, std::memory_order_relaxed) < kMatchesBeforeJit) return code.get();
    std::call_once(jit_once, [&] {
      matches.store(kMatchesBeforeJit, std::memory_order_relaxed);
      if (CodeBytes(code.get(), PCRE2_INFO_SIZE) > kJitCodeBytesMax) return;
      Code copy(pcre2_code_copy(code.get()), pcre2_code_free);
      if (copy == nullptr || pcre2_jit_compile(copy.get(), PCRE2_JIT_COMPLETE) != 0) return;
      const size_t bytes =
          CodeBytes(copy.get(), PCRE2_INFO_JITSIZE) + CodeBytes(copy.get(), PCRE2_INFO_SIZE);
      if (context.Charge(static_cast<int64_t>(bytes)).ok()) jit = std::move(copy);
    });
    return jit != nullptr ? jit.get() : code.get();
  }

  const pcre2_code* CountedCode(RequestContext& context) const {
    std::call_once(counted_once, [&] {
      int error = 0;
      Code made = NewCode(PCRE2_AUTO_CALLOUT, &error);
      if (made == nullptr) return;
      const auto bytes = static_cast<int64_t>(CodeBytes(made.get(), PCRE2_INFO_SIZE));
      if (context.Charge(bytes).ok()) counted = std::move(made);
    });
    return counted.get();
  }

  [[nodiscard]] Status TooMuch(std::string_view text) const {
    return Status::LimitExceeded("The regular expression '" + shown +
                                 "' takes too many steps to match the text '" +
                                 Shortened(text, 100) + "' (" + std::to_string(text.size()) +
                                 " bytes): please simplify it, or use another type of filter");
  }

  /// Returns whether the pattern matches at or after `from`. `match` gets the positions of the
  /// match; `account` must outlive it. `matches_max` is the number of quick matches that together
  /// may cost as much as one.
  Result<bool> Match(std::string_view text, size_t from, size_t matches_max, Account* account,
                     MatchData* match) const {
    const auto run = [&](const pcre2_code* with, MatchLimits& limits) {
      return pcre2_match(with, Units(text), text.size(), from, 0, match->get(), limits.get());
    };
    const auto no_memory = [] { return Status::Busy("Out of memory in a regular expression"); };
    MatchLimits limits(pcre2_match_context_create(nullptr), pcre2_match_context_free);
    *match = {pcre2_match_data_create_from_pattern(code.get(), nullptr), pcre2_match_data_free};
    if (limits == nullptr || *match == nullptr) return no_memory();
    // PCRE2's limit applies to each position at which a match may start. Each of its steps may read
    // all of the text and pass all of the pattern.
    const uint64_t starts = anchored ? 1 : text.size() - from + 1;
    const uint64_t per_step = 1 + text.size() + translated.text.size() / kPatternBytesPerStep;
    const uint64_t limit = kQuickSteps / matches_max / starts / per_step;
    int found = PCRE2_ERROR_MATCHLIMIT;
    if (limit > 0) {
      pcre2_set_match_limit(limits.get(), static_cast<uint32_t>(limit));
      pcre2_set_heap_limit(limits.get(), kQuickHeapKib);
      found = run(QuickCode(account->context), limits);
    }
    if (found > 0 || found == PCRE2_ERROR_NOMATCH) return found > 0;

    const pcre2_code* const with = CountedCode(account->context);
    if (with == nullptr) return TooMuch(text);
    account->at = from;
    *match = ChargedMatchData(with, account);
    if (*match != nullptr) {
      pcre2_set_match_limit(limits.get(), UINT32_MAX);
      pcre2_set_heap_limit(limits.get(), kCountedHeapKib);
      pcre2_set_callout(limits.get(), OnItem, account);
      found = run(with, limits);
    }
    RETURN_IF_ERROR(account->failure);
    RETURN_IF_ERROR(account->Report());
    if (*match == nullptr || found == PCRE2_ERROR_NOMEMORY) return no_memory();
    if (found < 0 && found != PCRE2_ERROR_NOMATCH) return TooMuch(text);
    return found > 0;
  }
};

JavaPattern::JavaPattern(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JavaPattern::~JavaPattern() = default;

Result<std::shared_ptr<const JavaPattern>> JavaPattern::Compile(std::string_view pattern,
                                                                RequestContext& context) {
  constexpr size_t kShownBytesMax = 1024;
  const std::string named = "Bad regular expression '" + Shortened(pattern, kShownBytesMax) + "'";
  if (pattern.size() > kBytesMax) {
    return Status::InvalidArgument(named + ": it has " + std::to_string(pattern.size()) +
                                   " bytes, at most " + std::to_string(kBytesMax) + " are allowed");
  }
  RETURN_IF_ERROR(context.Step(kStepsPerPatternByte * (1 + pattern.size())));
  Result<PcrePattern> translated = FromJava(pattern);
  if (!translated.ok()) return Prepend(translated.status(), named);
  auto impl = std::make_unique<Impl>();
  impl->shown = Shortened(pattern, kShownBytesMax);
  impl->translated = std::move(*translated);
  int error = 0;
  impl->code = impl->NewCode(0, &error);
  if (impl->code == nullptr) {
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(error, text, sizeof(text));
    return Status::InvalidArgument(named + ": " + reinterpret_cast<const char*>(text));
  }
  uint32_t options = 0;
  pcre2_pattern_info(impl->code.get(), PCRE2_INFO_ALLOPTIONS, &options);
  impl->anchored = (options & PCRE2_ANCHORED) != 0;
  const size_t bytes = sizeof(Impl) + impl->shown.size() + impl->translated.text.size() +
                       CodeBytes(impl->code.get(), PCRE2_INFO_SIZE);
  RETURN_IF_ERROR(context.Charge(static_cast<int64_t>(bytes)));
  return std::shared_ptr<const JavaPattern>(new JavaPattern(std::move(impl)));
}

Result<bool> JavaPattern::Search(std::string_view text, RequestContext& context) const {
  // PCRE2 does not report the cost of a quick match, so the elapsed time is used: one step per
  // nanosecond.
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  Account account(context, impl_->translated.text);
  MatchData match(nullptr, pcre2_match_data_free);
  ASSIGN_OR_RETURN(const bool found, impl_->Match(text, 0, 1, &account, &match));
  if (account.left < kCountedSteps) return found;  // a counted match has reported its steps already
  const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begun);
  RETURN_IF_ERROR(context.Step(1 + text.size() + static_cast<uint64_t>(spent.count())));
  return found;
}

bool JavaPattern::Search(std::string_view text) const {
  const Result<bool> found = Search(text, RequestContext::Unlimited());
  return found.ok() && *found;
}

std::optional<std::string> JavaPattern::Group(std::string_view text, int group) const {
  Account account(RequestContext::Unlimited(), impl_->translated.text);
  MatchData match(nullptr, pcre2_match_data_free);
  if (group < 0) return {};
  const Result<bool> found = impl_->Match(text, 0, 1, &account, &match);
  if (!found.ok() || !*found) return {};
  const auto index = static_cast<uint32_t>(group) + 1;
  if (index >= pcre2_get_ovector_count(match.get())) return {};
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
  const size_t begin = bounds[2 * index];
  if (begin == PCRE2_UNSET) return {};
  return std::string(text.substr(begin, bounds[2 * index + 1] - begin));
}

int JavaPattern::group_count() const {
  uint32_t count = 0;
  pcre2_pattern_info(impl_->code.get(), PCRE2_INFO_CAPTURECOUNT, &count);
  return static_cast<int>(count);
}

Result<std::vector<std::string>> JavaPattern::Split(std::string_view text,
                                                    RequestContext& context) const {
  Account account(context, impl_->translated.text);
  MatchData match(nullptr, pcre2_match_data_free);
  std::vector<std::string> pieces;
  size_t piece = 0;
  for (size_t at = 0; at < text.size();) {
    // Each match checks the rest of the text first.
    constexpr size_t kBytesPerStep = 16;
    RETURN_IF_ERROR(context.Step(1 + (text.size() - at) / kBytesPerStep));
    const Result<bool> found = impl_->Match(text, at, text.size(), &account, &match);
    // A match that takes too much work counts as no match, unless the request has ended.
    if (!found.ok()) RETURN_IF_ERROR(context.Check());
    if (!found.ok() || !*found) break;
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
    const size_t begin = bounds[0];
    const size_t end = bounds[1];
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
