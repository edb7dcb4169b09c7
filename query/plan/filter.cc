#include "query/plan/filter.h"

#include <algorithm>
#include <set>

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

// Splits at bars. Drops empty items at the end, like Java's String.split.
std::vector<std::string> SplitBars(std::string_view text) {
  std::vector<std::string> out;
  out.reserve(static_cast<size_t>(std::count(text.begin(), text.end(), '|')) + 1);
  for (size_t at = 0; at <= text.size();) {
    size_t bar = std::min(text.find('|', at), text.size());
    out.emplace_back(text.substr(at, bar - at));
    at = bar + 1;
  }
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

Status ReadLiterals(std::string_view text, RequestContext& context,
                    std::vector<std::string>* literals) {
  const std::vector<std::string> items = SplitBars(text);
  if (items.size() > kFewLiterals) RETURN_IF_ERROR(context.MayWait());
  std::set<std::string_view> known;
  for (const std::string& item : items) {
    if (known.insert(item).second) literals->push_back(item);
  }
  return {};
}

std::vector<std::string> LiteralSet(const FilterSpec& spec, bool any_case) {
  std::vector<std::string> out = SplitBars(any_case ? LowerUtf8(spec.filter) : spec.filter);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

Bytes FilterIdentity(const FilterSpec& spec) {
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
      for (const std::string& literal : LiteralSet(spec, any_case)) AppendSized(&out, literal);
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
  constexpr int64_t kBytesPerPart = 128;
  const char separator = named->kind == FilterKind::kWildcard ? '*' : '|';
  const bool in_parts = named->kind != FilterKind::kRegexp;
  const int64_t parts =
      in_parts ? 1 + std::count(spec.filter.begin(), spec.filter.end(), separator) : 1;
  RETURN_IF_ERROR(context.Step(kStepsPerFilter + spec.filter.size() / kBytesPerStep +
                               kStepsPerFilter * static_cast<uint64_t>(parts)));
  RETURN_IF_ERROR(context.Charge(static_cast<int64_t>(sizeof(TagFilter) + spec.type.size() +
                                                      spec.tagk.size() + 2 * spec.filter.size()) +
                                 parts * kBytesPerPart));
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
      RETURN_IF_ERROR(ReadLiterals(out->any_case_ ? LowerUtf8(spec.filter) : spec.filter, context,
                                   &out->literals_));
      out->known_.insert(out->literals_.begin(), out->literals_.end());
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
