#include "storage/points/embedded_scan.h"

#include <algorithm>
#include <bit>

#include "storage/codec/cell_class.h"
#include "storage/codec/row_key.h"
#include "storage/lsm/cell_file.h"
#include "storage/points/match_series.h"
#include "storage/points/points_over_cells.h"
#include "storage/points/reconcile.h"
#include "storage/points/row_file.h"

namespace hg::points {
namespace {

bool IsObject(ByteView qualifier) {
  const auto kind = codec::ClassifyQualifier(qualifier);
  return kind == codec::CellClass::kAnnotation || kind == codec::CellClass::kHistogram;
}

// Nothing to settle: one point at each instant and no other cell that holds points.
bool IsPlain(const Part& part) {
  for (const RawCell& cell : part.raw) {
    if (TouchesPoints(cell.qualifier)) return false;
  }
  for (size_t i = 1; i < part.points.size(); ++i) {
    if (part.points[i].offset_ms() == part.points[i - 1].offset_ms()) return false;
  }
  return true;
}

}  // namespace

EmbeddedScan::EmbeddedScan(const Engine& engine, const PointScanSpec& spec,
                           const ReconcileOptions& options, UnsettledRowListener listener)
    : engine_(engine),
      spec_(spec),
      options_(options),
      listener_(std::move(listener)),
      version_(engine.Pin()),
      series_(engine.registry().Match(spec.metric, spec.matcher)) {}

Result<std::unique_ptr<EmbeddedScan>> EmbeddedScan::Open(const Engine& engine,
                                                         const PointScanSpec& spec,
                                                         const ReconcileOptions& options,
                                                         UnsettledRowListener listener) {
  if (spec.metric.size() != static_cast<size_t>(engine.layout().metric_width)) {
    return Status::InvalidArgument("a metric of " + std::to_string(spec.metric.size()) +
                                   " bytes, not " + std::to_string(engine.layout().metric_width));
  }
  std::unique_ptr<EmbeddedScan> scan(new EmbeddedScan(engine, spec, options, std::move(listener)));
  RETURN_IF_ERROR(scan->LoadCells());
  return scan;
}

Status EmbeddedScan::LoadCells() {
  const std::string& table = engine_.points_table()->descriptor.name;
  for (const ScanSpec& bucket :
       BucketScans(engine_.layout(), table, spec_.metric, spec_.rows, spec_.batch_rows)) {
    RETURN_IF_ERROR(LoadCellsOfBucket(bucket.start, bucket.stop));
  }
  std::sort(irregular_.begin(), irregular_.end(),
            [](const IrregularRow& a, const IrregularRow& b) { return a.key < b.key; });
  irregular_.erase(std::unique(irregular_.begin(), irregular_.end(),
                               [](const auto& a, const auto& b) { return a.key == b.key; }),
                   irregular_.end());
  return {};
}

Status EmbeddedScan::LoadCellsOfBucket(ByteView start, ByteView stop) {
  const Table& table = *engine_.points_table();
  size_t source = 0;
  for (const auto& generation : version_->generations) {
    if (const lsm::CellMemory* cells = generation->Cells(table.id)) {
      const auto rows = lsm::ScanMemory(*cells, Bytes(start), Bytes(stop));
      for (;;) {
        ASSIGN_OR_RETURN(const bool more, rows->Next());
        if (!more) break;
        // Memory is read again together with the points; only which rows there are counts here.
        lsm::CellRow none;
        RETURN_IF_ERROR(NoteKey(rows->key(), source, &none));
      }
    }
    ++source;
  }
  const uint32_t region = engine_.RegionOf(table, start);
  for (const auto& run : version_->RunsOf(table.id, region)) {
    const size_t this_source = source++;
    if (run->cells() == nullptr) continue;
    const auto rows = lsm::ScanRows(run->cells(), Bytes(start), Bytes(stop));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows->Next());
      if (!more) break;
      lsm::CellRow row = rows->TakeRow();
      RETURN_IF_ERROR(NoteKey(rows->key(), this_source, &row));
    }
  }
  return {};
}

Status EmbeddedScan::NoteKey(const Bytes& key, size_t source, lsm::CellRow* row) {
  const KeyLayout& layout = engine_.layout();
  Bytes tsuid;
  uint32_t base;
  const auto prefix = std::min(key.size(), static_cast<size_t>(layout.prefix_width()));
  if (!MatchesSeries(spec_.matcher, layout, spec_.metric, ByteView(key).substr(prefix))) return {};
  if (IsRegularKey(layout, key, &tsuid, &base)) {
    if (const auto series = engine_.registry().Find(tsuid)) {
      cells_[{*series, base}].emplace_back(source, std::move(*row));
      return {};
    }
  }
  const auto decoded = codec::RowKey::Decode(layout, key);
  if (decoded.ok()) {
    irregular_.push_back({key, decoded->base()});
  } else if (misfit_.ok()) {
    misfit_ = Status::InvalidArgument(std::string(decoded.status().message()));
  }
  return {};
}

