#include "storage/engine/merge_parts.h"

#include <algorithm>
#include <limits>
#include <map>

#include "storage/base/invariant.h"
#include "storage/codec/row_key.h"
#include "storage/engine/row_file.h"
#include "storage/lsm/cell_file.h"

namespace hg::engine {
namespace {

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
      // A region boundary never continues after the base time, so the pairs need not be compared.
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

// The points and the cells of one input.
struct Input {
  uint32_t sequence = 0;
  std::unique_ptr<PointsOfRegion> points;
  bool has_points = false;
  std::unique_ptr<lsm::RowSource> cells;
  bool has_cells = false;

  Status NextPoints() {
    ASSIGN_OR_RETURN(has_points, points->Next());
    return {};
  }
  Status NextCells() {
    ASSIGN_OR_RETURN(has_cells, cells->Next());
    return {};
  }
};

// Merges parts of the points table. Within a salt bucket, both files of a part are ordered by
// metric first. So only the cells of one metric are held in memory to merge them with the points of
// their rows.
class PointsMerge {
 public:
  PointsMerge(const KeyLayout& layout, const MergeTask& task, PartSet* writer)
      : layout_(layout),
        task_(task),
        table_(*task.table),
        bottom_(task.bottom),
        oldest_ms_(
            OldestSeenMs(table_.families[static_cast<size_t>(table_.points_family)], task.now_ms)),
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
        input.cells =
            lsm::ScanRows(from.part->cells(), from.start, from.stop, lsm::CacheUse::kPast);
        RETURN_IF_ERROR(input.NextCells());
      }
    }
    while (NextGroup()) {
      RETURN_IF_ERROR(LoadCells());
      RETURN_IF_ERROR(MergePoints());
      INVARIANT(regular_.empty());  // each row of cells was written with its points
      RETURN_IF_ERROR(MergeOtherRows());
      for (const auto& [key, row] : out_cells_) RETURN_IF_ERROR(writer_->AddCells(key, row));
      out_cells_.clear();
    }
    return {};
  }

 private:
  using FileKey = Bytes;  // key in a points file
  struct Held {
    Bytes key;
    bool regular = false;
    std::vector<std::pair<size_t, lsm::CellRow>> rows;  // index of input, cells; newest first
  };

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

  Status LoadCells() {
    regular_.clear();
    irregular_.clear();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Input& input = inputs_[i];
      while (input.has_cells && input.cells->key().substr(0, GroupWidth()) == group_) {
        const Bytes& key = input.cells->key();
        Bytes tsuid;
        uint32_t base;
        const bool regular = IsRegularKey(layout_, key, &tsuid, &base);
        Held& held = regular ? regular_[RowFileKey(layout_, tsuid, base)] : irregular_[key];
        held.key = key;
        held.regular = regular;
        ASSIGN_OR_RETURN(lsm::CellRow row, input.cells->TakeRow());
        held.rows.emplace_back(i, std::move(row));
        RETURN_IF_ERROR(input.NextCells());
      }
    }
    return {};
  }

  // Merges the points of the group in file order. Cells of regular rows are written with them, when
  // their rows sort before or are equal to a row of points.
  Status MergePoints() {
    for (;;) {
      const Bytes* least = nullptr;
      for (const Input& input : inputs_) {
        if (InGroup(input) && (least == nullptr || input.points->key() < *least)) {
          least = &input.points->key();
        }
      }
      if (!regular_.empty() && (least == nullptr || regular_.begin()->first < *least)) {
        least = &regular_.begin()->first;
      }
      if (least == nullptr) return {};
      RETURN_IF_ERROR(MergeRow(Bytes(*least)));
    }
  }

  Status MergeRow(const FileKey& file_key) {
    RETURN_IF_ERROR(task_.between());
    auto cells = regular_.find(file_key);
    size_t holders = 0;
    Input* holder = nullptr;
    for (Input& input : inputs_) {
      if (!input.has_points || input.points->key() != file_key) continue;
      ++holders;
      holder = &input;
    }
    INVARIANT(holders > 0 || cells != regular_.end());
    // A row that has only points, of one part only, is copied unchanged. Expired rows are dropped
    // only if no older part of them exists; otherwise older data would reappear if the TTL grew.
    if (cells == regular_.end() && holders == 1) {
      if (!bottom_ || !HasExpired(file_key)) {
        RETURN_IF_ERROR(writer_->AddEncodedPoints(file_key, holder->points->value()));
      }
      return holder->NextPoints();
    }
    StoredRow row;
    row.regular = true;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      StoredRow older;
      older.regular = true;
      bool found = false;
      if (cells != regular_.end()) {
        for (auto& [from, stored] : cells->second.rows) {
          if (from != i) continue;
          older.cells = std::move(stored);
          CellsIntoRowPart(static_cast<uint8_t>(table_.points_family), &older.cells,
                           &older.row_part);
          found = true;
        }
      }
      Input& input = inputs_[i];
      if (input.has_points && input.points->key() == file_key) {
        if (!DecodeFileRow(input.points->value(), input.sequence, &older.row_part)) {
          return input.points->Damaged("a row-hour cannot be read");
        }
        RETURN_IF_ERROR(input.NextPoints());
        found = true;
      }
      if (found) row = MergeStored(table_, std::move(row), std::move(older));
    }
    Bytes tsuid;
    uint32_t base;
    if (!SplitRowFileKey(layout_, file_key, &tsuid, &base)) {
      return Status::Corruption("a points file holds the key " + ToHex(file_key));
    }
    if (bottom_) {
      points::Settle(&row.row_part);
      row.cells.DropTombstones();
      row.base = base;
      Expire(table_, task_.now_ms, &row);
    }
    RowPartIntoCells(static_cast<uint8_t>(table_.points_family), row.row_part, &row.cells);
    if (!row.cells.empty()) {
      out_cells_[codec::MakeRowKey(layout_, tsuid, base)] = std::move(row.cells);
    }
    if (cells != regular_.end()) regular_.erase(cells);
    if (row.row_part.points.empty()) return {};
    return writer_->AddPoints(tsuid, {}, base, row.row_part);
  }

  Status MergeOtherRows() {
    for (auto& [key, held] : irregular_) {
      lsm::CellRow row;
      for (auto& [from, older] : held.rows) {
        row = lsm::MergeRows(table_.order, std::move(row), std::move(older));
      }
      if (bottom_) {
        row.DropTombstones();
        StoredRow stored;
        stored.cells = std::move(row);
        Expire(table_, task_.now_ms, &stored);
        row = std::move(stored.cells);
      }
      if (!row.empty()) out_cells_[key] = std::move(row);
    }
    return {};
  }

  const KeyLayout& layout_;
  const MergeTask& task_;
  const Table& table_;
  const bool bottom_;
  const int64_t oldest_ms_;  // points before this time have expired
  PartSet* const writer_;
  std::vector<Input> inputs_;  // newest first
  Bytes salt_;                 // of the region's regular rows
  Bytes group_;                // salt ‖ metric: the prefix of the cells' keys
  Bytes group_metric_;         // metric of the group's points
  bool group_has_points_ = false;
  std::map<FileKey, Held> regular_;
  std::map<Bytes, Held> irregular_;
  std::map<Bytes, lsm::CellRow> out_cells_;
};

// In tables ordered by time, a tombstone also hides later puts with older timestamps. So it is kept
// for a while after its timestamp.
constexpr int64_t kTombstoneKeptMs = 24 * 3'600'000;

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
    RETURN_IF_ERROR(task.between());
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return {};
    ASSIGN_OR_RETURN(lsm::CellRow row, rows.TakeRow());
    if (table.order == lsm::CellOrder::kByTime) {
      lsm::TidyVersions(table.families, tidy, &row.versions);
    } else if (task.bottom) {
      row.DropTombstones();
    }
    if (!row.empty()) RETURN_IF_ERROR(writer->AddCells(rows.key(), row));
  }
}

}  // namespace

Status MergeParts(const KeyLayout& layout, const MergeTask& task, PartSet* writer) {
  if (task.table->points_family < 0) return MergeCells(task, writer);
  return PointsMerge(layout, task, writer).Run();
}

}  // namespace hg::engine
