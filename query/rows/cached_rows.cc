#include "query/rows/cached_rows.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <new>
#include <utility>

#include "query/buckets/column_values.h"
#include "query/buckets/fill_gaps.h"
#include "storage/base/checked_sort.h"
#include "storage/base/sized_bytes.h"
#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

BucketGrid Unfilled(DownsampleSpec spec, const ScanWindow& window, int64_t start_ms,
                    int64_t end_ms) {
  spec.fill = FillPolicy::kNone;
  return {spec, window, start_ms, end_ms};
}

using Hours = std::vector<std::shared_ptr<const BucketHour>>;

/// Maps the series of an hour to their indices among all series.
class Places {
 public:
  explicit Places(const std::vector<ByteView>& orders) : orders_(orders) {}
  /// Returns the index of `order`. Orders must ascend from call to call.
  size_t Next(ByteView order) {
    if (orders_[at_] != order) {
      const auto rest = orders_.begin() + static_cast<std::ptrdiff_t>(at_);
      at_ = static_cast<size_t>(std::lower_bound(rest, orders_.end(), order) - orders_.begin());
    }
    return at_++;
  }

 private:
  const std::vector<ByteView>& orders_;
  size_t at_ = 0;
};

void Append(const SeriesHour& hour, int64_t base_ms, Series* series) {
  PointColumns& points = series->points;
  for (const uint32_t bucket_ms : hour.bucket_ms) points.time_ms.push_back(base_ms + bucket_ms);
  points.bits.insert(points.bits.end(), hour.bits.begin(), hour.bits.end());
  series->annotations.insert(series->annotations.end(), hour.annotations.begin(),
                             hour.annotations.end());
  if (hour.points == 0) return;
  if (series->raw_points == 0) series->first_point_ms = base_ms + hour.first_ms;
  series->last_point_ms = base_ms + hour.last_ms;
  series->raw_points += hour.points;
}

void Append(Series later, Series* series) {
  PointColumns& points = series->points;
  if (points.time_ms.empty()) {
    points = std::move(later.points);
  } else {
    points.time_ms.insert(points.time_ms.end(), later.points.time_ms.begin(),
                          later.points.time_ms.end());
    points.bits.insert(points.bits.end(), later.points.bits.begin(), later.points.bits.end());
  }
  std::move(later.annotations.begin(), later.annotations.end(),
            std::back_inserter(series->annotations));
  if (later.raw_points == 0) return;
  if (series->raw_points == 0) series->first_point_ms = later.first_point_ms;
  series->last_point_ms = later.last_point_ms;
  series->raw_points += later.raw_points;
}

class CachedHours : public RowSource {
 public:
  CachedHours(SubQueryPlan* plan, Bytes shape, BucketCache::OldHours old)
      : plan_(*plan),
        cache_(*plan->context.cache),
        shape_(std::move(shape)),
        old_(std::move(old)),
        grid_(Unfilled(plan->grid->spec(), plan->window, plan->start_ms, plan->end_ms)) {}

  /// Opens the scan of the rows that are not in the cache.
  Status Open();
  [[nodiscard]] uint64_t RowsExpected() const override {
    return scan_ != nullptr ? scan_->RowsExpected() : 0;
  }
  Status Read(SeriesRead* out) override;
  Status Finish(SeriesRead* out) override;
  [[nodiscard]] std::optional<RowSourceKind> fallback() const override {
    return RowSourceKind::kRawPoints;
  }

 private:
  /// Returns the number of rows in the hours that were found in the cache.
  [[nodiscard]] size_t RowsFound() const;
  /// Puts the old hours that were read into the cache.
  void KeepRead(std::deque<SeriesSet>* sets);
  /// Charges its copies of the hours, and returns the errors of the request context.
  Status KeepHours(std::deque<SeriesSet>* sets);
  /// Prepends the cached hours to the series that were read, then applies the fill policy to all
  /// series.
  Status Join(SeriesRead* out);
  /// Returns Series::order of all series, sorted and without repeats.
  Result<std::vector<ByteView>> OrdersOfJoined(SeriesRead* out) const;
  Status FillAll(SeriesRead* out) const;

