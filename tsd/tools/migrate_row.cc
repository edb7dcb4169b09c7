#include "tsd/tools/migrate_row.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "storage/base/crc32c.h"
#include "storage/codec/append_cell.h"
#include "storage/codec/compacted.h"
#include "tsd/tools/names_first.h"

namespace hg::tsd {
namespace {

/// The items of a cell, and its points if it has any.
struct CellItems {
  const Cell* cell = nullptr;
  std::vector<codec::StoredPoint> points;  // if empty, the whole cell is a single item
  std::vector<Bytes> items;
};

using Column = std::pair<Bytes, Bytes>;

Column ColumnOf(const Cell& cell) { return {cell.family, cell.qualifier}; }

Cell SinglePoint(const Cell& of, const codec::StoredPoint& point) {
  Cell single{of.family, {}, {}, of.timestamp_ms};
  codec::EncodePointCell({&point, 1}, &single.qualifier, &single.value);
  return single;
}

// Returns the item of a point. It is short enough to need no memory allocation.
Bytes ItemOf(const codec::StoredPoint& point) {
  Bytes item = "p";
  Bytes value;
  codec::EncodePointCell({&point, 1}, &item, &value);
  return item + value;
}

Bytes ItemOf(const Cell& cell) {
  Bytes item = "c";
  for (const Bytes* part : {&cell.family, &cell.qualifier}) {
    AppendBig(&item, part->size(), 4);
    item += *part;
  }
  return item + cell.value;
}

std::vector<CellItems> ItemsOf(const Row& row, bool points) {
  std::vector<CellItems> all;
  all.reserve(row.cells.size());
  for (const Cell& cell : row.cells) {
    CellItems& one = all.emplace_back();
    one.cell = &cell;
    if (points) one.points = PointsOfCell(cell);
    for (const auto& point : one.points) one.items.push_back(ItemOf(point));
    if (one.points.empty()) one.items.push_back(ItemOf(cell));
  }
  return all;
}

std::set<Bytes> Union(const std::vector<CellItems>& cells) {
  std::set<Bytes> all;
  for (const CellItems& cell : cells) all.insert(cell.items.begin(), cell.items.end());
  return all;
}

uint64_t Hash(ByteView key, ByteView item) {
  const uint32_t low = crc32c::Extend(crc32c::Value(key), item);
  const uint32_t high = crc32c::Extend(crc32c::Extend(~0U, item), key);
  return (uint64_t{high} << 32 | low) * 0x9E3779B97F4A7C15;
}

/// Computes the changes to the row `there` of the target that make it equal to `source`, as far as
/// `rules` allow.
class Comparison {
 public:
  Comparison(const Row& source, const Row& there, const RowRules& rules)
      : rules_(rules),
        source_(ItemsOf(source, rules.points)),
        there_(ItemsOf(there, rules.points)),
        wanted_(Union(source_)) {
    for (const CellItems& cell : source_) {
      columns_.insert(ColumnOf(*cell.cell));
      for (const auto& point : cell.points) instants_.insert(point.offset_ms());
    }
    for (const CellItems& cell : there_) taken_.insert(ColumnOf(*cell.cell));
  }

  RowDifference Run() {
    const std::set<Bytes> present = Union(there_);
    for (const Bytes& item : present) extra_ += wanted_.contains(item) ? 0 : 1;
    const bool incomplete =
        !std::includes(present.begin(), present.end(), wanted_.begin(), wanted_.end());
    for (const CellItems& cell : there_) Judge(cell, incomplete);
    for (const CellItems& cell : source_) Supply(cell);
    RowDifference difference{std::move(removed_), extra_};
    // A put replaces the column, so the column need not be deleted. In HBase, a delete in the same
    // mutation would hide the put.
    std::erase_if(difference.changes, [this](const CellChange& change) {
      return put_columns_.contains({change.family, change.qualifier});
    });
    difference.changes.insert(difference.changes.end(), put_.begin(), put_.end());
    return difference;
  }

