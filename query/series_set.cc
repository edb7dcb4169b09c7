#include "query/series_set.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace hg::query {
namespace {

constexpr char kAnnotationPrefix = 0x01;

// Appends one row's kinds to columns that may have been uniform so far.
void AppendKinds(const RowHour& row, size_t before, PointColumns* points) {
  bool row_uniform = row.is_double.empty();
  if (before == 0 && row_uniform) {
    points->all_double = row.all_double;
    return;
  }
  if (points->kinds.empty() && before > 0 && row_uniform && row.all_double == points->all_double)
    return;
  if (points->kinds.empty()) points->kinds.assign(before, points->all_double ? 1 : 0);
  if (row_uniform) {
    points->kinds.insert(points->kinds.end(), row.value.size(), row.all_double ? 1 : 0);
  } else {
    points->kinds.insert(points->kinds.end(), row.is_double.begin(), row.is_double.end());
  }
}

}  // namespace

Status SeriesSet::Read(PointScan* scan, LimitCounter* counter) {
  RowHour row;
  for (;;) {
    ASSIGN_OR_RETURN(bool more, scan->Next(&row));
    if (!more) return {};
    RETURN_IF_ERROR(counter->Count(row));
    ASSIGN_OR_RETURN(size_t index, IndexOf(row));
    if (index == kRefused) continue;
    if (!row.value.empty()) AddPoints(row, index);
    if (!row.objects.empty()) RETURN_IF_ERROR(AddObjects(row, &series_[index]));
  }
}

Result<size_t> SeriesSet::IndexOf(const RowHour& row) {
  if (row.tsuid == last_tsuid_ && !last_tsuid_.empty()) return last_index_;
  last_tsuid_.assign(row.tsuid);
  auto known = index_.find(row.tsuid);
  if (known != index_.end()) {
    last_index_ = known->second;
    return last_index_;
  }
  last_index_ = series_.size();
  if (filter_->decides()) {
    ASSIGN_OR_RETURN(bool admitted, filter_->Admits(row.tsuid));
    if (!admitted) last_index_ = kRefused;
  }
  index_.emplace(Bytes(row.tsuid), last_index_);
  if (last_index_ == kRefused) return last_index_;
  Series series;
  series.tsuid.assign(row.tsuid);
  series.order.assign(row.key.substr(0, static_cast<size_t>(layout_.salt_width)));
  series.order.append(row.tsuid.substr(static_cast<size_t>(layout_.metric_width)));
  series_.push_back(std::move(series));
  if (grid_ != nullptr) downsamplers_.emplace_back(grid_);
  return last_index_;
}

void SeriesSet::AddPoints(const RowHour& row, size_t index) {
  Series& series = series_[index];
  size_t n = row.value.size();
  int64_t base_ms = int64_t{row.base} * 1000;
  if (series.raw_points == 0) series.first_point_ms = base_ms + row.offset_ms.front();
  series.last_point_ms = base_ms + row.offset_ms.back();
  series.raw_points += n;
  if (grid_ != nullptr) {
    doubles_.resize(n);
    if (row.is_double.empty() && row.all_double) {
      std::memcpy(doubles_.data(), row.value.data(), n * sizeof(double));
    } else if (row.is_double.empty()) {
      for (size_t i = 0; i < n; ++i)
        doubles_[i] = static_cast<double>(static_cast<int64_t>(row.value[i]));
    } else {
      for (size_t i = 0; i < n; ++i) {
        doubles_[i] = row.is_double[i] ? std::bit_cast<double>(row.value[i])
                                       : static_cast<double>(static_cast<int64_t>(row.value[i]));
      }
    }
    downsamplers_[index].Add(base_ms, row.offset_ms, doubles_);
    return;
  }
  PointColumns& points = series.points;
  size_t before = points.size();
  AppendKinds(row, before, &points);
  points.time_ms.resize(before + n);
  for (size_t i = 0; i < n; ++i) points.time_ms[before + i] = base_ms + row.offset_ms[i];
  points.bits.insert(points.bits.end(), row.value.begin(), row.value.end());
}

Status SeriesSet::AddObjects(const RowHour& row, Series* series) {
  for (const Cell& cell : row.objects) {
    if (cell.qualifier.empty() || cell.qualifier[0] != kAnnotationPrefix) continue;
    ASSIGN_OR_RETURN(codec::Annotation annotation, codec::DecodeAnnotation(cell.value));
    series->annotations.push_back(std::move(annotation));
  }
  return {};
}

Status SeriesSet::Finish() {
  for (size_t i = 0; i < downsamplers_.size(); ++i) {
    if (series_[i].raw_points > 0) RETURN_IF_ERROR(downsamplers_[i].Finish(&series_[i].points));
  }
  downsamplers_.clear();
  std::sort(series_.begin(), series_.end(),
            [](const Series& a, const Series& b) { return a.order < b.order; });
  return {};
}

}  // namespace hg::query
