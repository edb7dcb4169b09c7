#include "storage/engine/merge_parts.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "storage/base/invariant.h"
#include "storage/codec/row_key.h"
#include "storage/engine/row_file.h"
#include "storage/lsm/cell_file.h"

namespace hg::engine {
namespace {

using points::RowPart;

// The row-hours of a points file whose keys are in a region. The file orders them by series.
class PointsOfRegion {
 public:
  PointsOfRegion(const KeyLayout& layout, ByteView salt, const MergeInput& from)
      : metric_width_(static_cast<size_t>(layout.metric_width)),
        salt_(salt),
        start_(from.start),
        stop_(from.stop),
        all_(!from.part->entry().reference),
        scan_(from.part->points(), FirstMetric(from.start), "", lsm::CacheUse::kPast) {}

  Result<bool> Next() {
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, scan_.Next());
      if (!more || all_) return more;
      // A region boundary has no tag pairs after the base time, so the pairs are not compared.
      const Bytes& key = scan_.key();
      group_.assign(salt_);
      group_.append(key, 0, metric_width_);
      if (!stop_.empty() && group_ >= stop_) return false;
      group_.append(key, key.size() - 4, 4);
      if (group_ >= start_ && (stop_.empty() || group_ < stop_)) return true;
    }
  }
  [[nodiscard]] const Bytes& key() const { return scan_.key(); }
  [[nodiscard]] ByteView value() const { return scan_.value(); }
  [[nodiscard]] Status Damaged(const char* what) const { return scan_.Damaged(what); }

 private:
  [[nodiscard]] Bytes FirstMetric(const Bytes& start) const {
    if (ByteView(start).substr(0, salt_.size()) != salt_) return {};
    return start.substr(salt_.size(), metric_width_);
  }

  const size_t metric_width_;
  const Bytes salt_;
  const Bytes start_, stop_;
  const bool all_;
  lsm::BlockFileScan scan_;
  Bytes group_;
};

// The points and the cells of one input. The cells are read twice: first the cells that are merged
// with points, later all cells.
struct Input {
  uint64_t sequence = 0;
  std::unique_ptr<PointsOfRegion> points;
  bool has_points = false;
  std::unique_ptr<lsm::RowSource> point_cells;
  bool has_point_cells = false;
  std::unique_ptr<lsm::RowSource> cells;
  bool has_cells = false;

  Status NextPoints() {
    ASSIGN_OR_RETURN(has_points, points->Next());
    return {};
  }
  Status NextPointCells() {
    ASSIGN_OR_RETURN(has_point_cells, point_cells->Next());
    return {};
  }
  Status NextCells() {
    ASSIGN_OR_RETURN(has_cells, cells->Next());
    return {};
  }
};

// Keeps either the cells and tombstones that are merged with points, or all others. A tombstone of
// the whole family belongs to both.
void KeepCells(bool of_points, RowPart* part) {
  std::erase_if(part->raw, [&](const points::RawCell& cell) {
    return points::TouchesPoints(cell.qualifier) != of_points;
  });
  std::erase_if(part->gone, [&](const Bytes& qualifier) {
    return points::TouchesPoints(qualifier) != of_points;
  });
}

// The name of a column: family number and qualifier.
using Column = std::pair<uint8_t, Bytes>;

template <typename Cell>
Column ColumnOf(const Cell& cell) {
  return {cell.family, cell.qualifier};
}

template <typename Cell>
bool HasTwoColumns(const std::vector<Cell>& cells) {
  return !cells.empty() && (cells.front().family != cells.back().family ||
                            cells.front().qualifier != cells.back().qualifier);
}

// Moves the columns before `end` from the front of `from` to `to`.
template <typename Cell>
void MoveColumns(const Column& end, std::vector<Cell>* from, std::vector<Cell>* to) {
  const auto last = std::partition_point(from->begin(), from->end(), [&](const Cell& cell) {
    return std::tie(cell.family, cell.qualifier) < std::tie(end.first, end.second);
  });
  to->assign(std::make_move_iterator(from->begin()), std::make_move_iterator(last));
  from->erase(from->begin(), last);
}

// A row of cells in one of several sources. The source is read piece by piece, because a row can be
// larger than the memory.
struct PartialRow {
  lsm::RowSource* source = nullptr;  // null if all cells are in `cells`
  lsm::CellRow cells;                // the cells that were read and not taken yet
  bool more = true;                  // whether the source has more pieces of the row