 private:
  [[nodiscard]] bool Unwanted(const CellItems& cell, size_t i) const {
    if (wanted_.contains(cell.items[i])) return false;
    if (!cell.points.empty() && instants_.contains(cell.points[i].offset_ms())) return true;
    return rules_.remove_extra && !(cell.points.empty() && columns_.contains(ColumnOf(*cell.cell)));
  }

  void Judge(const CellItems& cell, bool incomplete) {
    bool unwanted = false;
    bool repeats = true;
    for (size_t i = 0; i < cell.items.size(); ++i) {
      unwanted = unwanted || Unwanted(cell, i);
      repeats = repeats && wanted_.contains(cell.items[i]);
    }
    const bool superseded = incomplete && repeats && !rules_.native && !cell.points.empty() &&
                            !columns_.contains(ColumnOf(*cell.cell));
    if (!unwanted && !superseded) {
      kept_.insert(cell.items.begin(), cell.items.end());
      return;
    }
    Remove(*cell.cell);
    for (size_t i = 0; i < cell.points.size() && cell.points.size() > 1; ++i) {
      const Cell single = SinglePoint(*cell.cell, cell.points[i]);
      if (Unwanted(cell, i)) {
        if (rules_.native) Remove(single);
      } else if (!wanted_.contains(cell.items[i])) {
        Put(single);
      }
    }
  }

  void Supply(const CellItems& cell) {
    const auto missing = [this](const Bytes& item) { return !kept_.contains(item); };
    if (std::none_of(cell.items.begin(), cell.items.end(), missing)) return;
    // The native table stores points, not cells. If it already has points of this row, it would
    // keep a compacted cell as a cell, so single points are written.
    if (!rules_.native || there_.empty() || cell.points.empty()) return Put(*cell.cell);
    for (size_t i = 0; i < cell.points.size(); ++i) {
      if (missing(cell.items[i])) Put(SinglePoint(*cell.cell, cell.points[i]));
    }
  }

  void Remove(const Cell& cell) {
    CellChange gone = DeleteColumn(cell.family, cell.qualifier);
    if (!rules_.native) gone.timestamp_ms = cell.timestamp_ms;
    removed_.push_back(std::move(gone));
  }

  void Put(const Cell& cell) {
    const Column column = ColumnOf(cell);
    if (!put_columns_.insert(column).second) return;
    CellChange put = PutCell(cell.family, cell.qualifier, cell.value);
    if (rules_.keep_times && !taken_.contains(column)) put.timestamp_ms = cell.timestamp_ms;
    put_.push_back(std::move(put));
  }