  SubQueryPlan& plan_;
  BucketCache& cache_;
  const Bytes shape_;
  BucketCache::OldHours old_;
  const BucketGrid grid_;            // the grid of the sub-query without its fill policy
  std::unique_ptr<PointScan> scan_;  // nullptr = all rows are in the cache
  std::deque<RowRecord> records_;    // parallel to the sets
};

Status CachedHours::Open() {
  RETURN_IF_ERROR(MayReadHere(plan_, RowsFound()));
  PointScanSpec spec = plan_.spec;
  spec.rows.begin += static_cast<uint32_t>(old_.found.size()) * kRowSpan;
  if (spec.rows.begin >= spec.rows.end) return {};
  ASSIGN_OR_RETURN(scan_, plan_.context.points.Scan(spec, plan_.context.options.reconcile));
  return MayReadHere(plan_, *scan_);
}

Status CachedHours::Read(SeriesRead* out) {
  if (scan_ == nullptr) return {};
  const auto add_set = [&](size_t parts) -> SeriesSet& {
    SeriesSet& set = AddSet(&plan_, &grid_, out);
    if (!old_.generations.empty()) {
      const auto end = static_cast<uint32_t>(old_.missing.end);
      set.Record(&records_.emplace_back(end, cache_.rows_max() / parts));
    }
    set.RefuseStrayRows();
    return set;
  };
  return ReadInParts(plan_, std::move(scan_), add_set, out);
}

Status CachedHours::Finish(SeriesRead* out) {
  KeepRead(&out->sets);
  RETURN_IF_ERROR(RowSource::Finish(out));
  return Join(out);
}

size_t CachedHours::RowsFound() const {
  size_t rows = 0;
  for (const auto& hour : old_.found) rows += hour->size();
  return rows;
}

// If memory is exhausted here, or if the request may not use more memory, the hours are not cached,
// but the query does not fail.
void CachedHours::KeepRead(std::deque<SeriesSet>* sets) {
  try {
    (void)KeepHours(sets);
  } catch (const std::bad_alloc&) {
  }
}

Status CachedHours::KeepHours(std::deque<SeriesSet>* sets) {
  const RowRange& rows = old_.missing;
  // If MayWait was refused, the read stopped early, so the hours may lack data and are not cached.
  if (plan_.context.watch.refused()) return {};
  for (const RowRecord& record : records_) {
    if (record.gave_up()) return {};
  }
  struct Read {
    const Series* series;
    const RowRecord::Row* row;
  };
  MemoryTally memory(&plan_.context.watch);
  std::vector<std::vector<Read>> hours(old_.generations.size());
  std::vector<bool> spoiled(hours.size());
  const auto hour_of = [&rows](uint32_t base) { return (base - rows.begin) / kRowSpan; };
  for (size_t k = 0; k < records_.size(); ++k) {
    const RowRecord& record = records_[k];
    RETURN_IF_ERROR(memory.Add(static_cast<int64_t>(2 * sizeof(Read) * record.rows().size())));
    for (const RowRecord::Row& row : record.rows())
      hours[hour_of(row.base)].push_back({&(*sets)[k].series()[row.series], &row});
    for (const uint32_t base : record.spoiled()) {
      if (base < rows.end) spoiled[hour_of(base)] = true;
    }
  }
  const auto by_order = [](const Read& a, const Read& b) {
    return a.series->order < b.series->order;
  };
  // If not all hours fit into the cache, the first ones are kept, because a query looks up its
  // hours in order and stops at the first missing one.
  int64_t room = cache_.share();
  for (const auto& hour : old_.found) room -= BucketCache::BytesOf(*hour);
  std::vector<BucketCache::NewHour> kept;
  for (size_t i = 0; i < hours.size(); ++i) {
    if (spoiled[i]) continue;
    RETURN_IF_ERROR(CheckedSort(&hours[i], by_order, &memory));
    BucketHour hour(rows.begin + static_cast<uint32_t>(i) * kRowSpan);
    for (const auto& [series, row] : hours[i]) {
      SeriesHour part;
      part.order = series->order;
      part.points = row->points;
      part.first_ms = row->first_ms;
      part.last_ms = row->last_ms;
      part.annotations = std::span(series->annotations)
                             .subspan(row->notes_begin, row->notes_end - row->notes_begin);
      hour.Add(part, series->points, row->buckets_begin, row->buckets_end);
    }
    hour.ShrinkToFit();
    const int64_t bytes = BucketCache::BytesOf(hour);
    if ((room -= bytes) < 0) break;
    RETURN_IF_ERROR(memory.Add(bytes));
    kept.push_back({old_.generations[i], std::move(hour)});
  }
  cache_.Keep(shape_, std::move(kept));
  return {};
}