  // Reads until `cells` has several columns or the row ends. The next piece may contain more
  // versions of the last column, so the columns before the last one are complete.
  Status ReadPiece() {
    while (source != nullptr && more && !HasTwoColumns(cells.cells) &&
           !HasTwoColumns(cells.versions)) {
      ASSIGN_OR_RETURN(more, source->TakePiece({}, nullptr, &cells));
    }
    more = more && source != nullptr;
    return {};
  }
  [[nodiscard]] Column LastColumn() const {
    return cells.cells.empty() ? ColumnOf(cells.versions.back()) : ColumnOf(cells.cells.back());
  }
  // Moves the columns before `end` out of `cells`. nullopt means all columns. The result also has
  // CellRow::family_tombstones, because they hide cells of older sources.
  lsm::CellRow Take(const std::optional<Column>& end) {
    if (!end) return std::exchange(cells, {});
    lsm::CellRow taken;
    taken.family_tombstones = cells.family_tombstones;
    MoveColumns(*end, &cells.cells, &taken.cells);
    MoveColumns(*end, &cells.versions, &taken.versions);
    return taken;
  }
};

// Adds a row of cells to a PartSet in ranges of columns.
class RowOfRanges {
 public:
  RowOfRanges(const Bytes& key, PartSet* writer) : key_(key), writer_(writer) {}

  // The columns of `range` must be after those of previous ranges. Each range of a row must have
  // the same tombstones of families.
  Status Add(lsm::CellRow range) {
    if (begun_) range.family_tombstones.clear();
    lsm::AppendPiece(std::move(range), &row_);
    // Small ranges are written together, because each AddColumns begins a new block, and the index
    // keeps the whole name of its first column.
    constexpr size_t kWrittenBytes = 1 << 20;
    return row_.MemoryBytes() < kWrittenBytes ? Status() : Finish();
  }
  Status Finish() {
    if (row_.empty()) return {};
    const lsm::CellRow row = std::exchange(row_, {});
    return std::exchange(begun_, true) ? writer_->AddColumns(key_, row)
                                       : writer_->AddCells(key_, row);
  }

 private:
  const Bytes& key_;
  PartSet* const writer_;
  lsm::CellRow row_;    // columns that are not written yet
  bool begun_ = false;  // whether columns of the row were written
};

// Merges a row from several sources. Reads a piece of the row from each source, calls
// merge(end, &rows) for the columns before `end`, which all sources have read completely, and
// repeats this until the sources are read. In the last call, `end` is nullopt. `merge` takes the
// columns from `rows` and returns them merged.
template <typename Merge>
Status MergeInRanges(const MergeTask& task, const Bytes& key, std::vector<PartialRow> rows,
                     PartSet* writer, const Merge& merge) {
  RowOfRanges out(key, writer);
  std::optional<Column> end;
  do {
    RETURN_IF_ERROR(task.between());
    end.reset();
    for (PartialRow& row : rows) {
      RETURN_IF_ERROR(row.ReadPiece());
      if (!row.more) continue;
      Column read = row.LastColumn();
      if (!end || read < *end) end = std::move(read);
    }
    RETURN_IF_ERROR(out.Add(merge(end, &rows)));
  } while (end);
  return out.Finish();
}

// Merges parts of the points table. Within a salt bucket, both files of a part are ordered by
// metric first; within a metric, points are ordered by series and cells by time. So the metrics are
// merged one after the other. The points of a metric are merged first, together with the cells that
// affect points (compacted and append cells). These cells are held in memory for the whole metric.
// Then the other cells of the metric are merged row by row. The cells of a row are merged piece by
// piece, because annotations and histograms can be larger than the memory.
class PointsMerge {
 public:
  PointsMerge(const KeyLayout& layout, const MergeTask& task, PartSet* writer)
      : layout_(layout),
        task_(task),
        table_(*task.table),
        family_(static_cast<uint8_t>(table_.points_family)),
        bottom_(task.bottom),
        oldest_ms_(OldestSeenMs(table_.families[family_], task.now_ms)),
        writer_(writer) {
    // Region boundaries begin with a salt bucket; the first region has an empty start key.
    salt_ = task.inputs.front().start.substr(0, static_cast<size_t>(layout.salt_width));
    salt_.resize(static_cast<size_t>(layout.salt_width), '\0');
  }