// Moves to the next row that may be given; key_ and tsuid_ are its own.
Result<bool> EmbeddedScan::NextRow(StoredRow* row) {
  for (;;) {
    if (next_base_ < bases_.size()) {
      const uint32_t series = series_[next_series_ - 1];
      RETURN_IF_ERROR(ReadRow(series, bases_[next_base_++], row));
      return true;
    }
    if (next_series_ >= series_.size()) break;
    const uint32_t series = series_[next_series_++];
    bases_.clear();
    next_base_ = 0;
    RETURN_IF_ERROR(engine_.ListBases(*version_, series, spec_.rows, &bases_));
    const size_t with_points = bases_.size();
    for (auto it = cells_.lower_bound({series, 0}); it != cells_.end() && it->first.first == series;
         ++it) {
      bases_.push_back(it->first.second);
    }
    if (bases_.size() > with_points) {
      std::sort(bases_.begin(), bases_.end());
      bases_.erase(std::unique(bases_.begin(), bases_.end()), bases_.end());
    }
  }
  if (next_irregular_ >= irregular_.size()) return false;
  const IrregularRow& irregular = irregular_[next_irregular_++];
  ASSIGN_OR_RETURN(*row, engine_.Read(*version_, *engine_.points_table(), irregular.key));
  row->base = irregular.base;
  CellsIntoPart(static_cast<uint8_t>(engine_.points_table()->points_family), &row->cells,
                &row->part);
  Normalize(&row->part);
  key_ = irregular.key;
  ASSIGN_OR_RETURN(tsuid_, codec::TsuidOf(engine_.layout(), key_));
  return true;
}

Status EmbeddedScan::ReadRow(uint32_t series, uint32_t base, StoredRow* result) {
  const Table& table = *engine_.points_table();
  const ByteView tsuid = engine_.registry().Tsuid(series);
  tsuid_ = tsuid;
  key_.clear();
  codec::AppendRowKey(engine_.layout(), tsuid, base, &key_);
  *result = StoredRow();
  result->regular = true;
  result->base = base;
  const auto cells = cells_.find({series, base});
  size_t source = 0;
  bool first = true;
  auto join = [&](StoredRow older) {
    if (first) {
      *result = std::move(older);
    } else {
      *result = MergeStored(table, std::move(*result), std::move(older));
    }
    first = false;
  };
  for (const auto& generation : version_->generations) {
    const RowHourMemory* row = generation->rows.Newest(series);
    while (row != nullptr && row->base() != base) row = row->older();
    const bool has_cells = cells != cells_.end() &&
                           std::any_of(cells->second.begin(), cells->second.end(),
                                       [&](const auto& entry) { return entry.first == source; });
    ++source;
    if (row == nullptr && !has_cells) continue;
    StoredRow older;
    older.regular = true;
    older.base = base;
    if (engine_.ReadMemoryPart(*generation, row, key_, has_cells, &older)) join(std::move(older));
  }
  for (const auto& run : version_->RunsOf(table.id, engine_.RegionOf(table, key_))) {
    StoredRow older;
    older.regular = true;
    older.base = base;
    bool found = false;
    if (cells != cells_.end()) {
      for (auto& [from, row] : cells->second) {
        if (from != source) continue;
        older.cells = std::move(row);
        CellsIntoPart(static_cast<uint8_t>(table.points_family), &older.cells, &older.part);
        found = true;
      }
    }
    ++source;
    if (run->points() != nullptr) {
      ASSIGN_OR_RETURN(const bool has_points,
                       ReadFileRow(engine_.layout(), *run->points(), tsuid, base, &older.part));
      found = found || has_points;
    }
    if (found) join(std::move(older));
  }
  return {};
}

void EmbeddedScan::Give(const std::vector<codec::StoredPoint>& points, RowHour* row) {
  Part part;
  for (const auto& point : points) part.points.push_back({point.qualifier, 0, point.bits});
  Give(part, row);
}

void EmbeddedScan::Give(const Part& part, RowHour* row) {
  const size_t n = part.points.size();
  offsets_.resize(n);
  values_.resize(n);
  is_double_.resize(n);
  size_t doubles = 0;
  for (size_t i = 0; i < n; ++i) {
    const PartPoint& point = part.points[i];
    const PointValue value{point.bits, point.qualifier.flags()};
    offsets_[i] = point.offset_ms();
    is_double_[i] = value.is_float();
    doubles += value.is_float();
    values_[i] = value.is_float() ? std::bit_cast<uint64_t>(value.as_double()) : value.bits;
  }
  const bool mixed = doubles > 0 && doubles < n;
  row->offset_ms = offsets_;
  row->value = values_;
  if (mixed) row->is_double = is_double_;
  row->all_double = !mixed && doubles > 0;
}

Result<bool> EmbeddedScan::Next(RowHour* row) {
  StoredRow stored;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, NextRow(&stored));
    if (!more) {
      if (!misfit_.ok()) return misfit_;
      return false;
    }
    *row = {};
    if (IsPlain(stored.part)) {
      Give(stored.part, row);
    } else {
      auto reconciled = Reconcile(stored.part, options_);
      if (!reconciled.ok()) return Prepend(reconciled.status(), "row " + ToHexUpper(key_));
      if (!reconciled->as_stored && listener_) listener_(key_, stored.base);
      Give(reconciled->points, row);
    }
    objects_.clear();
    for (RawCell& cell : stored.part.raw) {
      if (!spec_.objects || !IsObject(cell.qualifier)) continue;
      objects_.push_back({Bytes(kFamily), cell.qualifier, cell.value, cell.timestamp_ms});
    }
    if (offsets_.empty() && objects_.empty()) continue;
    row->key = key_;
    row->tsuid = tsuid_;
    row->base = stored.base;
    const bool one = RendersAsOne(stored.part, stored.base, engine_.render_options());
    row->stored_cells =
        static_cast<uint32_t>((one ? 1 : stored.part.points.size()) + stored.part.raw.size());
    row->objects = objects_;
    return true;
  }
}

Status EmbeddedScan::ListKeys(std::vector<Bytes>* keys) {
  StoredRow stored;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, NextRow(&stored));
    if (!more) return {};
    if (!stored.part.points.empty() || !stored.part.raw.empty()) keys->push_back(key_);
  }
}

}  // namespace hg::points
