#include "http/api/series_search.h"

#include <algorithm>
#include <map>

namespace hg::http {
namespace {

constexpr uint64_t kStepsPerSeries = 64;

bool HasValue(const SeriesWanted& wanted, const KeyLayout& layout, ByteView tsuid) {
  if (wanted.values.empty()) return true;
  for (size_t at = static_cast<size_t>(layout.metric_width + layout.tagk_width); at < tsuid.size();
       at += static_cast<size_t>(layout.pair_width())) {
    const ByteView value = tsuid.substr(at, static_cast<size_t>(layout.tagv_width));
    if (std::binary_search(wanted.values.begin(), wanted.values.end(), value)) return true;
  }
  return false;
}

}  // namespace

Result<SeriesWanted> ResolveSeries(const std::optional<std::string>& metric,
                                   const std::vector<TagWish>& tags, uid::Names& names,
                                   RequestContext& context) {
  // Maximum memory of a condition for one tag.
  constexpr size_t kConditionBytes = 4 * sizeof(TagClause);
  RETURN_IF_ERROR(context.Charge(static_cast<int64_t>(tags.size() * kConditionBytes)));
  SeriesWanted wanted;
  if (!TagWish::Any(metric) && !metric->empty()) {
    ASSIGN_OR_RETURN(wanted.metric, names.Find(UidKind::kMetric, *metric));
  }
  std::map<Bytes, TagClause> clauses;
  bool says_nothing = false;
  for (const TagWish& wish : tags) {
    // The error for an empty name takes precedence over the error for an unknown name.
    for (const auto& name : {wish.key, wish.value})
      if (!TagWish::Any(name) && name->empty()) return Status::InvalidArgument("Missing UID name");
  }
  for (const TagWish& wish : tags) {
    RETURN_IF_ERROR(context.Step(2 * kStepsPerName));
    const bool any_key = TagWish::Any(wish.key), any_value = TagWish::Any(wish.value);
    if (any_key && any_value) {
      says_nothing = true;  // an error, but unknown names are reported first
      continue;
    }
    Bytes key, value;
    if (!any_key) {
      ASSIGN_OR_RETURN(key, names.Find(UidKind::kTagk, *wish.key));
    }
    if (!any_value) {
      ASSIGN_OR_RETURN(value, names.Find(UidKind::kTagv, *wish.value));
    }
    if (any_key) {
      wanted.values.push_back(std::move(value));
      continue;
    }
    auto [it, fresh] = clauses.try_emplace(key);
    TagClause& clause = it->second;
    if (fresh) clause = {key, TagClause::Kind::kOneOf, {}};
    if (any_value) {
      clause.kind = TagClause::Kind::kAny;
      clause.values.clear();
    } else if (clause.kind == TagClause::Kind::kOneOf) {
      clause.values.push_back(std::move(value));
    }
  }
  if (says_nothing)
    return Status::InvalidArgument("Both the key and the value of a tag are wildcards");
  // OpenTSDB uses the values that have a wildcard as key only if the request names no key.
  if (!clauses.empty()) wanted.values.clear();
  std::sort(wanted.values.begin(), wanted.values.end());
  for (auto& [key, clause] : clauses) {
    std::sort(clause.values.begin(), clause.values.end());
    clause.values.erase(std::unique(clause.values.begin(), clause.values.end()),
                        clause.values.end());
    wanted.matcher.clauses.push_back(std::move(clause));
  }
  return wanted;
}

Status VisitSeries(const SeriesWanted& wanted, Points& points,
                   const std::function<Result<bool>(ByteView tsuid)>& visit,
                   RequestContext& context) {
  const KeyLayout& layout = points.layout();
  Status failure;
  RETURN_IF_ERROR(points.ListSeries(wanted.metric, wanted.matcher, &context, [&](ByteView tsuid) {
    failure = context.Step(kStepsPerSeries);
    if (!failure.ok()) return false;
    if (!HasValue(wanted, layout, tsuid)) return true;
    const Result<bool> more = visit(tsuid);
    failure = more.status();
    return more.ok() && *more;
  }));
  return failure;
}

}  // namespace hg::http