  Status Run() {
    for (const MergeInput& from : task_.inputs) {
      Input& input = inputs_.emplace_back();
      input.sequence = from.part->last_sequence();
      if (from.part->points() != nullptr) {
        input.points = std::make_unique<PointsOfRegion>(layout_, salt_, from);
        RETURN_IF_ERROR(input.NextPoints());
      }
      if (from.part->cells() != nullptr) {
        const auto scan = [&] {
          return lsm::ScanRows(from.part->cells(), from.start, from.stop, lsm::CacheUse::kPast);
        };
        input.point_cells = scan();
        input.cells = scan();
        RETURN_IF_ERROR(input.NextPointCells());
        RETURN_IF_ERROR(input.NextCells());
      }
    }
    while (NextGroup()) {
      RETURN_IF_ERROR(LoadPointCells());
      RETURN_IF_ERROR(MergePoints());
      INVARIANT(point_cells_.empty());  // those of each row were merged with its points
      RETURN_IF_ERROR(MergeCells());
      INVARIANT(merged_cells_.empty());  // those of each row were written with its other cells
    }
    return {};
  }

 private:
  using FileKey = Bytes;  // key in a points file

  [[nodiscard]] size_t GroupWidth() const {
    return static_cast<size_t>(layout_.salt_width + layout_.metric_width);
  }
  [[nodiscard]] ByteView MetricOf(ByteView file_key) const {
    return file_key.substr(0, static_cast<size_t>(layout_.metric_width));
  }
  [[nodiscard]] bool HasExpired(ByteView file_key) const {
    const int64_t base = ReadBig32(file_key.data() + file_key.size() - 4);
    return (base + kRowSpan) * 1000 <= oldest_ms_;
  }
  [[nodiscard]] bool InGroup(const Input& input) const {
    return input.has_points && group_has_points_ && MetricOf(input.points->key()) == group_metric_;
  }
  [[nodiscard]] bool IsOfGroup(ByteView row_key) const {
    return row_key.substr(0, GroupWidth()) == group_;
  }

  bool NextGroup() {
    bool found = false;
    auto offer = [&](Bytes group) {
      if (!found || group < group_) group_ = std::move(group);
      found = true;
    };
    for (const Input& input : inputs_) {
      if (input.has_points) offer(salt_ + Bytes(MetricOf(input.points->key())));
      if (input.has_cells) offer(input.cells->key().substr(0, GroupWidth()));
    }
    if (!found) return false;
    group_has_points_ = ByteView(group_).substr(0, salt_.size()) == salt_;
    group_metric_ = group_has_points_ ? group_.substr(salt_.size()) : Bytes();
    return true;
  }

