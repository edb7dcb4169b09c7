#include "query/promql/label_selector.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "storage/codec/row_key.h"

namespace hg::query {

using promql::Matcher;
using promql::MatchKind;

namespace {

/// Returns whether the values that the matcher lists can be found by lookups.
bool IsLookedUp(const Matcher& matcher) {
  const auto choices = matcher.Choices();
  if (matcher.kind == MatchKind::kEqual) return true;
  return !choices.empty() && std::none_of(choices.begin(), choices.end(), MayBeHalfEscaped);
}

}  // namespace

Result<LabelSelector> LabelSelector::Resolve(const promql::Matchers& matchers, Points& points,
                                             LabelNames* names, RequestContext* watch) {
  LabelSelector selector(names, watch);
  constexpr uint64_t kStepsPerMatcher = 256;
  constexpr int64_t kBytesPerMatcher = 512;  // a clause or a Check
  for (const Matcher& matcher : matchers) {
    RETURN_IF_ERROR(watch->Step(kStepsPerMatcher));
    RETURN_IF_ERROR(selector.memory_->Add(kBytesPerMatcher));
    if (matcher.label != promql::kNameLabel) RETURN_IF_ERROR(selector.Add(matcher));
  }
  selector.MergeClauses();
  if (!selector.nothing_) RETURN_IF_ERROR(selector.FindMetrics(matchers, points));
  return selector;
}

Status LabelSelector::Add(const Matcher& matcher) {
  ASSIGN_OR_RETURN(std::vector<Bytes> tagks, names_->IdsOf(UidKind::kTagk, matcher.label));
  ASSIGN_OR_RETURN(const bool admits_absent, matcher.Admits("", *watch_));
  if (tagks.empty()) {
    nothing_ |= !admits_absent;
    return {};
  }
  const bool of_default_tag =
      matcher.label == names_->TextOfName(UidKind::kTagk, names_->naming().default_tag_key);
  if (tagks.size() == 1 && !of_default_tag) {
    TagClause clause{tagks[0], TagClause::Kind::kAny, {}};
    const bool empty = matcher.value.empty();
    const bool named = IsLookedUp(matcher) && !admits_absent;
    if (named) {
      clause.kind = TagClause::Kind::kOneOf;
      ASSIGN_OR_RETURN(clause.values, names_->IdsOfAll(UidKind::kTagv, matcher.Choices(), watch_));
      nothing_ |= clause.values.empty();
      for (const Bytes& value : clause.values)
        RETURN_IF_ERROR(memory_->Add(static_cast<int64_t>(sizeof(Bytes) + value.size())));
    } else if (matcher.kind == MatchKind::kEqual) {
      clause.kind = TagClause::Kind::kAbsent;
    }
    const bool all = named || matcher.kind == MatchKind::kEqual ||
                     (matcher.kind == MatchKind::kNotEqual && empty);
    if (all || !admits_absent) matcher_.clauses.push_back(std::move(clause));
    if (all) return {};
  }
  // Matchers with equal labels have equal tag keys, so they share one check.
  const auto [number, fresh] = check_of_.try_emplace(matcher.label, checks_.size());
  if (fresh) checks_.push_back({{}, std::move(tagks), of_default_tag, {}});
  checks_[number->second].matchers.push_back(&matcher);
  return {};
}

void LabelSelector::MergeClauses() {
  auto& clauses = matcher_.clauses;
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const TagClause& a, const TagClause& b) { return a.tagk < b.tagk; });
  std::vector<TagClause> merged;
  for (TagClause& clause : clauses) {
    if (merged.empty() || merged.back().tagk != clause.tagk) {
      merged.push_back(std::move(clause));
      continue;
    }
    using Kind = TagClause::Kind;
    TagClause& into = merged.back();
    nothing_ |= (into.kind == Kind::kAbsent) != (clause.kind == Kind::kAbsent);
    if (into.kind == Kind::kOneOf && clause.kind == Kind::kOneOf) {
      std::erase_if(into.values, [&](const Bytes& value) {
        return !std::binary_search(clause.values.begin(), clause.values.end(), value);
      });
      nothing_ |= into.values.empty();
    } else if (into.kind == Kind::kAny) {
      into = std::move(clause);
    }
  }
  clauses = std::move(merged);
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
    return HideRenamed();
  }
  std::set<Bytes> ids;
  Status failed;
  const auto width = static_cast<size_t>(names_->layout().metric_width);
  constexpr uint64_t kStepsPerSeries = 8;
  constexpr int64_t kBytesPerMetric = 96;
  const auto take = [&](ByteView tsuid) -> Status {
    RETURN_IF_ERROR(watch_->Step(kStepsPerSeries));
    if (!ids.emplace(tsuid.substr(0, width)).second) return {};
    return memory_->Add(kBytesPerMetric);
  };
  RETURN_IF_ERROR(points.ListSeries({}, matcher_, watch_, [&](ByteView tsuid) {
    failed = take(tsuid);
    return failed.ok();
  }));
  RETURN_IF_ERROR(failed);
  for (const Bytes& id : ids) RETURN_IF_ERROR(AddMetric(id, conditions));
  return HideRenamed();
}

