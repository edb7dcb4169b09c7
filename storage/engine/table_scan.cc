#include "storage/engine/table_scan.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "storage/codec/value.h"
#include "storage/engine/table_keys.h"
#include "storage/points/filter_row.h"

namespace hg::engine {
namespace {

size_t SizeOf(const Row& row) {
  size_t bytes = row.key.size();
  for (const Cell& cell : row.cells) bytes += cell.qualifier.size() + cell.value.size();
  return bytes;
}

// The common part of both directions: reads the row at a key, filters it and selects its cells.
class TableCursor : public ScanCursor, public IdleReader {
 public:
  TableCursor(const Engine& engine, const Table& table, const ScanSpec& spec)
      : engine_(engine),
        table_(table),
        spec_(spec),
        columns_(ColumnsOf(spec)),
        batch_(spec.context),
        memory_(spec.context) {}

  Status Next(std::vector<Row>* rows) override {
    rows->clear();
    std::lock_guard lock(mutex_);
    batch_.Remove(batch_.held());
    used_ms_ = engine_.render_options().now_ms;
    size_t bytes = 0;
    while (rows->size() < spec_.batch_rows && bytes < spec_.batch_bytes &&
           given_ < spec_.limit_rows) {
      Row row;
      ASSIGN_OR_RETURN(const bool more, NextRow(&row));
      if (!more) break;
      last_ = row.key;
      if (row.empty() || !points::RowPasses(spec_.filter, row.key, row.cells)) continue;
      points::Strip(spec_, &row.cells);
      ++given_;
      bytes += SizeOf(row);
      rows->push_back(std::move(row));
    }
    return {};
  }
  [[nodiscard]] uint64_t rows_examined() const override { return examined_; }

  /// Pins the version with which the scan begins.
  Status Begin() {
    std::lock_guard lock(mutex_);
    used_ms_ = engine_.render_options().now_ms;
    return Start();
  }

  // An idle cursor must not delay the deletion of merged files (region-store.md Q10).
  void ReleaseIfIdleSince(int64_t time_ms) override {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && used_ms_ <= time_ms) Unpin();
  }

 protected:
  /// Reads the next row that the filter does not reject by its key. Returns false at the end.
  virtual Result<bool> NextRow(Row* row) = 0;
  /// Pins a version, and continues in it after `last_`.
  virtual Status Start() = 0;
  /// Releases the version. The scan continues after `last_` in a newer one.
  virtual void Unpin() = 0;

  /// Counts a row that was read, whether it is returned or not. Reports the work of reading this
  /// row to the request context, and returns the error of the context, if there is one.
  Status Examined() {
    constexpr uint64_t kStepsOfRow = 64;
    ++examined_;
    return memory_.Step(kStepsOfRow);
  }
  [[nodiscard]] lsm::CacheUse cache_use() const {
    return spec_.fill_cache ? lsm::CacheUse::kKeep : lsm::CacheUse::kFind;
  }
  [[nodiscard]] std::vector<Cell> Choose(const StoredRow& stored) const {
    return SelectCells(table_, stored, spec_, columns_, engine_.render_options());
  }

  const Engine& engine_;
  const Table& table_;
  const ScanSpec spec_;
  const lsm::ColumnChoice columns_;
  MemoryTally batch_;          // charged for the rows of one batch; guarded by mutex_
  std::optional<Bytes> last_;  // key of the last row read
  uint64_t examined_ = 0;
  MemoryTally memory_;  // charged for what the cursor holds, except its PointKeys

 private:
  std::mutex mutex_;
  int64_t used_ms_ = 0;
  uint64_t given_ = 0;
};

class ForwardCursor : public TableCursor {
 public:
  ForwardCursor(const Engine& engine, const Table& table, const ScanSpec& spec)
      : TableCursor(engine, table, spec), registration_(engine.readers(), this) {}

