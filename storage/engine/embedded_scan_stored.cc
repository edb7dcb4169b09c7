// Reads rows that have cells alongside their points, duplicates, or irregular keys. Each of these
// rows is read completely and reconciled.
#include <algorithm>
#include <bit>
#include <utility>

#include "storage/codec/cell_class.h"
#include "storage/codec/row_key.h"
#include "storage/engine/embedded_scan.h"
#include "storage/engine/row_file.h"
#include "storage/lsm/cell_file.h"
#include "storage/points/match_series.h"
#include "storage/points/points_over_cells.h"
#include "storage/points/reconcile.h"

namespace hg::engine {
namespace {

bool IsObject(ByteView qualifier) {
  const auto kind = codec::ClassifyQualifier(qualifier);
  return kind == codec::CellClass::kAnnotation || kind == codec::CellClass::kHistogram;
}

// Returns whether the table has any cells. Most stores have only points.
bool HoldsCells(const Version& version, uint32_t table) {
  for (const auto& memtable : version.memtables) {
    const lsm::CellMemory* const cells = memtable->Cells(table);
    if (cells != nullptr && !cells->empty()) return true;
  }
  for (auto it = version.parts.lower_bound({table, 0});
       it != version.parts.end() && it->first.first == table; ++it) {
    for (const auto& part : it->second) {
      if (part->cells() != nullptr) return true;
    }
  }
  return false;
}

// Returns whether the row needs no reconciling: it has one point at each instant, and no other cell
// that affects points.
bool IsPlain(const points::RowPart& row_part) {
  for (const points::RawCell& cell : row_part.raw) {
    if (points::TouchesPoints(cell.qualifier)) return false;
  }
  for (size_t i = 1; i < row_part.points.size(); ++i) {
    if (row_part.points[i].offset_ms() == row_part.points[i - 1].offset_ms()) return false;
  }
  return true;
}

}  // namespace

Status EmbeddedScan::LoadCells() {
  if (!HoldsCells(*version_, engine_.points_table()->id)) return {};
  const std::string& table = engine_.points_table()->descriptor.name;
  for (const ScanSpec& bucket :
       points::BucketScans(engine_.layout(), table, spec_.metric, spec_.rows, spec_.batch_rows)) {
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
  for (const auto& memtable : version_->memtables) {
    if (const lsm::CellMemory* cells = memtable->Cells(table.id)) {
      const auto rows = lsm::ScanMemory(*cells, Bytes(start), Bytes(stop));
      for (;;) {
        ASSIGN_OR_RETURN(const bool more, rows->Next());
        if (!more) break;
        RETURN_IF_ERROR(memory_.Step(1));
        if (!MatchesKey(rows->key())) continue;
        // This pass records only that the row exists. Its cells in memory are read again together
        // with its points.
        lsm::CellRow none;
        RETURN_IF_ERROR(NoteKey(rows->key(), source, &none));
      }
    }
    ++source;
  }
  const region::RegionMap& regions = version_->RegionsOf(table.id);
  const auto [first, end] = regions.Overlapping(start, stop);
  for (size_t region = first; region < end; ++region) {
    Bytes from(start), to(stop);
    if (!region::ClipKeys(regions, region, &from, &to)) continue;
    size_t part_source = source;
    for (const auto& part : version_->PartsOf(table.id, regions.Id(region))) {
      const size_t this_source = part_source++;
      if (part->cells() == nullptr) continue;
      const auto rows = lsm::ScanRows(part->cells(), from, to, lsm::CacheUse::kKeep, spec_.watch);
      for (;;) {
        ASSIGN_OR_RETURN(const bool more, rows->Next());
        if (!more) break;
        RETURN_IF_ERROR(memory_.Step(1));
        if (!MatchesKey(rows->key())) continue;
        ASSIGN_OR_RETURN(lsm::CellRow row, ReadCells(rows.get()));
        RETURN_IF_ERROR(NoteKey(rows->key(), this_source, &row));
      }
    }
  }
  return {};
}

bool EmbeddedScan::MatchesKey(const Bytes& key) const {
  const KeyLayout& layout = engine_.layout();
  const auto prefix = std::min(key.size(), static_cast<size_t>(layout.prefix_width()));
  return points::MatchesSeries(spec_.matcher, layout, spec_.metric, ByteView(key).substr(prefix));
}

Result<lsm::CellRow> EmbeddedScan::ReadCells(lsm::RowSource* rows) {
  lsm::CellRow row;
  for (bool more = true; more;) {
    lsm::CellRow piece;
    ASSIGN_OR_RETURN(more, rows->TakePiece({}, nullptr, &piece));
    if (!spec_.objects || !spec_.object_values) {
      for (lsm::StoredCell& cell : piece.cells) {
        if (IsObject(cell.qualifier)) Bytes().swap(cell.value);  // frees its memory
      }
    }
    RETURN_IF_ERROR(memory_.Step(piece.cells.size()));
    RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(piece.MemoryBytes())));
    lsm::AppendPiece(std::move(piece), &row);
  }
  return row;
}

