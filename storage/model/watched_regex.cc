#include "storage/model/watched_regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "storage/base/status.h"

namespace hg {
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

using Code = std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)>;
using MatchData = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;
using MatchLimits = std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)>;

Code NoCode() { return {nullptr, pcre2_code_free}; }

PCRE2_SPTR Units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

template <typename Number>
Number InfoOf(const pcre2_code* code, uint32_t what) {
  Number number = 0;
  pcre2_pattern_info(code, what, &number);
  return number;
}

size_t CodeBytes(const pcre2_code* code) { return InfoOf<size_t>(code, PCRE2_INFO_SIZE); }

/// The limits and the cost so far of the matches of one call.
struct Account {
  Account(RequestContext& request, std::string_view of_pattern)
      : context(request), pattern(of_pattern), memory(&request) {}

  Status Report() { return context.Step(std::exchange(unreported, 0)); }

  RequestContext& context;
  const std::string_view pattern;
  MemoryTally memory;  // memory of a counted match
  uint64_t left = kCountedSteps;
  uint64_t unreported = 0;
  size_t at = 0;   // position in the text when the last item was tried
  Status failure;  // error of the context
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
  if (account.left < steps) return PCRE2_ERROR_CALLOUT;
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

struct WatchedRegex::Impl {
  std::string pattern;  // kept to compile it again for counted matches
  uint32_t options = 0;
  std::string shown;
  Code code = NoCode();
  bool anchored = false;  // a match can start at one position of a text only

  // The following members are created when they are first needed.
  mutable std::atomic<uint32_t> matches{0};
  mutable std::once_flag jit_once, counted_once;
  mutable Code jit = NoCode(), counted = NoCode();

  [[nodiscard]] Code NewCode(uint32_t more, int* error) const {
    PCRE2_SIZE offset = 0;
    const auto is = [&](Option option, uint32_t bits) { return options & option ? bits : 0; };
    const uint32_t bits = is(kUtf8, PCRE2_UTF) | is(kUnicodeClasses, PCRE2_UCP) |
                          is(kWholeText, PCRE2_ANCHORED | PCRE2_ENDANCHORED) | more;
    return {pcre2_compile(Units(pattern), pattern.size(), bits, error, &offset, nullptr),
            pcre2_code_free};
  }

  /// Returns the code for quick matches. Machine code is added to a copy, because other threads may
  /// be using the original.
  const pcre2_code* QuickCode(RequestContext& context) const {
    if (matches.fetch_add(1, std::memory_order_relaxed) < kMatchesBeforeJit) return code.get();
    std::call_once(jit_once, [&] {
      matches.store(kMatchesBeforeJit, std::memory_order_relaxed);
      if (CodeBytes(code.get()) > kJitCodeBytesMax) return;
      Code copy(pcre2_code_copy(code.get()), pcre2_code_free);
      if (copy == nullptr || pcre2_jit_compile(copy.get(), PCRE2_JIT_COMPLETE) != 0) return;
      const size_t bytes = InfoOf<size_t>(copy.get(), PCRE2_INFO_JITSIZE) + CodeBytes(copy.get());
      if (context.Charge(static_cast<int64_t>(bytes)).ok()) jit = std::move(copy);
    });
    return jit != nullptr ? jit.get() : code.get();
  }

  const pcre2_code* CountedCode(RequestContext& context) const {
    std::call_once(counted_once, [&] {
      int error = 0;
      Code made = NewCode(PCRE2_AUTO_CALLOUT, &error);
      if (made == nullptr) return;
      const auto bytes = static_cast<int64_t>(CodeBytes(made.get()));
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
  /// match; `account` must outlive it. The limit of a quick match is such that `matches_max` quick
  /// matches together cost at most kQuickSteps.
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
    const uint64_t per_step = 1 + text.size() + pattern.size() / kPatternBytesPerStep;
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

WatchedRegex::WatchedRegex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WatchedRegex::~WatchedRegex() = default;

Result<std::unique_ptr<const WatchedRegex>> WatchedRegex::Compile(std::string pattern,
                                                                  uint32_t options,
                                                                  std::string shown) {
  auto impl = std::make_unique<Impl>();
  impl->pattern = std::move(pattern);
  impl->options = options;
  impl->shown = std::move(shown);
  int error = 0;
  impl->code = impl->NewCode(0, &error);
  if (impl->code == nullptr) {
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(error, text, sizeof(text));
    return Status::InvalidArgument(reinterpret_cast<const char*>(text));
  }
  impl->anchored =
      (InfoOf<uint32_t>(impl->code.get(), PCRE2_INFO_ALLOPTIONS) & PCRE2_ANCHORED) != 0;
  return std::unique_ptr<const WatchedRegex>(new WatchedRegex(std::move(impl)));
}

Result<bool> WatchedRegex::Search(std::string_view text, RequestContext& context) const {
  // PCRE2 does not report the cost of a quick match, so the elapsed time is used: one step per
  // nanosecond.
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  Account account(context, impl_->pattern);
  MatchData match(nullptr, pcre2_match_data_free);
  ASSIGN_OR_RETURN(const bool found, impl_->Match(text, 0, 1, &account, &match));
  if (account.left < kCountedSteps) return found;  // a counted match has reported its steps already
  const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begun);
  RETURN_IF_ERROR(context.Step(1 + text.size() + static_cast<uint64_t>(spent.count())));
  return found;
}

size_t WatchedRegex::group_count() const {
  return InfoOf<uint32_t>(impl_->code.get(), PCRE2_INFO_CAPTURECOUNT);
}

size_t WatchedRegex::bytes() const {
  return sizeof(Impl) + impl_->pattern.size() + impl_->shown.size() + CodeBytes(impl_->code.get());
}

struct WatchedRegex::Finder::State {
  const Impl& regex;
  const std::string_view text;
  const size_t calls_max;
  Account account;
};

WatchedRegex::Finder::Finder(const WatchedRegex& regex, std::string_view text, size_t calls_max,
                             RequestContext& context)
    : state_(new State{*regex.impl_, text, calls_max, Account(context, regex.impl_->pattern)}) {}
WatchedRegex::Finder::~Finder() = default;

Result<WatchedRegex::Groups> WatchedRegex::Finder::Next(size_t from) {
  State& state = *state_;
  MatchData match(nullptr, pcre2_match_data_free);
  ASSIGN_OR_RETURN(const bool found,
                   state.regex.Match(state.text, from, state.calls_max, &state.account, &match));
  Groups groups;
  if (!found) return groups;
  const PCRE2_SIZE* const bounds = pcre2_get_ovector_pointer(match.get());
  for (uint32_t i = 0; i < pcre2_get_ovector_count(match.get()); ++i) {
    const bool set = bounds[2 * i] != PCRE2_UNSET;
    groups.push_back(set ? std::optional(Span{bounds[2 * i], bounds[2 * i + 1]}) : std::nullopt);
  }
  return groups;
}

}  // namespace hg
