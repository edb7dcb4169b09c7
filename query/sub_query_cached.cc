#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "query/column_values.h"
#include "query/fill_gaps.h"
#include "query/sub_query_run.h"
#include "storage/base/no_wait.h"
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
    while (orders_[at_] != order) ++at_;
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

}  // namespace

// Returns whether the sub-query may use the cache. Only buckets of whole hours are cached, because
// they do not depend on the query's range. If the store returns row statistics, reading is as fast
// as the cache. Limits must count the rows that are read, so queries with limits do not use the
// cache.
bool SubQueryRun::MayCache() const {
  if (context_.cache == nullptr || !grid_) return false;
  constexpr int64_t kHourMs = int64_t{kRowSpan} * 1000;
  const DownsampleSpec& spec = grid_->spec();
  const bool in_hours = !spec.run_all && !spec.calendar && spec.interval_ms() > 0 &&
                        kHourMs % spec.interval_ms() == 0;
  const bool limited = limits_.bytes_max > 0 || limits_.cells_max > 0;
  const bool by_scan = !chosen_ && filter_->decides();
  return in_hours && !limited && !by_scan && !spec_.statistics && !sub_.histograms &&
         !sub_.values && !context_.query.request.delete_rows && context_.cache->usable();
}

// Returns the shape of the sub-query. It does not include the fill policy, which is applied after
// the cache.
Bytes SubQueryRun::Shape() const {
  const DownsampleSpec& downsample = grid_->spec();
  const SeriesMatcher& matcher = spec_.matcher;
  Bytes shape;
  AppendSized(&shape, downsample.function->name);
  AppendBig(&shape, static_cast<uint64_t>(downsample.interval_ms()), 8);
  AppendSized(&shape, spec_.metric);
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

void SubQueryRun::FindCached(PointScanSpec* spec) {
  CachedHours cached{Shape(), {}, Unfilled(grid_->spec(), window_, start_ms_, end_ms_), {}};
  cached.old = context_.cache->Find(cached.shape, spec_.metric, spec_.rows);
  if (cached.old.found.empty() && cached.old.generations.empty()) return;
  spec->rows.begin += static_cast<uint32_t>(cached.old.found.size()) * kRowSpan;
  cached_.emplace(std::move(cached));
}

size_t SubQueryRun::RowsFound() const {
  size_t rows = 0;
  if (!cached_) return rows;
  for (const auto& hour : cached_->old.found) rows += hour->size();
  return rows;
}

// Caching is optional: the query does not fail if memory is exhausted here.
void SubQueryRun::KeepRead() {
  try {
    KeepHours();
  } catch (const std::bad_alloc&) {
  }
}

void SubQueryRun::KeepHours() {
  const RowRange& rows = cached_->old.missing;
  // Under NoWait the query was refused meanwhile, so its data may be incomplete.
  if (const NoWait* const scope = NoWait::Current(); scope != nullptr && scope->refused()) return;
  for (const RowRecord& record : cached_->records) {
    if (record.gave_up()) return;
  }
  struct Read {
    const Series* series;
    const RowRecord::Row* row;
  };
  std::vector<std::vector<Read>> hours(cached_->old.generations.size());
  std::vector<bool> spoiled(hours.size());
  const auto hour_of = [&rows](uint32_t base) { return (base - rows.begin) / kRowSpan; };
  for (size_t k = 0; k < cached_->records.size(); ++k) {
    const RowRecord& record = cached_->records[k];
    for (const RowRecord::Row& row : record.rows())
      hours[hour_of(row.base)].push_back({&sets_[k].series()[row.series], &row});
    for (const uint32_t base : record.spoiled()) {
      if (base < rows.end) spoiled[hour_of(base)] = true;
    }
  }
  // If not all hours fit, the first ones are kept, because queries look up hours from their first
  // one on.
  int64_t room = context_.cache->share();
  for (const auto& hour : cached_->old.found) room -= BucketCache::BytesOf(*hour);
  std::vector<BucketHour> kept;
  for (size_t i = 0; i < hours.size(); ++i) {
    if (spoiled[i]) continue;
    std::sort(hours[i].begin(), hours[i].end(),
              [](const Read& a, const Read& b) { return a.series->order < b.series->order; });
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
    room -= BucketCache::BytesOf(hour);
    if (room < 0) break;
    kept.push_back(std::move(hour));
  }
  // Starts with the last hour, so that the first one becomes the most recently used one.
  for (; !kept.empty(); kept.pop_back()) {
    const uint64_t generation = cached_->old.generations[hour_of(kept.back().base())];
    context_.cache->Keep(cached_->shape, generation, std::move(kept.back()));
  }
}

// The fill policy is applied here and not in the sets, because the cached hours precede the hours
// that the sets have read.
Status SubQueryRun::FillAll() {
  const auto fill_bytes = static_cast<int64_t>(grid_->fill_grid().size()) * kPointBytes;
  for (Series& s : series_) {
    s.points.all_double = s.raw_points > 0;
    if (s.raw_points == 0) continue;
    RETURN_IF_ERROR(joined_memory_.Add(fill_bytes));
    RETURN_IF_ERROR(FillGaps(*grid_, &s.points));
    RETURN_IF_ERROR(context_.watch.Step(s.points.size()));
  }
  return {};
}

/// Returns Series::order of all series, sorted and without repeats.
Result<std::vector<ByteView>> SubQueryRun::OrdersOfJoined() {
  const Hours& hours = cached_->old.found;
  std::vector<ByteView> orders;
  const auto take = [&](size_t series) {
    RETURN_IF_ERROR(joined_memory_.Add(static_cast<int64_t>(2 * series * sizeof(ByteView))));
    return context_.watch.Step(series);
  };
  for (size_t k = 0; k < hours.size(); ++k) {
    if (k > 0 && hours[k]->HasSeriesOf(*hours[k - 1])) continue;
    RETURN_IF_ERROR(take(hours[k]->size()));
    for (size_t i = 0; i < hours[k]->size(); ++i) orders.push_back(hours[k]->at(i).order);
  }
  RETURN_IF_ERROR(take(series_.size()));
  for (const Series& s : series_) orders.push_back(s.order);
  std::sort(orders.begin(), orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  return orders;
}

// Rows of cached hours count as read, so that statistics do not depend on the cache.
Status SubQueryRun::JoinCached() {
  const Hours& hours = cached_->old.found;
  if (hours.empty()) return FillAll();
  ASSIGN_OR_RETURN(const std::vector<ByteView> orders, OrdersOfJoined());
  std::vector<size_t> buckets(orders.size());
  size_t found = 0;
  for (const auto& hour : hours) {
    RETURN_IF_ERROR(context_.watch.Step(hour->size()));
    Places places(orders);
    for (size_t i = 0; i < hour->size(); ++i) {
      const SeriesHour part = hour->at(i);
      buckets[places.Next(part.order)] += part.bits.size();
      found += part.bits.size();
      for (const codec::Annotation& a : part.annotations)
        RETURN_IF_ERROR(joined_memory_.Add(2 * MemoryBytes(a)));
    }
    info_.stats.rows_before += hour->size();
    info_.stats.rows_after += hour->size();
    info_.stats.points_before += hour->points();
    info_.stats.points_after += hour->points();
  }
  const size_t of_each = sizeof(Series) + sizeof(ByteView) + sizeof(size_t) +
                         2 * (spec_.metric.size() + (orders.empty() ? 0 : orders[0].size()));
  RETURN_IF_ERROR(joined_memory_.Add(static_cast<int64_t>(orders.size() * of_each)));
  for (const Series& s : series_) {
    RETURN_IF_ERROR(joined_memory_.Add(static_cast<int64_t>(s.points.size()) * kPointBytes));
  }
  RETURN_IF_ERROR(joined_memory_.Add(static_cast<int64_t>(found) * kPointBytes));
  RETURN_IF_ERROR(context_.watch.Step(found));

  std::vector<Series> joined(orders.size());
  const auto salt = static_cast<size_t>(layout().salt_width);
  for (size_t i = 0; i < joined.size(); ++i) {
    joined[i].order = orders[i];
    joined[i].tsuid.append(spec_.metric).append(orders[i].substr(salt));
  }
  Places of_read(orders);
  std::vector<size_t> read_places;
  for (const Series& s : series_) {
    read_places.push_back(of_read.Next(s.order));
    buckets[read_places.back()] += s.points.size();
  }
  for (size_t i = 0; i < joined.size(); ++i) {
    joined[i].points.time_ms.reserve(buckets[i]);
    joined[i].points.bits.reserve(buckets[i]);
  }
  for (const auto& hour : hours) {
    const int64_t base_ms = int64_t{hour->base()} * 1000;
    Places places(orders);
    for (size_t i = 0; i < hour->size(); ++i) {
      const SeriesHour part = hour->at(i);
      Append(part, base_ms, &joined[places.Next(part.order)]);
    }
  }
  for (size_t i = 0; i < series_.size(); ++i)
    Append(std::move(series_[i]), &joined[read_places[i]]);
  series_ = std::move(joined);
  cached_->old.found.clear();
  return FillAll();
}

}  // namespace hg::query
