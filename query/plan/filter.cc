#include "query/plan/filter.h"

#include <algorithm>
#include <functional>

#include "storage/base/checked_sort.h"
#include "storage/base/sized_bytes.h"

namespace hg::query {
namespace {

// Maximum number of literals that are parsed on an event loop. Longer lists are parsed on the pool,
// because they take longer.
constexpr size_t kFewLiterals = 64;
// The cost of a filter, and of a part of a filter, in steps; and the number of bytes of text per
// step.
constexpr uint64_t kStepsPerFilter = 4;
constexpr size_t kBytesPerStep = 4;
// The number of literals after which the work is reported to the request.
constexpr size_t kLiteralsPerStep = 1024;

struct NamedKind {
  std::string_view name;
  FilterKind kind;
  bool any_case;
};
constexpr NamedKind kKinds[] = {
    {"literal_or", FilterKind::kLiteralOr, false},
    {"iliteral_or", FilterKind::kLiteralOrAnyCase, true},
    {"not_literal_or", FilterKind::kNotLiteralOr, false},
    {"not_iliteral_or", FilterKind::kNotLiteralOrAnyCase, true},
    {"wildcard", FilterKind::kWildcard, false},
    {"iwildcard", FilterKind::kWildcard, true},
    {"regexp", FilterKind::kRegexp, false},
};

const NamedKind* FindKind(std::string_view name) {
  for (const NamedKind& k : kKinds) {
    if (k.name == name) return &k;
  }
  return nullptr;
}

bool AnyCase(const NamedKind& kind, const FilterSpec& spec) {
  return kind.any_case || spec.ignore_case;
}

// Returns the number of parts of a text. Separators divide the parts.
size_t PartsOf(std::string_view text, char separator) {
  return 1 + static_cast<size_t>(std::count(text.begin(), text.end(), separator));
}

// Splits at bars. Drops empty items at the end, like Java's String.split. The result has views of
// `text`. The memory of the result must already be charged.
Result<std::vector<std::string_view>> SplitBars(std::string_view text, RequestContext& context) {
  std::vector<std::string_view> out;
  out.reserve(PartsOf(text, '|'));
  for (size_t at = 0; at <= text.size();) {
    size_t bar = std::min(text.find('|', at), text.size());
    out.push_back(text.substr(at, bar - at));
    at = bar + 1;
    if (out.size() % kLiteralsPerStep == 0) RETURN_IF_ERROR(context.Step(kLiteralsPerStep));
  }
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

// Appends the literals of the filter, sorted and without repeats.
Status AppendLiterals(const FilterSpec& spec, bool any_case, RequestContext& context, Bytes* out) {
  MemoryTally tally(&context);
  RETURN_IF_ERROR(tally.Add(static_cast<int64_t>(
      spec.filter.size() + PartsOf(spec.filter, '|') * sizeof(std::string_view))));
  const std::string lowered = any_case ? LowerUtf8(spec.filter) : std::string();
  ASSIGN_OR_RETURN(std::vector<std::string_view> literals,
                   SplitBars(any_case ? lowered : spec.filter, context));
  RETURN_IF_ERROR(CheckedSort(&literals, std::less<>(), &tally));
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  for (const std::string_view literal : literals) AppendSized(out, literal);
  return {};
}

}  // namespace

Result<Bytes> FilterIdentity(const FilterSpec& spec, RequestContext& context) {
  Bytes out;
  AppendSized(&out, spec.tagk);
  const NamedKind* kind = FindKind(spec.type);
  out.push_back(kind == nullptr ? '\0' : '\1');
  if (kind == nullptr) {  // an unknown type, which Compile refuses
    AppendSized(&out, spec.type);
    AppendSized(&out, spec.filter);
    out += {spec.group_by ? '\1' : '\0', spec.ignore_case ? '\1' : '\0'};
    return out;
  }
  const bool any_case = AnyCase(*kind, spec);
  out += {static_cast<char>(kind->kind), any_case ? '\1' : '\0'};
  switch (kind->kind) {
    case FilterKind::kWildcard: {
      const Wildcard wildcard(any_case ? LowerUtf8(spec.filter) : spec.filter);
      for (const std::string& part : wildcard.parts()) AppendSized(&out, part);
      break;
    }
    case FilterKind::kRegexp:
      AppendSized(&out, spec.filter);
      break;
    default:
      RETURN_IF_ERROR(AppendLiterals(spec, any_case, context, &out));
  }
  return out;
}

std::string LowerUtf8(std::string_view text) {
  std::string out(text);
  for (size_t i = 0; i < out.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(out[i]);
    if (c >= 'A' && c <= 'Z') {
      out[i] = static_cast<char>(c + 32);
    } else if (c == 0xC3 && i + 1 < out.size()) {
      // For U+00C0…U+00DE, the lower-case letter is 0x20 higher. U+00D7, the multiplication sign,
      // is not a letter.
      unsigned char second = static_cast<unsigned char>(out[++i]);
      if (second >= 0x80 && second <= 0x9E && second != 0x97)
        out[i] = static_cast<char>(second + 0x20);
    }
  }
  return out;
}

Result<std::shared_ptr<const TagFilter>> TagFilter::Compile(const FilterSpec& spec,
                                                            RequestContext& context) {
  const NamedKind* named = FindKind(spec.type);
  if (named == nullptr) {
    return Status::InvalidArgument("Could not find a tag value filter of the type: " + spec.type);
  }
  if (spec.tagk.empty()) return Status::InvalidArgument("Filter must have a tagk");
  if (spec.filter.empty()) return Status::InvalidArgument("Filter cannot be null or empty");
  // Memory of a part: its text, and its entries in vectors and sets.
  const size_t bytes_per_part = named->kind == FilterKind::kWildcard ? 128 : 64;
  const char separator = named->kind == FilterKind::kWildcard ? '*' : '|';
  const size_t parts = named->kind == FilterKind::kRegexp ? 1 : PartsOf(spec.filter, separator);
  RETURN_IF_ERROR(
      context.Step(kStepsPerFilter + spec.filter.size() / kBytesPerStep + kStepsPerFilter * parts));
  RETURN_IF_ERROR(
      context.Charge(static_cast<int64_t>(sizeof(TagFilter) + spec.type.size() + spec.tagk.size() +
                                          2 * spec.filter.size() + parts * bytes_per_part)));
  std::shared_ptr<TagFilter> out(new TagFilter(spec));
  out->kind_ = named->kind;
  out->any_case_ = AnyCase(*named, spec);
  switch (named->kind) {
    case FilterKind::kLiteralOr:
    case FilterKind::kLiteralOrAnyCase:
    case FilterKind::kNotLiteralOr:
    case FilterKind::kNotLiteralOrAnyCase:
      if (spec.filter == "|")
        return Status::InvalidArgument("Filter must contain more than just a pipe");
      if (out->any_case_) out->lowered_ = LowerUtf8(spec.filter);
      RETURN_IF_ERROR(
          out->ReadLiterals(out->any_case_ ? out->lowered_ : out->spec_.filter, context));
      break;
    case FilterKind::kWildcard:
      if (spec.filter.find('*') == std::string::npos) {
        return Status::InvalidArgument("Filter must contain an asterisk: " + spec.filter);
      }
      out->matches_all_ = spec.filter.find_first_not_of('*') == std::string::npos;
      out->wildcard_.emplace(out->any_case_ ? LowerUtf8(spec.filter) : spec.filter);
      break;
    case FilterKind::kRegexp: {
      RETURN_IF_ERROR(context.MayWait());
      ASSIGN_OR_RETURN(out->regexp_, uid::JavaPattern::Compile(spec.filter, context));
      break;
    }
  }
  return std::shared_ptr<const TagFilter>(std::move(out));
}

Status TagFilter::ReadLiterals(std::string_view text, RequestContext& context) {
  ASSIGN_OR_RETURN(literals_, SplitBars(text, context));
  if (literals_.size() > kFewLiterals) RETURN_IF_ERROR(context.MayWait());
  known_.reserve(literals_.size());
  size_t kept = 0;
  for (size_t i = 0; i < literals_.size(); ++i) {
    if (known_.insert(literals_[i]).second) literals_[kept++] = literals_[i];
    if ((i + 1) % kLiteralsPerStep == 0)
      RETURN_IF_ERROR(context.Step(kStepsPerFilter * kLiteralsPerStep));
  }
  literals_.resize(kept);
  return {};
}

Result<bool> TagFilter::Matches(std::string_view value, RequestContext& context) const {
  if (matches_all_) return true;
  const uint64_t more = kind_ == FilterKind::kWildcard ? wildcard_->StepsFor(value) : 0;
  RETURN_IF_ERROR(context.Step(kStepsPerFilter + value.size() / kBytesPerStep + more));
  std::string lowered;
  if (any_case_) {
    lowered = LowerUtf8(value);
    value = lowered;
  }
  switch (kind_) {
    case FilterKind::kLiteralOr:
    case FilterKind::kLiteralOrAnyCase:
      return known_.contains(value);
    case FilterKind::kNotLiteralOr:
    case FilterKind::kNotLiteralOrAnyCase:
      return !known_.contains(value);
    case FilterKind::kWildcard:
      return wildcard_->Matches(value);
    case FilterKind::kRegexp:
      return regexp_->Search(value, context);
  }
  return false;
}

Result<FilterSpec> LegacyFilter(std::string_view key, std::string_view text, bool group_by) {
  FilterSpec out;
  out.tagk = std::string(key);
  out.group_by = group_by;
  if (out.tagk.empty()) return Status::InvalidArgument("The tag key of a filter is empty");
  if (text.empty())
    return Status::InvalidArgument("The filter of tag key '" + out.tagk + "' is empty");
  size_t open = text.find('(');
  if (text == "*") {
    out.type = "wildcard";
    out.filter = "*";
    out.ignore_case = true;
  } else if (open != std::string_view::npos) {
    if (text.back() != ')') {
      return Status::InvalidArgument("Missing ')' at the end of the filter: " + std::string(text));
    }
    out.type = LowerUtf8(text.substr(0, open));
    out.filter = std::string(text.substr(open + 1, text.size() - open - 2));
  } else if (text.find('*') != std::string_view::npos) {
    out.type = "wildcard";
    out.filter = std::string(text);
    out.ignore_case = true;
  } else {
    out.type = "literal_or";
    out.filter = std::string(text);
  }
  return out;
}

}  // namespace hg::query
