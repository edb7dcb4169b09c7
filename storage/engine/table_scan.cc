#include "storage/engine/table_scan.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "storage/codec/value.h"
#include "storage/engine/table_keys.h"
#include "storage/points/filter_row.h"

namespace hg::points {
namespace {

size_t SizeOf(const Row& row) {
  size_t bytes = row.key.size();
  for (const Cell& cell : row.cells) bytes += cell.qualifier.size() + cell.value.size();
  return bytes;
}

// What both directions share: the row at a key, filtered and cut to what is wanted.
class TableCursor : public ScanCursor, public IdleReader {
 public:
  TableCursor(const Engine& engine, const Table& table, const ScanSpec& spec)
      : engine_(engine), table_(table), spec_(spec) {}

  Status Next(std::vector<Row>* rows) override {
    rows->clear();
    std::lock_guard lock(mutex_);
    used_ms_ = engine_.render_options().now_ms;
    size_t bytes = 0;
    while (rows->size() < spec_.batch_rows && bytes < spec_.batch_bytes &&
           given_ < spec_.limit_rows) {
      Row row;
      ASSIGN_OR_RETURN(const bool more, NextRow(&row));
      if (!more) break;
      last_ = row.key;
      if (row.empty() || !RowPasses(spec_.filter, row.key, row.cells)) continue;
      Strip(spec_, &row.cells);
      ++given_;
      bytes += SizeOf(row);
      rows->push_back(std::move(row));
    }
    return {};
  }
  [[nodiscard]] uint64_t rows_examined() const override { return examined_; }

  /// Takes the version that the scan begins with.
  void Begin() {
    std::lock_guard lock(mutex_);
    used_ms_ = engine_.render_options().now_ms;
    Start();
  }

  // A cursor that nobody moves must not keep files that are merged away (spec region-store.md Q10).
  void ReleaseIfIdleSince(int64_t time_ms) override {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && used_ms_ <= time_ms) Unpin();
  }

 protected:
  /// The next row that the filter does not rule out by its key; false at the end.
  virtual Result<bool> NextRow(Row* row) = 0;
  /// Pins a version, to go on behind `last_` in it.
  virtual void Start() = 0;
  /// Lets go of the version; goes on behind `last_` with a newer one.
  virtual void Unpin() = 0;

  [[nodiscard]] lsm::CacheUse cache_use() const {
    return spec_.fill_cache ? lsm::CacheUse::kKeep : lsm::CacheUse::kFind;
  }
  [[nodiscard]] std::vector<Cell> Choose(const StoredRow& stored) const {
    return SelectCells(table_, stored, spec_, engine_.render_options());
  }

  const Engine& engine_;
  const Table& table_;
  const ScanSpec spec_;
  std::optional<Bytes> last_;  // key of the last row looked at
  uint64_t examined_ = 0;

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
  void Start() override {
    // The first key behind another one is that with a zero byte more.
    keys_ = std::make_unique<TableKeys>(engine_, table_, engine_.Pin(),
                                        last_ ? *last_ + Bytes(1, 0) : spec_.start, spec_.stop,
                                        spec_.family, spec_.min_ms, cache_use());
  }

  Result<bool> NextRow(Row* row) override {
    if (keys_ == nullptr) Start();
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, keys_->Next());
      if (!more) return false;
      ++examined_;
      if (!KeyMayPass(spec_.filter, keys_->key())) {
        Bytes next;
        if (!SeekKey(spec_.filter, keys_->key(), &next)) return false;
        if (next > keys_->key()) keys_->Seek(std::move(next));
        continue;
      }
      ASSIGN_OR_RETURN(const StoredRow stored, keys_->Row());
      row->key = keys_->key();
      row->cells = Choose(stored);
      return true;
    }
  }
  void Unpin() override { keys_.reset(); }

  std::unique_ptr<TableKeys> keys_;
  const IdleReaders::Registration registration_;  // last: nobody calls while the rest is destroyed
};

// Goes from piece to piece downwards; the keys of one are listed upwards and given from their end.
class ReverseCursor : public TableCursor {
 public:
  ReverseCursor(const Engine& engine, const Table& table, const ScanSpec& spec)
      : TableCursor(engine, table, spec), registration_(engine.readers(), this) {}

 private:
  void Start() override {
    version_ = engine_.Pin();
    // [start, stop) the other way round: the greatest key is given, the least is not.
    const Bytes low = spec_.stop.empty() ? Bytes() : spec_.stop + Bytes(1, 0);
    high_ = last_ ? *last_ : spec_.start.empty() ? Bytes() : spec_.start + Bytes(1, 0);
    cuts_ = CutKeys(engine_, table_, *version_, low, high_);
    cuts_.insert(cuts_.begin(), low);
    keys_.clear();
  }

  Result<bool> NextRow(Row* row) override {
    if (version_ == nullptr) Start();
    for (;;) {
      while (keys_.empty()) {
        if (cuts_.empty()) return false;
        RETURN_IF_ERROR(ListPiece());
      }
      row->key = std::move(keys_.back());
      keys_.pop_back();
      ++examined_;
      if (!KeyMayPass(spec_.filter, row->key)) continue;
      ASSIGN_OR_RETURN(const StoredRow stored,
                       engine_.Read(*version_, table_, row->key, FilesFor(table_, spec_.family)));
      row->cells = Choose(stored);
      return true;
    }
  }

  Status ListPiece() {
    const Bytes low = std::move(cuts_.back());
    cuts_.pop_back();
    if (!high_.empty() && low >= high_) return {};
    TableKeys keys(engine_, table_, version_, low, high_, spec_.family, spec_.min_ms, cache_use());
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, keys.Next());
      if (!more) break;
      keys_.push_back(keys.key());
    }
    high_ = low;
    return {};
  }

  void Unpin() override { version_.reset(); }

  std::shared_ptr<const Version> version_;
  std::vector<Bytes> cuts_;                       // where the pieces begin that are still to come
  Bytes high_;                                    // their end; "" = the table's
  std::vector<Bytes> keys_;                       // of the current piece, still to be given
  const IdleReaders::Registration registration_;  // last: nobody calls while the rest is destroyed
};

}  // namespace

std::vector<Cell> SelectCells(const Table& table, const StoredRow& row, const CellSelection& wanted,
                              const RenderOptions& options) {
  const lsm::VersionRange range{wanted.min_ms, wanted.max_ms, wanted.max_versions};
  std::vector<Cell> cells = RenderStored(table, row, options, range);
  if (row.regular && !wanted.qualifiers.empty() && RendersAsOne(row.part, row.base, options)) {
    for (const PartPoint& point : row.part.points) {
      Cell cell{Bytes(kFamily),
                point.qualifier.Encode(),
                {},
                int64_t{row.base} * 1000 + point.offset_ms()};
      const bool shown = std::any_of(cells.begin(), cells.end(), [&](const Cell& other) {
        return other.family == cell.family && other.qualifier == cell.qualifier;
      });
      if (shown || !range.Holds(cell.timestamp_ms) ||
          !ColumnChosen(wanted, cell.family, cell.qualifier)) {
        continue;
      }
      codec::AppendValue(&cell.value, {point.bits, point.qualifier.flags()});
      cells.push_back(std::move(cell));
    }
    std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
      return a.family != b.family ? a.family < b.family : a.qualifier < b.qualifier;
    });
  }
  std::erase_if(
      cells, [&](const Cell& cell) { return !ColumnChosen(wanted, cell.family, cell.qualifier); });
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
  cursor->Begin();
  return std::unique_ptr<ScanCursor>(std::move(cursor));
}

}  // namespace hg::points
