#include "query/label_selector.h"

#include <algorithm>
#include <set>
#include <utility>

#include "storage/codec/row_key.h"

namespace hg::query {

using promql::Matcher;
using promql::MatchKind;

namespace {

/// Whether what the matcher lists is found by looking it up.
bool IsLookedUp(const Matcher& matcher) {
  const auto choices = matcher.Choices();
  if (matcher.kind == MatchKind::kEqual) return true;
  return !choices.empty() && std::none_of(choices.begin(), choices.end(), MayBeHalfEscaped);
}

}  // namespace

Result<LabelSelector> LabelSelector::Resolve(const promql::Matchers& matchers, Points& points,
                                             LabelNames* names, WorkWatch* watch) {
  LabelSelector selector(names, watch);
  for (const Matcher& matcher : matchers) {
    if (matcher.label != promql::kNameLabel) RETURN_IF_ERROR(selector.Add(matcher));
  }
  auto& clauses = selector.matcher_.clauses;
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const TagClause& a, const TagClause& b) { return a.tagk < b.tagk; });
  if (!selector.nothing_) RETURN_IF_ERROR(selector.FindMetrics(matchers, points));
  return selector;
}

Status LabelSelector::Add(const Matcher& matcher) {
  ASSIGN_OR_RETURN(std::vector<Bytes> tagks, names_->IdsOf(UidKind::kTagk, matcher.label));
  const bool admits_absent = matcher.Admits("");
  if (tagks.empty()) {
    nothing_ |= !admits_absent;
    return {};
  }
  const bool of_default_tag = matcher.label == UnescapedName(names_->naming().default_tag_key);
  if (tagks.size() == 1 && !of_default_tag) {
    TagClause clause{tagks[0], TagClause::Kind::kAny, {}};
    const bool empty = matcher.value.empty();
    const bool named = IsLookedUp(matcher) && !admits_absent;
    if (named) {
      clause.kind = TagClause::Kind::kOneOf;
      ASSIGN_OR_RETURN(clause.values, names_->IdsOfAll(UidKind::kTagv, matcher.Choices(), watch_));
      nothing_ |= clause.values.empty();
    } else if (matcher.kind == MatchKind::kEqual) {
      clause.kind = TagClause::Kind::kAbsent;
    }
    const bool all = named || matcher.kind == MatchKind::kEqual ||
                     (matcher.kind == MatchKind::kNotEqual && empty);
    if (all || !admits_absent) matcher_.clauses.push_back(std::move(clause));
    if (all) return {};
  }
  checks_.push_back({&matcher, std::move(tagks), of_default_tag, {}});
  return {};
}

Status LabelSelector::FindMetrics(const promql::Matchers& matchers, Points& points) {
  std::vector<const Matcher*> conditions;
  for (const Matcher& matcher : matchers) {
    if (matcher.label == promql::kNameLabel) conditions.push_back(&matcher);
  }
  for (const Matcher* condition : conditions) {
    if (!IsLookedUp(*condition)) continue;
    ASSIGN_OR_RETURN(const std::vector<Bytes> ids,
                     names_->IdsOfAll(UidKind::kMetric, condition->Choices(), watch_));
    for (const Bytes& id : ids) RETURN_IF_ERROR(AddMetric(id, conditions));
    return {};
  }
  std::set<Bytes> ids;
  Status failed;
  const auto width = static_cast<size_t>(names_->layout().metric_width);
  RETURN_IF_ERROR(points.ListSeries({}, matcher_, [&](ByteView tsuid) {
    failed = watch_->Step(1);
    ids.emplace(tsuid.substr(0, width));
    return failed.ok();
  }));
  RETURN_IF_ERROR(failed);
  for (const Bytes& id : ids) RETURN_IF_ERROR(AddMetric(id, conditions));
  return {};
}

Status LabelSelector::AddMetric(ByteView id, const std::vector<const Matcher*>& conditions) {
  ASSIGN_OR_RETURN(const std::string text, names_->TextOf(UidKind::kMetric, id));
  for (const Matcher* condition : conditions) {
    if (!condition->Admits(text)) return {};
  }
  metrics_.emplace(id, text);
  return {};
}

Result<bool> LabelSelector::Admits(ByteView tsuid) {
  for (Check& check : checks_) {
    ByteView value;
    codec::ForEachPair(names_->layout(), tsuid, [&](ByteView tagk, ByteView tagv) {
      if (std::binary_search(check.tagks.begin(), check.tagks.end(), tagk)) value = tagv;
    });
    if (check.of_default_tag && !value.empty()) {
      ASSIGN_OR_RETURN(const bool untagged, names_->IsUntagged(tsuid));
      if (untagged) value = {};
    }
    auto known = check.verdicts.find(Bytes(value));
    if (known == check.verdicts.end()) {
      std::string text;
      if (!value.empty()) {
        ASSIGN_OR_RETURN(text, names_->TextOf(UidKind::kTagv, value));
      }
      known = check.verdicts.emplace(value, check.matcher->Admits(text)).first;
    }
    if (!known->second) return false;
  }
  return true;
}

}  // namespace hg::query
