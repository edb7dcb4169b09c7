#include "storage/points/cell_scan.h"

#include <algorithm>

#include "storage/codec/cell_class.h"
#include "storage/codec/row_key.h"
#include "storage/points/match_series.h"
#include "storage/points/reconcile.h"

namespace hg::points {
namespace {

ByteView WithoutSalt(ByteView key, size_t salt_width) {
  return key.substr(std::min(key.size(), salt_width));
}

bool IsObject(ByteView qualifier) {
  const auto kind = codec::ClassifyQualifier(qualifier);
  return kind == codec::CellClass::kAnnotation || kind == codec::CellClass::kHistogram;
}

// Merges two lists in ascending order of time. For equal times the point of `first` is kept.
std::vector<codec::StoredPoint> Join(const std::vector<codec::StoredPoint>& first,
                                     const std::vector<codec::StoredPoint>& second) {
  auto earlier = [](const auto& a, const auto& b) { return a.offset_ms() < b.offset_ms(); };
  std::vector<codec::StoredPoint> joined;
  std::set_union(first.begin(), first.end(), second.begin(), second.end(),
                 std::back_inserter(joined), earlier);
  return joined;
}

}  // namespace

Result<BucketCursors> BucketCursors::Open(Store* store, const std::vector<ScanSpec>& scans,
                                          size_t salt_width) {
  BucketCursors all;
  all.salt_width_ = salt_width;
  for (const ScanSpec& scan : scans) {
    ASSIGN_OR_RETURN(auto cursor, store->Scan(scan));
    all.buckets_.push_back({std::move(cursor), {}, 0});
    RETURN_IF_ERROR(all.Refill(all.buckets_.size() - 1));
  }
  return all;
}

bool BucketCursors::After(size_t a, size_t b) const {
  ByteView a_key = buckets_[a].rows[buckets_[a].at].key;
  ByteView b_key = buckets_[b].rows[buckets_[b].at].key;
  const int order = WithoutSalt(a_key, salt_width_).compare(WithoutSalt(b_key, salt_width_));
  return order != 0 ? order > 0 : a_key > b_key;
}

Status BucketCursors::Refill(size_t i) {
  Bucket& bucket = buckets_[i];
  if (bucket.at == bucket.rows.size()) {
    bucket.at = 0;
    RETURN_IF_ERROR(bucket.cursor->Next(&bucket.rows));
  }
  if (bucket.rows.empty()) return {};
  heap_.push_back(i);
  std::push_heap(heap_.begin(), heap_.end(), [this](size_t a, size_t b) { return After(a, b); });
  return {};
}

Result<bool> BucketCursors::Next(Row* row) {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), [this](size_t a, size_t b) { return After(a, b); });
  const size_t i = heap_.back();
  heap_.pop_back();
  *row = std::move(buckets_[i].rows[buckets_[i].at++]);
  RETURN_IF_ERROR(Refill(i));
  return true;
}

// Returns the next row whose series matches and whose key fits the layout. If matching rows do not
// fit the layout, the error of the first of them is kept.
Result<bool> CellPointScan::NextMatching(Row* row) {
  while (true) {
    ASSIGN_OR_RETURN(const bool more, cursors_.Next(row));
    if (!more) return false;
    if (spec_.watch != nullptr) RETURN_IF_ERROR(spec_.watch->Step(row->cells.size() + 1));
    const auto prefix = std::min(row->key.size(), static_cast<size_t>(layout_.prefix_width()));
    if (!MatchesSeries(spec_.matcher, layout_, spec_.metric, ByteView(row->key).substr(prefix))) {
      continue;
    }
    auto key = codec::RowKey::Decode(layout_, row->key);
    if (key.ok()) return true;
    if (misfit_.ok()) misfit_ = Status::InvalidArgument(std::string(key.status().message()));
  }
}

Result<bool> CellPointScan::Take(Row* row) {
  if (!has_pending_) return NextMatching(row);
  has_pending_ = false;
  *row = std::move(pending_);
  return true;
}

Status CellPointScan::Read(const Row& row, std::vector<codec::StoredPoint>* points) {
  stored_cells_ += static_cast<uint32_t>(row.cells.size());
  auto reconciled = Reconcile(row.cells, options_);
  if (!reconciled.ok()) return Prepend(reconciled.status(), "row " + ToHexUpper(row.key));
  if (!reconciled->as_stored && listener_) listener_(row.key, base_);
  *points = points->empty() ? std::move(reconciled->points) : Join(*points, reconciled->points);
  if (!spec_.objects) return {};
  for (const Cell& cell : row.cells) {
    if (IsObject(cell.qualifier)) objects_.push_back(cell);
  }
  return {};
}

Result<bool> CellPointScan::Next(RowHour* row) {
  std::vector<codec::StoredPoint> points;
  do {
    ASSIGN_OR_RETURN(const bool more, Take(&current_));
    if (!more) {
      if (!misfit_.ok()) return misfit_;
      return false;
    }
    ASSIGN_OR_RETURN(const auto key, codec::RowKey::Decode(layout_, current_.key));
    tsuid_ = key.tsuid();
    base_ = key.base();
    stored_cells_ = 0;
    objects_.clear();
    points.clear();
    RETURN_IF_ERROR(Read(current_, &points));
    const auto salt_width = static_cast<size_t>(layout_.salt_width);
    while (salt_width > 0) {
      ASSIGN_OR_RETURN(has_pending_, NextMatching(&pending_));
      if (!has_pending_ ||
          WithoutSalt(pending_.key, salt_width) != WithoutSalt(current_.key, salt_width)) {
        break;
      }
      has_pending_ = false;
      RETURN_IF_ERROR(Read(pending_, &points));
    }
  } while (points.empty() && objects_.empty());
  Give(points, row);
  return true;
}

void CellPointScan::Give(const std::vector<codec::StoredPoint>& points, RowHour* row) {
  offsets_.clear();
  values_.clear();
  is_double_.clear();
  size_t doubles = 0;
  for (const auto& point : points) {
    const PointValue value = point.value();
    offsets_.push_back(point.offset_ms());
    values_.push_back(value.is_float() ? std::bit_cast<uint64_t>(value.as_double()) : value.bits);
    is_double_.push_back(value.is_float());
    doubles += value.is_float();
  }
  const bool mixed = doubles > 0 && doubles < points.size();
  *row = {};
  row->key = current_.key;
  row->tsuid = tsuid_;
  row->base = base_;
  row->offset_ms = offsets_;
  row->value = values_;
  if (mixed) row->is_double = is_double_;
  row->all_double = !mixed && doubles > 0;
  row->stored_cells = stored_cells_;
  row->objects = objects_;
}

}  // namespace hg::points