// The fill policy is applied after the cached hours and the hours that the sets have read are
// joined, because gaps may be at the border between both.
Status CachedHours::FillAll(SeriesRead* out) const {
  const auto fill_bytes = static_cast<int64_t>(plan_.grid->fill_grid().size()) * kPointBytes;
  for (Series& s : out->series) {
    s.points.all_double = s.raw_points > 0;
    if (s.raw_points == 0) continue;
    RETURN_IF_ERROR(out->memory.Add(fill_bytes));
    RETURN_IF_ERROR(FillGaps(*plan_.grid, &s.points));
    RETURN_IF_ERROR(plan_.context.watch.Step(s.points.size()));
  }
  return {};
}

Result<std::vector<ByteView>> CachedHours::OrdersOfJoined(SeriesRead* out) const {
  const Hours& hours = old_.found;
  std::vector<ByteView> orders;
  const auto take = [&](size_t series) {
    RETURN_IF_ERROR(out->memory.Add(static_cast<int64_t>(2 * series * sizeof(ByteView))));
    return plan_.context.watch.Step(series);
  };
  for (size_t k = 0; k < hours.size(); ++k) {
    if (k > 0 && hours[k]->HasSeriesOf(*hours[k - 1])) continue;
    RETURN_IF_ERROR(take(hours[k]->size()));
    for (size_t i = 0; i < hours[k]->size(); ++i) orders.push_back(hours[k]->at(i).order);
  }
  RETURN_IF_ERROR(take(out->series.size()));
  for (const Series& s : out->series) orders.push_back(s.order);
  RETURN_IF_ERROR(CheckedSort(&orders, std::less<>(), &out->memory));
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  return orders;
}

// Rows of cached hours count as read, so that statistics do not depend on the cache.
Status CachedHours::Join(SeriesRead* out) {
  const Hours& hours = old_.found;
  if (hours.empty()) return FillAll(out);
  ASSIGN_OR_RETURN(const std::vector<ByteView> orders, OrdersOfJoined(out));
  std::vector<size_t> buckets(orders.size());
  size_t found = 0;
  for (const auto& hour : hours) {
    RETURN_IF_ERROR(plan_.context.watch.Step(hour->size()));
    Places places(orders);
    for (size_t i = 0; i < hour->size(); ++i) {
      const SeriesHour part = hour->at(i);
      buckets[places.Next(part.order)] += part.bits.size();
      found += part.bits.size();
      for (const codec::Annotation& a : part.annotations)
        RETURN_IF_ERROR(out->memory.Add(2 * MemoryBytes(a)));
    }
    out->info.stats.rows_before += hour->size();
    out->info.stats.rows_after += hour->size();
    out->info.stats.points_before += hour->points();
    out->info.stats.points_after += hour->points();
  }
  const size_t of_each = sizeof(Series) + sizeof(ByteView) + sizeof(size_t) +
                         2 * (plan_.spec.metric.size() + (orders.empty() ? 0 : orders[0].size()));
  RETURN_IF_ERROR(out->memory.Add(static_cast<int64_t>(orders.size() * of_each)));
  for (const Series& s : out->series) {
    RETURN_IF_ERROR(out->memory.Add(static_cast<int64_t>(s.points.size()) * kPointBytes));
  }
  RETURN_IF_ERROR(out->memory.Add(static_cast<int64_t>(found) * kPointBytes));
  RETURN_IF_ERROR(plan_.context.watch.Step(found));

  std::vector<Series> joined(orders.size());
  const auto salt = static_cast<size_t>(plan_.layout().salt_width);
  for (size_t i = 0; i < joined.size(); ++i) {
    joined[i].order = orders[i];
    joined[i].tsuid.append(plan_.spec.metric).append(orders[i].substr(salt));
  }
  Places of_read(orders);
  std::vector<size_t> places_of_read;
  for (const Series& s : out->series) {
    places_of_read.push_back(of_read.Next(s.order));
    buckets[places_of_read.back()] += s.points.size();
  }
  for (size_t i = 0; i < joined.size(); ++i) {
    joined[i].points.time_ms.reserve(buckets[i]);
    joined[i].points.bits.reserve(buckets[i]);
  }
  for (const auto& hour : hours) {
    RETURN_IF_ERROR(plan_.context.watch.Step(hour->size()));
    const int64_t base_ms = int64_t{hour->base()} * 1000;
    Places places(orders);
    for (size_t i = 0; i < hour->size(); ++i) {
      const SeriesHour part = hour->at(i);
      Append(part, base_ms, &joined[places.Next(part.order)]);
    }
  }
  for (size_t i = 0; i < out->series.size(); ++i)
    Append(std::move(out->series[i]), &joined[places_of_read[i]]);
  out->series = std::move(joined);
  old_.found.clear();
  return FillAll(out);
}

}  // namespace

