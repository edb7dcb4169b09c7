#include <algorithm>

#include "storage/base/invariant.h"
#include "storage/codec/row_key.h"
#include "storage/engine/memstore.h"

namespace hg::engine {
namespace {

lsm::CellKind VersionKind(CellChange::Kind kind) {
  switch (kind) {
    case CellChange::Kind::kPut:
      return lsm::CellKind::kPut;
    case CellChange::Kind::kDeleteColumn:
      return lsm::CellKind::kDeleteColumn;
    case CellChange::Kind::kDeleteFamily:
      return lsm::CellKind::kDeleteFamily;
    case CellChange::Kind::kDeleteVersion:
      return lsm::CellKind::kDelete;
    case CellChange::Kind::kDeleteFamilyVersion:
      return lsm::CellKind::kDeleteFamilyVersion;
  }
  return lsm::CellKind::kPut;
}

}  // namespace

void Memstore::ApplyPoints(std::span<const PointEntry> entries, uint64_t sequence) noexcept {
  // Prefetch distances at which the memory of a cold series arrives in time.
  constexpr size_t kHeadAhead = 24;
  constexpr size_t kRowAhead = 12;
  RowMemory& rows = active_->rows;
  const size_t n = entries.size();
  if (sweeping_) [[unlikely]] {
    for (const PointEntry& entry : entries) changed_.Add(entry.series);
  }
  for (size_t i = 0; i < n; ++i) {
    if (i + kHeadAhead < n) rows.PrefetchHead(entries[i + kHeadAhead].series);
    if (i + kRowAhead < n) rows.PrefetchRow(entries[i + kRowAhead].series);
    const PointEntry& entry = entries[i];
    RowHourMemory* row = rows.FindOrMake(entry.series, entry.base);
    if ((row->flags() & RowHourMemory::kRawPoint) == 0) [[likely]] {
      auto same_row = [&](size_t k) {
        return k < n && entries[k].series == entry.series && entries[k].base == entry.base;
      };
      if (!same_row(i + 1)) [[likely]] {
        rows.Put(row, sequence, entry.qualifier, entry.bits, points::RowForm::kAuto);
        continue;
      }
      // Adjacent points of one row in a batch become visible together.
      rows.Begin(row);
      rows.Write(row, sequence, entry.qualifier, entry.bits, points::RowForm::kAuto);
      for (; same_row(i + 1); ++i) {
        rows.Write(row, sequence, entries[i + 1].qualifier, entries[i + 1].bits,
                   points::RowForm::kAuto);
      }
      rows.Publish(row);
      continue;
    }
    const Bytes key =
        codec::MakeRowKey(layout(), registry_.tsuids()->Tsuid(entry.series), entry.base);
    const auto family = static_cast<uint8_t>(tables_.points()->points_family);
    const Bytes qualifier = codec::Qualifier{entry.qualifier}.Encode();
    lsm::CellMemory::Writer cells(active_->CellsOrMake(tables_.points()->id));
    if (lsm::CellRow* raw = cells.FindColumn(key, family, qualifier)) raw->Erase(family, qualifier);
    rows.Put(row, sequence, entry.qualifier, entry.bits, points::RowForm::kAuto);
  }
}

void Memstore::ApplyRow(const Table& table, const RowRecord& record, uint64_t sequence) noexcept {
  if (sweeping_) [[unlikely]]
    NoteRow(table, record.key);
  Bytes tsuid;
  uint32_t base;
  if (table.points_family >= 0 && IsRegularKey(layout(), record.key, &tsuid, &base)) {
    const auto series = registry_.Find(tsuid);
    INVARIANT(series.has_value());
    ApplyRegularRow(table, record, sequence, *series, base);
    return;
  }
  if (table.order == lsm::CellOrder::kByTime) {
    lsm::CellVersions added;
    added.reserve(record.changes.size());
    for (const StampedChange& change : record.changes) {
      added.push_back({change.family, VersionKind(change.kind), change.qualifier, change.value,
                       change.timestamp_ms, change.expires_ms,
                       sequence << 8 | std::min<uint64_t>(added.size(), 0xFF)});
    }
    lsm::CellMemory::Writer(active_->CellsOrMake(table.id))
        .AddVersions(record.key, table.families, std::move(added));
    return;
  }
  lsm::CellMemory::Writer cells(active_->CellsOrMake(table.id));
  for (const StampedChange& change : record.changes) {
    if (change.kind == CellChange::Kind::kDeleteFamily) {
      cells.DeleteFamily(record.key, change.family, change.timestamp_ms);
      continue;
    }
    lsm::CellRow& row = cells.Column(record.key, change.family, change.qualifier);
    if (change.kind == CellChange::Kind::kPut) {
      row.Put(change.family, change.qualifier, change.value, change.timestamp_ms);
    } else {
      row.DeleteColumn(change.family, change.qualifier, change.timestamp_ms);
    }
  }
}

// Points, and tombstones with the qualifier of a point, go to the history of the RowHourMemory.
// Everything else goes to the cell memory. Both change under the lock of the cell memory, and the
// history is published last.
void Memstore::ApplyRegularRow(const Table& table, const RowRecord& record, uint64_t sequence,
                               SeriesNumber series, uint32_t base) {
  const auto family = static_cast<uint8_t>(table.points_family);
  RowMemory& rows = active_->rows;
  lsm::CellMemory::Writer cells(active_->CellsOrMake(table.id));
  RowHourMemory* row = nullptr;
  auto history = [&] {
    if (row == nullptr) {
      row = rows.FindOrMake(series, base);
      rows.Begin(row);
    }
    return row;
  };
  // All points and raw cells of a record count as written together.
  const auto raw_put = [&](const StampedChange& change) {
    points::PartPoint point;
    return change.kind == CellChange::Kind::kPut && change.family == family &&
           points::TouchesPoints(change.qualifier) &&
           !points::CanonicalPoint(change.qualifier, change.value, &point);
  };
  if (std::any_of(record.changes.begin(), record.changes.end(), raw_put)) {
    history()->SetFlag(RowHourMemory::kRaw);
  }
  for (const StampedChange& change : record.changes) {
    const auto column = [&]() -> lsm::CellRow& {
      return cells.Column(record.key, change.family, change.qualifier);
    };
    if (change.family != family) {
      if (change.kind == CellChange::Kind::kPut) {
        column().Put(change.family, change.qualifier, change.value, change.timestamp_ms);
      } else if (change.kind == CellChange::Kind::kDeleteColumn) {
        column().DeleteColumn(change.family, change.qualifier, change.timestamp_ms);
      } else {
        cells.DeleteFamily(record.key, change.family, change.timestamp_ms);
      }
      continue;
    }
    points::PartPoint point;
    codec::Qualifier q;
    const bool point_name = points::CanonicalQualifier(change.qualifier, &q);
    if (change.kind == CellChange::Kind::kDeleteFamily) {
      rows.WriteClear(history(), sequence);
      row->SetFlag(RowHourMemory::kRaw);
      cells.EraseFamily(record.key, family);
    } else if (change.kind == CellChange::Kind::kPut &&
               points::CanonicalPoint(change.qualifier, change.value, &point)) {
      rows.Write(history(), sequence, point.qualifier.bits, point.bits, points::RowForm::kSingle);
      if (lsm::CellRow* raw = cells.FindColumn(record.key, family, change.qualifier))
        raw->Erase(family, change.qualifier);
    } else {
      if (points::TouchesPoints(change.qualifier)) history()->SetFlag(RowHourMemory::kRaw);
      if (point_name) rows.WriteDelete(history(), sequence, q.bits);
      if (change.kind == CellChange::Kind::kPut) {
        if (point_name) row->SetFlag(RowHourMemory::kRawPoint);
        lsm::CellRow& raw = column();
        if (change.operand) {
          raw.Append(family, change.qualifier, change.value, change.timestamp_ms,
                     static_cast<int64_t>(sequence));
        } else if (points::TouchesPoints(change.qualifier)) {
          PutRaw(family, {change.qualifier, change.value, change.timestamp_ms, sequence, false},
                 &raw);
        } else {
          raw.Put(family, change.qualifier, change.value, change.timestamp_ms);
        }
      } else if (point_name) {
        if (lsm::CellRow* raw = cells.FindColumn(record.key, family, change.qualifier))
          raw->Erase(family, change.qualifier);
      } else {
        column().DeleteColumn(family, change.qualifier, change.timestamp_ms);
      }
    }
  }
  if (row != nullptr) rows.Publish(row);
}

}  // namespace hg::engine