 private:
  Status Start() override {
    auto version = engine_.Pin();
    ASSIGN_OR_RETURN(MetricList metrics, ListMetrics(engine_, table_, spec_.family, &memory_));
    // The smallest key after a key is that key with a zero byte appended.
    keys_ = std::make_unique<TableKeys>(engine_, table_, std::move(version), std::move(metrics),
                                        last_ ? *last_ + Bytes(1, 0) : spec_.start, spec_.stop,
                                        spec_.family, spec_.min_ms, cache_use(), spec_.context);
    return {};
  }

  Result<bool> NextRow(Row* row) override {
    if (keys_ == nullptr) RETURN_IF_ERROR(Start());
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, keys_->Next());
      if (!more) return false;
      RETURN_IF_ERROR(Examined());
      if (!points::KeyMayPass(spec_.filter, keys_->key())) {
        Bytes next;
        if (!points::SeekKey(spec_.filter, keys_->key(), &next)) return false;
        if (next > keys_->key()) keys_->Seek(std::move(next));
        continue;
      }
      ASSIGN_OR_RETURN(const StoredRow stored, keys_->Row(columns_, &batch_));
      row->key = keys_->key();
      row->cells = Choose(stored);
      return true;
    }
  }
  void Unpin() override {
    keys_.reset();
    memory_.Remove(memory_.held());
  }

  std::unique_ptr<TableKeys> keys_;
  // The last member is destroyed first, so no other thread calls a partly destroyed cursor.
  const IdleReaders::Registration registration_;
};

// Scans a table in descending order, piece by piece. The keys of a piece are listed in ascending
// order and returned from the end.
class ReverseCursor : public TableCursor {
 public:
  ReverseCursor(const Engine& engine, const Table& table, const ScanSpec& spec)
      : TableCursor(engine, table, spec), registration_(engine.readers(), this) {}

 private:
  Status Start() override {
    keys_.clear();
    cuts_.clear();
    memory_.Remove(memory_.held());
    // The range [start, stop) descends: the greatest key is included, the smallest is not.
    const Bytes low = spec_.stop.empty() ? Bytes() : spec_.stop + Bytes(1, 0);
    high_ = last_ ? *last_ : spec_.start.empty() ? Bytes() : spec_.start + Bytes(1, 0);
    const auto version = engine_.Pin();
    ASSIGN_OR_RETURN(metrics_, ListMetrics(engine_, table_, spec_.family, &memory_));
    ASSIGN_OR_RETURN(cuts_, CutKeys(engine_, table_, *version, metrics_, low, high_, &memory_));
    RETURN_IF_ERROR(memory_.Add(BytesOfKey(low)));
    cuts_.insert(cuts_.begin(), low);
    version_ = version;
    return {};
  }

  Result<bool> NextRow(Row* row) override {
    if (version_ == nullptr) RETURN_IF_ERROR(Start());
    for (;;) {
      while (keys_.empty()) {
        if (cuts_.empty()) return false;
        RETURN_IF_ERROR(ListPiece());
      }
      memory_.Remove(BytesOfKey(keys_.back()));
      row->key = std::move(keys_.back());
      keys_.pop_back();
      RETURN_IF_ERROR(Examined());
      if (!points::KeyMayPass(spec_.filter, row->key)) continue;
      ASSIGN_OR_RETURN(const StoredRow stored,
                       engine_.rows().Read(*version_, table_, row->key,
                                           FilesFor(table_, spec_.family), columns_, &batch_));
      row->cells = Choose(stored);
      return true;
    }
  }