// Buckets are cached only if their interval divides an hour, because then whole hours do not depend
// on the query's range. If the store returns row statistics, reading is as fast as the cache.
// Queries with limits do not use the cache, because limits must count the rows that are read.
bool MayCache(const SubQueryPlan& plan) {
  if (plan.context.cache == nullptr || !plan.grid) return false;
  constexpr int64_t kHourMs = int64_t{kRowSpan} * 1000;
  const DownsampleSpec& spec = plan.grid->spec();
  const bool in_hours = !spec.run_all && !spec.calendar && spec.interval_ms() > 0 &&
                        kHourMs % spec.interval_ms() == 0;
  return in_hours && !plan.limited() && !plan.filters_by_name() && !plan.spec.statistics &&
         !plan.sub.histograms && !plan.sub.values && !plan.context.query.request.delete_rows &&
         plan.context.cache->usable();
}

// The key of the cache does not contain the fill policy, because the policy is applied after the
// cached buckets are read.
Bytes CacheShapeOf(const SubQueryPlan& plan) {
  const DownsampleSpec& downsample = plan.grid->spec();
  const SeriesMatcher& matcher = plan.spec.matcher;
  Bytes shape;
  AppendSized(&shape, downsample.function->name);
  AppendBig(&shape, static_cast<uint64_t>(downsample.interval_ms()), 8);
  AppendSized(&shape, plan.spec.metric);
  shape.push_back(matcher.exact_tags ? 1 : 0);
  AppendBig(&shape, matcher.clauses.size(), 4);
  for (const TagClause& clause : matcher.clauses) {
    AppendSized(&shape, clause.tagk);
    shape.push_back(static_cast<char>(clause.kind));
    AppendBig(&shape, clause.values.size(), 4);
    for (const Bytes& value : clause.values) AppendSized(&shape, value);
  }
  for (const Bytes& tsuid : matcher.tsuids) AppendSized(&shape, tsuid);
  return shape;
}

Result<std::unique_ptr<RowSource>> OpenCachedHours(SubQueryPlan* plan) {
  if (!MayCache(*plan)) return std::unique_ptr<RowSource>();
  Bytes shape = CacheShapeOf(*plan);
  BucketCache::OldHours old = plan->context.cache->Find(shape, plan->spec.metric, plan->spec.rows);
  if (old.found.empty() && old.generations.empty()) return std::unique_ptr<RowSource>();
  auto source = std::make_unique<CachedHours>(plan, std::move(shape), std::move(old));
  RETURN_IF_ERROR(source->Open());
  return std::unique_ptr<RowSource>(std::move(source));
}

}  // namespace hg::query
