#include "query/rows/extreme_fold.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "query/buckets/column_values.h"
#include "storage/model/special_double.h"

namespace hg::query {
namespace {

int64_t BeginOfInterval(int64_t time_ms, int64_t interval_ms) {
  return time_ms - time_ms % interval_ms;
}

}  // namespace

ExtremeFold::ExtremeFold(Function function, int64_t interval_ms, int64_t first_ms, int64_t last_ms)
    : sign_(function == Function::kMin ? -1 : 1),
      interval_ms_(interval_ms),
      first_ms_(BeginOfInterval(first_ms + interval_ms - 1, interval_ms)),
      last_ms_(BeginOfInterval(last_ms, interval_ms)),
      floors_(last_ms_ < first_ms_ ? 0 : HourOf(last_ms_) + 1),
      values_(last_ms_ < first_ms_ ? 0 : PlaceOf(last_ms_) + 1, -kInfinity),
      filled_(values_.size()),
      unfilled_(floors_.size()) {
  for (size_t hour = 0; hour < floors_.size(); ++hour) {
    floors_[hour] = -kInfinity;
    const Places places = PlacesOf(hour);
    unfilled_[hour] = places.end - places.begin;
  }
}

int64_t ExtremeFold::BytesOf(int64_t buckets) {
  return buckets * static_cast<int64_t>(sizeof(double) + sizeof(uint8_t) + kPointBytes);
}

// A row is needed if it may change a bucket. The row of an hour without a bucket in the result is
// never needed.
bool ExtremeFold::Needs(int64_t base_ms, const RowStatistics& row) const {
  if (base_ms + kHourMs <= first_ms_ || base_ms > last_ms_) return false;
  const double best = sign_ > 0 ? row.most : -row.least;
  const size_t hour = HourOf(std::max(base_ms, first_ms_));
  return !(best <= floors_[hour].load(std::memory_order_relaxed));
}

// A floor is the value of the lowest bucket of an hour. It is computed again only if a row raised a
// bucket with this value, which few rows do. Examining all buckets of the hour for every row would
// cost more than reading short rows.
size_t ExtremeFold::Take(const PointColumns& buckets) {
  std::lock_guard lock(mutex_);
  size_t hour = SIZE_MAX;
  double floor = 0;  // element of floors_ for the current hour
  bool may_rise = false;
  size_t looked_at = 0;
  const auto end_hour = [&] {
    if (may_rise && unfilled_[hour] == 0) looked_at += RaiseFloor(hour);
    may_rise = false;
  };
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (!shows(buckets.time_ms[i])) continue;
    const size_t place = PlaceOf(buckets.time_ms[i]);
    const double value = sign_ * std::bit_cast<double>(buckets.bits[i]);
    if (const size_t of = HourOf(buckets.time_ms[i]); of != hour) {
      end_hour();
      hour = of;
      floor = floors_[hour].load(std::memory_order_relaxed);
    }
    if (filled_[place] == 0) {
      filled_[place] = 1;
      --unfilled_[hour];
    }
    if (value > values_[place]) {
      may_rise = may_rise || values_[place] <= floor;
      values_[place] = value;
    }
  }
  end_hour();
  return looked_at;
}

ExtremeFold::Places ExtremeFold::PlacesOf(size_t hour) const {
  const int64_t hour_ms = (first_ms_ / kHourMs + static_cast<int64_t>(hour)) * kHourMs;
  return {PlaceOf(std::max(hour_ms, first_ms_)),
          PlaceOf(std::min(hour_ms + kHourMs - interval_ms_, last_ms_)) + 1};
}

size_t ExtremeFold::RaiseFloor(size_t hour) {
  const Places places = PlacesOf(hour);
  const auto at = [&](size_t place) { return values_.begin() + static_cast<ptrdiff_t>(place); };
  floors_[hour].store(*std::min_element(at(places.begin), at(places.end)),
                      std::memory_order_relaxed);
  return places.end - places.begin;
}

std::vector<PointColumns> ExtremeFold::Runs() const {
  std::vector<PointColumns> runs;
  for (size_t i = 0; i < values_.size();) {
    if (filled_[i] == 0) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (end < values_.size() && filled_[end] != 0) ++end;
    PointColumns& run = runs.emplace_back();
    run.all_double = true;
    run.time_ms.reserve(end - i);
    run.bits.reserve(end - i);
    for (; i < end; ++i) {
      run.time_ms.push_back(first_ms_ + static_cast<int64_t>(i) * interval_ms_);
      const double value = values_[i] == -kInfinity ? kNan : sign_ * values_[i];
      run.bits.push_back(std::bit_cast<uint64_t>(value));
    }
  }
  return runs;
}

}  // namespace hg::query