  const RowRules rules_;
  const std::vector<CellItems> source_;
  const std::vector<CellItems> there_;
  const std::set<Bytes> wanted_;
  std::set<uint32_t> instants_;  // times of the source's points
  std::set<Column> columns_;     // columns of the source
  std::set<Column> taken_;       // columns of the target
  std::set<Bytes> kept_;         // items of the target that stay
  std::set<Column> put_columns_;
  std::vector<CellChange> removed_;
  std::vector<CellChange> put_;
  uint64_t extra_ = 0;
};

/// Returns the source row, changed where the target's names, ids or counters apply, so that these
/// cause no differences.
Row WithIdsOf(const Row& there, Row source, const RowRules& rules) {
  std::erase_if(source.cells, [&](Cell& cell) {
    if (!IsOfIds(cell)) return false;
    const auto own = std::find_if(there.cells.begin(), there.cells.end(), [&](const Cell& other) {
      return ColumnOf(other) == ColumnOf(cell);
    });
    const bool here = own != there.cells.end();
    const bool leads = here && source.key == kCounterRow && own->value >= cell.value;
    if (!rules.ids_stay && !leads) return false;
    if (here) cell.value = own->value;
    return !here;
  });
  return source;
}

/// Returns the points of a cell, including append cells.
std::vector<codec::StoredPoint> PointsHeld(const Cell& cell) {
  if (cell.qualifier != codec::kAppendQualifier) return PointsOfCell(cell);
  auto parsed = codec::ParseAppendCell(cell.value);
  return parsed.ok() ? std::move(parsed->points) : std::vector<codec::StoredPoint>();
}

/// Returns the cells and points of the source row for which the target has no data.
Row MissingOf(const Row& source, const Row& there, const RowRules& rules) {
  std::set<Column> columns;
  std::set<uint32_t> instants;
  for (const Cell& cell : there.cells) {
    columns.insert(ColumnOf(cell));
    if (!rules.points) continue;
    for (const auto& point : PointsHeld(cell)) instants.insert(point.offset_ms());
  }
  Row missing{source.key, {}};
  for (const Cell& cell : source.cells) {
    std::vector<codec::StoredPoint> points;
    if (rules.points) points = PointsHeld(cell);
    const bool held = columns.contains(ColumnOf(cell));
    const size_t gone = std::erase_if(
        points, [&](const auto& point) { return instants.contains(point.offset_ms()); });
    if (gone == 0 && !held) {
      missing.cells.push_back(cell);
    } else if (!points.empty()) {
      Cell& left = missing.cells.emplace_back(Cell{cell.family, {}, {}, cell.timestamp_ms});
      codec::EncodePointCell(points, &left.qualifier, &left.value);
    }
  }
  return missing;
}

}  // namespace

std::vector<codec::StoredPoint> PointsOfCell(const Cell& cell) {
  if (cell.qualifier.empty() || cell.qualifier.size() % 2 != 0) return {};
  auto parsed = codec::ParsePointCell(cell.qualifier, cell.value);
  if (!parsed.ok() || parsed->repaired || !parsed->sorted || parsed->points.empty()) return {};
  Bytes qualifier;
  Bytes value;
  codec::EncodePointCell(parsed->points, &qualifier, &value);
  if (qualifier != cell.qualifier || value != cell.value) return {};
  return std::move(parsed->points);
}

size_t BytesOf(const Row& row) {
  size_t bytes = row.key.size();
  for (const Cell& cell : row.cells) {
    bytes += cell.family.size() + cell.qualifier.size() + cell.value.size();
  }
  return bytes;
}

void RowSum::Add(const RowSum& other) {
  rows += other.rows;
  items += other.items;
  sum += other.sum;
}

std::string RowSum::Hex() const {
  Bytes bytes;
  AppendBig(&bytes, sum, 8);
  return ToHex(bytes);
}

RowSum SumOfRow(const Row& row, const RowRules& rules) {
  RowSum sum{1, 0, 0};
  std::vector<Bytes> items;
  for (CellItems& cell : ItemsOf(row, rules.points)) {
    std::move(cell.items.begin(), cell.items.end(), std::back_inserter(items));
  }
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  for (const Bytes& item : items) sum.Add({0, 1, Hash(row.key, item)});
  return sum;
}

RowDifference CompareRows(const Row& source, const Row& there, const RowRules& rules) {
  const auto same = [](const Cell& a, const Cell& b) {
    return a.family == b.family && a.qualifier == b.qualifier && a.value == b.value;
  };
  if (std::equal(source.cells.begin(), source.cells.end(), there.cells.begin(), there.cells.end(),
                 same)) {
    return {};
  }
  if (rules.only_missing) {
    const Row missing =
        MissingOf(rules.ids_stay ? WithIdsOf(there, source, rules) : source, there, rules);
    return Comparison(missing, there, rules).Run();
  }
  if (!rules.ids_stay && !rules.counters_lead) return Comparison(source, there, rules).Run();
  return Comparison(WithIdsOf(there, source, rules), there, rules).Run();
}

}  // namespace hg::tsd