  Status LoadPointCells() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Input& input = inputs_[i];
      while (input.has_point_cells && IsOfGroup(input.point_cells->key())) {
        RETURN_IF_ERROR(task_.between());
        Bytes tsuid;
        uint32_t base;
        if (IsRegularKey(layout_, input.point_cells->key(), &tsuid, &base)) {
          ASSIGN_OR_RETURN(RowPart part, ReadPointCells(input.point_cells.get()));
          if (!part.empty())
            point_cells_[RowFileKey(layout_, tsuid, base)].emplace_back(i, std::move(part));
        }
        RETURN_IF_ERROR(input.NextPointCells());
      }
    }
    return {};
  }

  // Reads the cells and tombstones of the current row that are merged with points.
  Result<RowPart> ReadPointCells(lsm::RowSource* source) const {
    RowPart all;
    for (bool more = true; more;) {
      lsm::CellRow piece;
      ASSIGN_OR_RETURN(more, source->TakePiece({}, nullptr, &piece));
      RowPart part;
      part.cleared = all.cleared;
      CellsIntoRowPart(family_, &piece, &part);
      KeepCells(true, &part);
      all.cleared = part.cleared;
      std::move(part.raw.begin(), part.raw.end(), std::back_inserter(all.raw));
      std::move(part.gone.begin(), part.gone.end(), std::back_inserter(all.gone));
    }
    return all;
  }

  // Merges the points of the group in file order.
  Status MergePoints() {
    for (;;) {
      const Bytes* least = nullptr;
      for (const Input& input : inputs_) {
        if (InGroup(input) && (least == nullptr || input.points->key() < *least)) {
          least = &input.points->key();
        }
      }
      if (!point_cells_.empty() && (least == nullptr || point_cells_.begin()->first < *least)) {
        least = &point_cells_.begin()->first;
      }
      if (least == nullptr) return {};
      RETURN_IF_ERROR(MergePointRow(Bytes(*least)));
    }
  }

  Status MergePointRow(const FileKey& file_key) {
    RETURN_IF_ERROR(task_.between());
    auto cells = point_cells_.find(file_key);
    size_t holders = 0;
    Input* holder = nullptr;
    for (Input& input : inputs_) {
      if (!input.has_points || input.points->key() != file_key) continue;
      ++holders;
      holder = &input;
    }
    INVARIANT(holders > 0 || cells != point_cells_.end());
    // A row that has only points, and only in one part, is copied unchanged. An expired row is
    // dropped only if no older part may contain it. Otherwise, older data would reappear if the TTL
    // grew.
    if (cells == point_cells_.end() && holders == 1) {
      if (!bottom_ || !HasExpired(file_key)) {
        RETURN_IF_ERROR(writer_->AddEncodedPoints(file_key, holder->points->value()));
      }
      return holder->NextPoints();
    }
    StoredRow row;
    row.regular = true;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      RowPart older;
      bool found = false;
      if (cells != point_cells_.end()) {
        for (auto& [from, part] : cells->second) {
          if (from != i) continue;
          older = std::move(part);
          found = true;
        }
      }
      Input& input = inputs_[i];
      if (input.has_points && input.points->key() == file_key) {
        if (!DecodeFileRow(input.points->value(), input.sequence, &older)) {
          return input.points->Damaged("a row-hour cannot be read");
        }
        RETURN_IF_ERROR(input.NextPoints());
        found = true;
      }
      if (found) row.row_part = points::Merge(std::move(row.row_part), std::move(older));
    }
    if (cells != point_cells_.end()) point_cells_.erase(cells);
    Bytes tsuid;
    uint32_t base;
    if (!SplitRowFileKey(layout_, file_key, &tsuid, &base)) {
      return Status::Corruption("a points file contains an invalid key: " + ToHex(file_key));
    }
    if (bottom_) {
      points::Settle(&row.row_part);
      row.base = base;
      Expire(table_, task_.now_ms, &row);
    }
    if (!row.row_part.points.empty()) {
      RETURN_IF_ERROR(writer_->AddPoints(tsuid, {}, base, row.row_part));
      row.row_part.points.clear();
    }
    row.row_part.cleared = false;  // MergeCellRow writes this tombstone
    if (!row.row_part.empty()) {
      merged_cells_[codec::MakeRowKey(layout_, tsuid, base)] = std::move(row.row_part);
    }
    return {};
  }

  // Merges the cells of the group row by row in the order of their file.
  Status MergeCells() {
    for (;;) {
      const Bytes* least = nullptr;
      for (const Input& input : inputs_) {
        if (input.has_cells && IsOfGroup(input.cells->key()) &&
            (least == nullptr || input.cells->key() < *least)) {
          least = &input.cells->key();
        }
      }
      if (least == nullptr) return {};
      RETURN_IF_ERROR(MergeCellRow(Bytes(*least)));
    }
  }

  Status MergeCellRow(const Bytes& key) {
    std::vector<PartialRow> rows;  // newest first
    for (Input& input : inputs_) {
      if (input.has_cells && input.cells->key() == key) rows.push_back({input.cells.get(), {}});
    }
    PartialRow merged;  // cells that remain after the merge with points
    if (const auto at = merged_cells_.find(key); at != merged_cells_.end()) {
      RowPartIntoCells(family_, at->second, &merged.cells);
      merged_cells_.erase(at);
    }
    RETURN_IF_ERROR(MergeInRanges(task_, key, std::move(rows), writer_,
                                  [&](const std::optional<Column>& end, auto* partial_rows) {
                                    return MergeRange(key, end, partial_rows, &merged);
                                  }));
    for (Input& input : inputs_) {
      if (input.has_cells && input.cells->key() == key) RETURN_IF_ERROR(input.NextCells());
    }
    return {};
  }

  // Takes the columns before `end` and returns them merged.
  lsm::CellRow MergeRange(const Bytes& key, const std::optional<Column>& end,
                          std::vector<PartialRow>* rows, PartialRow* merged) const {
    StoredRow row;
    Bytes tsuid;
    row.regular = IsRegularKey(layout_, key, &tsuid, &row.base);
    for (PartialRow& partial : *rows) {
      StoredRow older;
      older.cells = partial.Take(end);
      if (row.regular) {
        CellsIntoRowPart(family_, &older.cells, &older.row_part);
        KeepCells(false, &older.row_part);
      }
      row = MergeStored(table_, std::move(row), std::move(older));
    }
    if (bottom_) {
      if (row.regular) points::Settle(&row.row_part);
      row.cells.DropTombstones();
      Expire(table_, task_.now_ms, &row);
    }
    RowPartIntoCells(family_, row.row_part, &row.cells);
    // After KeepCells, the cells of the inputs do not affect points, unlike those of `merged`. So
    // no column occurs twice.
    lsm::CellRow of_points = merged->Take(end);
    std::vector<lsm::StoredCell>& cells = row.cells.cells;
    const auto middle = static_cast<ptrdiff_t>(cells.size());
    std::move(of_points.cells.begin(), of_points.cells.end(), std::back_inserter(cells));
    std::inplace_merge(cells.begin(), cells.begin() + middle, cells.end(),
                       [](const lsm::StoredCell& a, const lsm::StoredCell& b) {
                         return std::tie(a.family, a.qualifier) < std::tie(b.family, b.qualifier);
                       });
    return std::move(row.cells);
  }

  const KeyLayout& layout_;
  const MergeTask& task_;
  const Table& table_;
  const uint8_t family_;  // the number of the points family
  const bool bottom_;
  const int64_t oldest_ms_;  // points before this time have expired
  PartSet* const writer_;
  std::vector<Input> inputs_;  // newest first
  Bytes salt_;                 // salt of the region's regular rows
  Bytes group_;                // salt ‖ metric: the prefix of the cells' keys
  Bytes group_metric_;         // metric of the group's points
  bool group_has_points_ = false;
  /// The cells and tombstones of the group that are merged with points: index of input, content.
  std::map<FileKey, std::vector<std::pair<size_t, RowPart>>> point_cells_;
  /// The cells and tombstones that remain after the merge with points, by row key.
  std::map<Bytes, RowPart> merged_cells_;
};

