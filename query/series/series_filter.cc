#include "query/series/series_filter.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "storage/base/checked_sort.h"
#include "storage/codec/row_key.h"

namespace hg::query {
namespace {

/// A filter whose key is resolved to a UID. If the filter's list of literals is short, the literals
/// are resolved, too.
struct Resolved {
  std::shared_ptr<const TagFilter> filter;
  Bytes tagk;
  std::vector<Bytes> values;  // empty = decided by name
  bool by_name = true;
};

Result<Resolved> ResolveOne(const std::shared_ptr<const TagFilter>& filter, const Options& options,
                            NameMemo* names) {
  Resolved out;
  out.filter = filter;
  if (filter->kind() == FilterKind::kLiteralOr &&
      filter->literals().size() <= options.filter_expansion_limit) {
    constexpr uint64_t kStepsPerName = 64;
    RETURN_IF_ERROR(names->context().Step(kStepsPerName * filter->literals().size()));
    for (const std::string_view literal : filter->literals()) {
      Result<Bytes> id = names->Find(UidKind::kTagv, literal);
      if (id.ok()) {
        out.values.push_back(std::move(*id));
      } else if (id.status().code() != StatusCode::kNotFound || !options.skip_unresolved_tagvs) {
        return id.status();
      }
    }
  }
  ASSIGN_OR_RETURN(out.tagk, names->Find(UidKind::kTagk, filter->spec().tagk));
  return out;
}

/// Resolves only the key of a filter. Used for sub-queries by TSUID: their filters compare names,
/// and an unknown key means that no series has it (recorded).
Result<Resolved> ByName(const std::shared_ptr<const TagFilter>& filter, NameMemo* names) {
  Resolved out;
  out.filter = filter;
  Result<Bytes> tagk = names->Find(UidKind::kTagk, filter->spec().tagk);
  if (tagk.ok()) {
    out.tagk = std::move(*tagk);
  } else if (tagk.status().code() != StatusCode::kNotFound) {
    return tagk.status();
  }
  return out;
}

/// The result of OpenTSDB's findGroupBys: the tag keys that a row must have, and the admitted
/// values of each key. nullopt admits all values.
using KeyLiterals = std::map<Bytes, std::optional<std::set<Bytes>>>;

/// Collects the keys and literals of the filters. For the lowest key, the literals of all filters
/// are united. For any other key, only the last filter determines the result (quirk Q6). `filters`
/// must be sorted by key.
KeyLiterals CollectLiterals(std::vector<Resolved>* filters, size_t literals_max,
                            std::vector<Bytes>* group_by) {
  KeyLiterals out;
  size_t literal_count = 0;
  for (size_t begin = 0; begin < filters->size();) {
    size_t end = begin + 1;
    if (begin == 0) {
      while (end < filters->size() && (*filters)[end].tagk == (*filters)[0].tagk) ++end;
    }
    const Bytes& tagk = (*filters)[begin].tagk;
    std::set<Bytes> literals;
    bool groups = false;
    for (size_t i = begin; i < end; ++i) {
      groups = groups || (*filters)[i].filter->spec().group_by;
      literals.insert((*filters)[i].values.begin(), (*filters)[i].values.end());
    }
    if (groups && (group_by->empty() || group_by->back() != tagk)) group_by->push_back(tagk);
    if (literals.empty()) {
      out[tagk] = std::nullopt;
    } else if (literals.size() + literal_count <= literals_max) {
      literal_count += literals.size();
      for (size_t i = begin; i < end; ++i) {
        if (!(*filters)[i].values.empty()) (*filters)[i].by_name = false;
      }
      out[tagk] = std::move(literals);
    }
    begin = end;
  }
  return out;
}

}  // namespace

Result<SeriesFilter> SeriesFilter::Resolve(const ValidSubQuery& query, const Options& options,
                                           const KeyLayout& layout, NameMemo* names) {
  SeriesFilter out(layout, names);
  std::vector<Resolved> filters;
  const bool by_tsuid = !query.tsuids.empty();
  constexpr int64_t kBytesPerFilter = 256;
  for (const auto& filter : query.filters) {
    RETURN_IF_ERROR(names->Hold(kBytesPerFilter));
    Result<Resolved> resolved =
        by_tsuid ? ByName(filter, names) : ResolveOne(filter, options, names);
    RETURN_IF_ERROR(resolved.status());
    filters.push_back(std::move(*resolved));
  }
  std::stable_sort(filters.begin(), filters.end(),
                   [](const Resolved& a, const Resolved& b) { return a.tagk < b.tagk; });
  for (const Resolved& f : filters) {
    if (by_tsuid) break;  // OpenTSDB shows no filter keys for sub-queries by TSUID
    if (out.filtered_keys_.empty() || out.filtered_keys_.back() != f.tagk)
      out.filtered_keys_.push_back(f.tagk);
  }

  if (by_tsuid) {
    out.matcher_.tsuids = query.tsuids;
    auto& tsuids = out.matcher_.tsuids;
    MemoryTally sorting(&names->context());
    RETURN_IF_ERROR(CheckedSort(&tsuids, std::less<>(), &sorting));
    tsuids.erase(std::unique(tsuids.begin(), tsuids.end()), tsuids.end());
  } else {
    KeyLiterals keys = CollectLiterals(&filters, options.filter_expansion_limit, &out.group_by_);
    bool fuzzy = options.fuzzy_filter && query.text.explicit_tags && !filters.empty();
    for (auto& [tagk, values] : keys) {
      TagClause clause;
      clause.tagk = tagk;
      if (values) {
        clause.kind = TagClause::Kind::kOneOf;
        clause.values.assign(values->begin(), values->end());
        if (fuzzy && values->size() > 1) out.one_differs_.push_back({tagk, *values->begin()});
      }
      out.matcher_.clauses.push_back(std::move(clause));
    }
    out.matcher_.exact_tags = query.text.explicit_tags && !filters.empty();
    out.extra_hour_ = fuzzy;
    if (out.one_differs_.size() < 2) out.one_differs_.clear();
  }
  for (Resolved& f : filters) {
    if (!f.by_name || f.filter->matches_all()) continue;
    if (out.checks_.empty() || out.checks_.back().tagk != f.tagk) {
      out.checks_.emplace_back();
      out.checks_.back().tagk = f.tagk;
    }
    Check& check = out.checks_.back();
    // Only a sub-query by TSUID can find a series without the key. Negative filters admit this
    // series.
    const FilterKind kind = f.filter->kind();
    check.admits_missing &=
        kind == FilterKind::kNotLiteralOr || kind == FilterKind::kNotLiteralOrAnyCase;
    check.filters.push_back(std::move(f.filter));
  }
  return out;
}

ByteView SeriesFilter::ValueOf(ByteView tsuid, ByteView tagk) const {
  ByteView found;
  codec::ForEachPair(*layout_, tsuid, [&](ByteView key, ByteView value) {
    if (key == tagk) found = value;
  });
  return found;
}

Result<bool> SeriesFilter::Decide(const Check& check, ByteView value) {
  ASSIGN_OR_RETURN(const std::optional<const Bytes*> name,
                   IfNamed(names_->NameOf(UidKind::kTagv, value)));
  if (!name) return false;
  for (const auto& filter : check.filters) {
    ASSIGN_OR_RETURN(const bool admitted, filter->Matches(**name, names_->context()));
    if (!admitted) return false;
  }
  return true;
}

Result<bool> SeriesFilter::Admits(ByteView tsuid) {
  const uint64_t steps_per_key = 1 + codec::PairsOf(*layout_, tsuid);
  RETURN_IF_ERROR(names_->context().Step(steps_per_key * one_differs_.size()));
  size_t different = 0;
  for (const LowestLiteral& key : one_differs_)
    different += ValueOf(tsuid, key.tagk) != key.lowest ? 1 : 0;
  if (different > 1) return false;
  for (Check& check : checks_) {
    RETURN_IF_ERROR(names_->context().Step(steps_per_key));
    Bytes value(ValueOf(tsuid, check.tagk));
    if (value.empty()) {
      if (check.admits_missing) continue;
      return false;
    }
    auto known = check.verdicts.find(value);
    if (known == check.verdicts.end()) {
      ASSIGN_OR_RETURN(const bool admitted, Decide(check, value));
      constexpr int64_t kVerdictBytes = 96;
      RETURN_IF_ERROR(names_->Hold(kVerdictBytes));
      known = check.verdicts.emplace(std::move(value), admitted).first;
    }
    if (!known->second) return false;
  }
  return true;
}

Result<SeriesFilter> ResolvedFilters::Resolve(const ValidSubQuery& query, const Options& options,
                                              const KeyLayout& layout, NameMemo* names) {
  if (!query.tsuids.empty()) return SeriesFilter::Resolve(query, options, layout, names);
  {
    std::lock_guard lock(mutex_);
    if (of_ != nullptr && of_->filters == query.filters &&
        of_->text.explicit_tags == query.text.explicit_tags)
      return filter_->With(names);
  }
  ASSIGN_OR_RETURN(SeriesFilter resolved, SeriesFilter::Resolve(query, options, layout, names));
  std::lock_guard lock(mutex_);
  if (of_ == nullptr) {
    of_ = &query;
    filter_ = resolved.With(nullptr);
  }
  return resolved;
}

}  // namespace hg::query