Status EmbeddedScan::NoteKey(const Bytes& key, size_t source, lsm::CellRow* row) {
  constexpr size_t kEntryBytes = 128;  // approximate memory of an entry in cells_
  const KeyLayout& layout = engine_.layout();
  Bytes tsuid;
  uint32_t base;
  RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(kEntryBytes + key.size())));
  if (IsRegularKey(layout, key, &tsuid, &base)) {
    RETURN_IF_ERROR(memory_.Step(engine_.registry().find_steps()));
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

Status EmbeddedScan::ReadIrregular(StoredRow* row) {
  const IrregularRow& irregular = irregular_[next_irregular_++];
  row_memory_.Remove(row_memory_.held());
  ASSIGN_OR_RETURN(*row, engine_.rows().Read(*version_, *engine_.points_table(), irregular.key,
                                             FilesRead::kAll, {}, &row_memory_));
  row->base = irregular.base;
  CellsIntoRowPart(static_cast<uint8_t>(engine_.points_table()->points_family), &row->cells,
                   &row->row_part);
  points::Normalize(&row->row_part);
  key_ = irregular.key;
  ASSIGN_OR_RETURN(tsuid_, codec::TsuidOf(engine_.layout(), key_));
  return {};
}

Status EmbeddedScan::ReadRow(uint32_t series, uint32_t base, StoredRow* result) {
  const Table& table = *engine_.points_table();
  row_memory_.Remove(row_memory_.held());
  *result = StoredRow();
  result->regular = true;
  result->base = base;
  const auto cells = cells_.find({series, base});
  const auto [memory_begin, memory_end] = RowsOf(memory_rows_, base, &memory_at_);
  const auto [file_begin, file_end] = RowsOf(file_rows_, base, &file_at_);
  // Points of all sources are joined, and then copied again to settle those of one instant.
  constexpr size_t kPointBytes = 4 * sizeof(points::PartPoint);
  uint64_t entries = 0;
  for (auto it = memory_begin; it != memory_end; ++it) entries += it->row->entries();
  for (auto it = file_begin; it != file_end; ++it) {
    const auto summary = points::ReadRowSummary(it->encoded);
    if (summary.ok()) entries += summary->count;
  }
  RETURN_IF_ERROR(ExpectEntries(entries, kPointBytes));
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
  for (const auto& memtable : version_->memtables) {
    const RowHourMemory* row = nullptr;
    for (auto it = memory_begin; it != memory_end; ++it) {
      if (it->source == source) row = it->row;
    }
    const bool has_cells = cells != cells_.end() &&
                           std::any_of(cells->second.begin(), cells->second.end(),
                                       [&](const auto& entry) { return entry.first == source; });
    ++source;
    if (row == nullptr && !has_cells) continue;
    StoredRow older;
    older.regular = true;
    older.base = base;
    ASSIGN_OR_RETURN(const bool found, engine_.rows().ReadMemoryRow(*memtable, row, key_, has_cells,
                                                                    &row_memory_, &older));
    if (found) join(std::move(older));
  }
  for (const auto& part : version_->PartsOf(table.id, version_->RegionsOf(table.id).IdOf(key_))) {
    StoredRow older;
    older.regular = true;
    older.base = base;
    bool found = false;
    if (cells != cells_.end()) {
      for (auto& [from, row] : cells->second) {
        if (from != source) continue;
        older.cells = std::move(row);
        CellsIntoRowPart(static_cast<uint8_t>(table.points_family), &older.cells, &older.row_part);
        found = true;
      }
    }
    for (auto it = file_begin; it != file_end; ++it) {
      if (it->source != source) continue;
      if (!DecodeFileRow(it->encoded, part->last_sequence(), &older.row_part)) {
        return part->points()->Damaged(0, "a row-hour cannot be read");
      }
      found = true;
    }
    ++source;
    if (found) join(std::move(older));
  }
  return {};
}

void EmbeddedScan::Give(const std::vector<codec::StoredPoint>& points, RowHour* row) {
  points::RowPart row_part;
  for (const auto& point : points) row_part.points.push_back({point.qualifier, 0, point.bits});
  Give(row_part, row);
}

void EmbeddedScan::Give(const points::RowPart& row_part, RowHour* row) {
  const size_t n = row_part.points.size();
  offsets_.resize(n);
  values_.resize(n);
  is_double_.resize(n);
  size_t doubles = 0;
  for (size_t i = 0; i < n; ++i) {
    const points::PartPoint& point = row_part.points[i];
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

// Returns a row of any kind. Returns false if the row has neither points nor requested objects.
Result<bool> EmbeddedScan::GiveStored(bool irregular, uint32_t series, uint32_t base,
                                      RowHour* row) {
  StoredRow stored;
  RETURN_IF_ERROR(irregular ? ReadIrregular(&stored) : ReadRow(series, base, &stored));
  Expire(*engine_.points_table(), render_options_.now_ms, &stored);
  *row = {};
  const uint64_t raw_points = points::CountRawPoints(stored.row_part);
  RETURN_IF_ERROR(row_memory_.Step(raw_points));
  RETURN_IF_ERROR(row_memory_.Add(static_cast<int64_t>(raw_points * points::kReconcileBytes)));
  // A row whose points are in a single compacted cell needs no row compaction. Settle makes such a
  // row plain, so that the listener is not called for it.
  if (!IsPlain(stored.row_part)) points::Settle(&stored.row_part);
  if (IsPlain(stored.row_part)) {
    Give(stored.row_part, row);
  } else {
    auto reconciled = points::Reconcile(stored.row_part, options_);
    if (!reconciled.ok()) return Prepend(reconciled.status(), "row " + ToHexUpper(key_));
    if (!reconciled->as_stored && listener_) listener_(key_, stored.base);
    std::erase_if(reconciled->points, [&](const codec::StoredPoint& point) {
      return int64_t{stored.base} * 1000 + point.qualifier.offset_ms() < oldest_ms_;
    });
    Give(reconciled->points, row);
  }
  objects_.clear();
  for (points::RawCell& cell : stored.row_part.raw) {
    if (!spec_.objects || !IsObject(cell.qualifier)) continue;
    objects_.push_back({Bytes(points::kFamily), cell.qualifier, cell.value, cell.timestamp_ms});
  }
  if (offsets_.empty() && objects_.empty()) return false;
  row->key = key_;
  row->tsuid = tsuid_;
  row->base = stored.base;
  const bool one = points::RendersAsOne(stored.row_part, stored.base, render_options_);
  row->stored_cells =
      static_cast<uint32_t>((one ? 1 : stored.row_part.points.size()) + stored.row_part.raw.size());
  row->objects = objects_;
  return true;
}

}  // namespace hg::engine