Status LabelSelector::HideRenamed() {
  if (!names_->naming().underscored_metrics) return {};
  std::set<std::string_view> exact;
  for (const auto& [id, shown] : metrics_) {
    ASSIGN_OR_RETURN(const std::string sent, names_->SentText(UidKind::kMetric, id));
    if (sent == shown) exact.insert(shown);
  }
  for (auto at = metrics_.begin(); at != metrics_.end();) {
    ASSIGN_OR_RETURN(const std::string sent, names_->SentText(UidKind::kMetric, at->first));
    const bool hidden = sent != at->second && exact.contains(at->second);
    at = hidden ? metrics_.erase(at) : std::next(at);
  }
  return {};
}

Status LabelSelector::AddMetric(ByteView id, const std::vector<const Matcher*>& conditions) {
  ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                   IfNamed(names_->SentText(UidKind::kMetric, id)));
  if (!stored) return {};
  const std::string& sent = *stored;
  const std::string shown = names_->Shown(UidKind::kMetric, sent);
  for (const Matcher* condition : conditions) {
    ASSIGN_OR_RETURN(bool admitted, condition->Admits(sent, *watch_));
    // A matcher may give the stored or the shown name of the metric. A negative matcher excludes a
    // metric if it excludes one of the names.
    const bool negative =
        condition->kind == MatchKind::kNotEqual || condition->kind == MatchKind::kMatchesNot;
    if (shown != sent && admitted == negative) {
      ASSIGN_OR_RETURN(admitted, condition->Admits(shown, *watch_));
    }
    if (!admitted) return {};
  }
  constexpr size_t kEntryBytes = 128;
  RETURN_IF_ERROR(memory_->Add(static_cast<int64_t>(kEntryBytes + shown.size())));
  metrics_.emplace(id, shown);
  return {};
}

Result<bool> LabelSelector::Decide(const Check& check, ByteView value) {
  std::string text;
  if (!value.empty()) {
    ASSIGN_OR_RETURN(std::optional<std::string> found,
                     IfNamed(names_->TextOf(UidKind::kTagv, value)));
    if (!found) return false;
    text = *std::move(found);
  }
  for (const Matcher* matcher : check.matchers) {
    ASSIGN_OR_RETURN(const bool admitted, matcher->Admits(text, *watch_));
    if (!admitted) return false;
  }
  return true;
}

Result<bool> LabelSelector::Admits(ByteView tsuid) {
  const uint64_t steps_per_check = 1 + codec::PairsOf(names_->layout(), tsuid);
  for (Check& check : checks_) {
    RETURN_IF_ERROR(watch_->Step(steps_per_check));
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
      ASSIGN_OR_RETURN(const bool admitted, Decide(check, value));
      constexpr int64_t kVerdictBytes = 96;
      RETURN_IF_ERROR(memory_->Add(kVerdictBytes));
      known = check.verdicts.emplace(value, admitted).first;
    }
    if (!known->second) return false;
  }
  return true;
}

}  // namespace hg::query