// In tables ordered by time, a tombstone also hides later puts with older timestamps. So it is kept
// for a while after its timestamp.
constexpr int64_t kTombstoneKeptMs = 24 * 3'600'000;

// Tidies the ranges of one row in a table ordered by time. The tombstones of a family are in its
// first range, but they hide cells in all its ranges.
class RowTidier {
 public:
  RowTidier(lsm::Families families, const lsm::TidyOptions& options)
      : families_(families), options_(options) {}

  // Call this function for each range of a row, in order. `whole` tells whether the range is the
  // whole row.
  void Tidy(bool whole, lsm::CellVersions* range) {
    if (range->empty()) return;
    const uint8_t first = range->front().family, last = range->back().family;
    const bool continues = !tombstones_.empty() && tombstones_.front().family == first;
    if (continues) range->insert(range->begin(), tombstones_.begin(), tombstones_.end());
    if (!continues || first != last) {
      tombstones_.clear();
      std::copy_if(range->begin(), range->end(), std::back_inserter(tombstones_),
                   [last](const lsm::CellVersion& cell) { return IsOfFamily(cell, last); });
    }
    options_.whole_row = whole;
    lsm::TidyVersions(families_, options_, range);
    if (continues) {
      std::erase_if(*range, [first](const lsm::CellVersion& c) { return IsOfFamily(c, first); });
    }
  }

 private:
  static bool IsOfFamily(const lsm::CellVersion& cell, uint8_t family) {
    return cell.family == family && lsm::IsFamilyTombstone(cell);
  }

  const lsm::Families families_;
  lsm::TidyOptions options_;
  lsm::CellVersions tombstones_;  // the tombstones of the last family of the previous range
};

Status MergeCells(const MergeTask& task, PartSet* writer) {
  const Table& table = *task.table;
  lsm::TidyOptions tidy;
  tidy.now_ms = task.now_ms;
  if (task.bottom) tidy.tombstones_until_ms = task.now_ms - kTombstoneKeptMs;
  std::vector<std::unique_ptr<lsm::RowSource>> sources;
  for (const auto& [part, start, stop] : task.inputs) {
    if (part->cells() == nullptr) continue;
    sources.push_back(lsm::ScanRows(part->cells(), start, stop, lsm::CacheUse::kPast));
  }
  lsm::MergedRows rows(table.order, std::move(sources));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return {};
    std::vector<PartialRow> partial_rows;
    for (lsm::RowSource* source : rows.Sources()) partial_rows.push_back({source, {}});
    RowTidier tidier(table.families, tidy);
    bool first = true;
    const auto merge = [&](const std::optional<Column>& end, auto* from) {
      lsm::CellRow row;
      for (PartialRow& partial : *from) {
        row = lsm::MergeRows(table.order, std::move(row), partial.Take(end));
      }
      tidier.Tidy(std::exchange(first, false) && !end, &row.versions);
      if (task.bottom && table.order == lsm::CellOrder::kByArrival) row.DropTombstones();
      return row;
    };
    RETURN_IF_ERROR(MergeInRanges(task, rows.key(), std::move(partial_rows), writer, merge));
  }
}

}  // namespace

Status MergeParts(const KeyLayout& layout, const MergeTask& task, PartSet* writer) {
  if (task.table->points_family < 0) return MergeCells(task, writer);
  return PointsMerge(layout, task, writer).Run();
}

}  // namespace hg::engine