  // Lists the keys of the last piece. If it has too many, it is cut into pieces of kKeysOfPiece
  // keys. The last of them is listed, the others are kept for later.
  Status ListPiece() {
    constexpr size_t kKeysOfPiece = 1 << 16;
    constexpr uint64_t kStepsOfKey = 16, kStepsOfPiece = 64;
    RETURN_IF_ERROR(memory_.Step(kStepsOfPiece));
    Bytes low = std::move(cuts_.back());
    memory_.Remove(BytesOfKey(low));
    cuts_.pop_back();
    if (!high_.empty() && low >= high_) return {};
    TableKeys keys(engine_, table_, version_, metrics_, low, high_, spec_.family, spec_.min_ms,
                   cache_use(), spec_.context);
    int64_t bytes = 0;
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, keys.Next());
      if (!more) break;
      RETURN_IF_ERROR(memory_.Step(kStepsOfKey));
      if (keys_.size() == kKeysOfPiece) {
        keys_.clear();
        memory_.Remove(std::exchange(bytes, 0));
        RETURN_IF_ERROR(memory_.Add(BytesOfKey(low)));
        cuts_.push_back(std::exchange(low, keys.key()));
      }
      const int64_t more_bytes = BytesOfKey(keys.key());
      RETURN_IF_ERROR(memory_.Add(more_bytes));
      bytes += more_bytes;
      keys_.push_back(keys.key());
    }
    high_ = std::move(low);
    return {};
  }

  void Unpin() override { version_.reset(); }

  std::shared_ptr<const Version> version_;
  MetricList metrics_;
  std::vector<Bytes> cuts_;  // start keys of the remaining pieces
  Bytes high_;               // end of the remaining pieces; "" = end of the table
  std::vector<Bytes> keys_;  // keys of the current piece that are not returned yet
  // The last member is destroyed first, so no other thread calls a partly destroyed cursor.
  const IdleReaders::Registration registration_;
};

}  // namespace

lsm::ColumnChoice ColumnsOf(const CellSelection& wanted) {
  return wanted.qualifiers.empty() ? lsm::ColumnChoice() : lsm::ColumnChoice(wanted.qualifiers);
}

std::vector<Cell> SelectCells(const Table& table, const StoredRow& row, const CellSelection& wanted,
                              const lsm::ColumnChoice& columns,
                              const points::RenderOptions& options) {
  const lsm::VersionRange range{wanted.min_ms, wanted.max_ms, wanted.max_versions};
  const auto is_chosen = [&](const Cell& cell) {
    return columns.Has(cell.qualifier) &&
           points::ColumnInRanges(wanted, cell.family, cell.qualifier);
  };
  std::vector<Cell> cells = RenderStored(table, row, options, range);
  std::erase_if(cells, [&](const Cell& cell) { return !is_chosen(cell); });
  if (row.regular && !columns.all() && points::RendersAsOne(row.row_part, row.base, options)) {
    std::vector<Cell> points;
    for (const points::PartPoint& point : row.row_part.points) {
      Cell cell{Bytes(points::kFamily),
                point.qualifier.Encode(),
                {},
                int64_t{row.base} * 1000 + point.offset_ms()};
      if (!is_chosen(cell) || !range.Holds(cell.timestamp_ms) ||
          FindColumn(cells, cell.family, cell.qualifier) != nullptr) {
        continue;
      }
      codec::AppendValue(&cell.value, {point.bits, point.qualifier.flags()});
      points.push_back(std::move(cell));
    }
    cells.insert(cells.end(), std::make_move_iterator(points.begin()),
                 std::make_move_iterator(points.end()));
    std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
      return a.family != b.family ? a.family < b.family : a.qualifier < b.qualifier;
    });
  }
  return cells;
}

Result<std::unique_ptr<ScanCursor>> OpenTableScan(const Engine& engine, const Table& table,
                                                  const ScanSpec& spec) {
  std::unique_ptr<TableCursor> cursor;
  if (spec.reversed) {
    cursor = std::make_unique<ReverseCursor>(engine, table, spec);
  } else {
    cursor = std::make_unique<ForwardCursor>(engine, table, spec);
  }
  RETURN_IF_ERROR(cursor->Begin());
  return std::unique_ptr<ScanCursor>(std::move(cursor));
}

}  // namespace hg::engine
