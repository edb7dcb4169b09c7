#include <algorithm>
#include <limits>
#include <map>

#include "storage/base/invariant.h"
#include "storage/codec/row_key.h"
#include "storage/lsm/cell_file.h"
#include "storage/points/engine.h"
#include "storage/points/row_file.h"
#include "storage/points/run_writer.h"
#include "storage/region/merge_policy.h"

namespace hg::points {
namespace {

size_t CountToMerge(const Runs& runs) {
  std::vector<uint64_t> bytes;
  for (const auto& run : runs) {
    bytes.push_back(run->entry().cells_bytes + run->entry().points_bytes);
  }
  return region::RunsToMerge(bytes);
}

// One run's two streams.
struct Input {
  uint32_t generation = 0;
  std::unique_ptr<lsm::BlockFileScan> points;
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

// Merges runs of the points table. Both files of a run are ordered by bucket and metric first, so
// the cells of one metric are what has to be held to meet the points of their rows.
class PointsMerge {
 public:
  PointsMerge(const Engine& engine, const Table& table, uint32_t region, bool bottom,
              const std::atomic<bool>& stop, RunWriter* writer)
      : engine_(engine), table_(table), bottom_(bottom), stop_(stop), writer_(writer) {
    AppendBig(&salt_, region, engine.layout().salt_width);
  }

  Status Run(const Runs& runs) {
    for (const auto& run : runs) {
      Input& input = inputs_.emplace_back();
      input.generation = run->generation();
      if (run->points() != nullptr) {
        input.points = std::make_unique<lsm::BlockFileScan>(run->points(), "", "");
        RETURN_IF_ERROR(input.NextPoints());
      }
      if (run->cells() != nullptr) {
        input.cells = lsm::ScanRows(run->cells(), "", "");
        RETURN_IF_ERROR(input.NextCells());
      }
    }
    while (NextGroup()) {
      RETURN_IF_ERROR(LoadCells());
      RETURN_IF_ERROR(MergePoints());
      RETURN_IF_ERROR(MergeOtherRows());
      for (const auto& [key, row] : out_cells_) RETURN_IF_ERROR(writer_->AddCells(key, row));
      out_cells_.clear();
    }
    return {};
  }

 private:
  using FileKey = Bytes;  // of a row file
  struct Held {
    Bytes key;
    bool regular = false;
    std::vector<std::pair<size_t, lsm::CellRow>> rows;  // by input, newest first
  };

  [[nodiscard]] size_t GroupWidth() const {
    return static_cast<size_t>(engine_.layout().salt_width + engine_.layout().metric_width);
  }
  [[nodiscard]] ByteView MetricOf(ByteView file_key) const {
    return file_key.substr(0, static_cast<size_t>(engine_.layout().metric_width));
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
        const bool regular = IsRegularKey(engine_.layout(), key, &tsuid, &base);
        Held& held =
            regular ? regular_[RowFileKey(engine_.layout(), tsuid, base)] : irregular_[key];
        held.key = key;
        held.regular = regular;
        held.rows.emplace_back(i, input.cells->TakeRow());
        RETURN_IF_ERROR(input.NextCells());
      }
    }
    return {};
  }

  // The points of the group in file order, and with them the regular rows of cells that stand
  // before or with them.
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
    if (stop_) return Status::Unavailable("the store is closed");
    auto cells = regular_.find(file_key);
    size_t holders = 0;
    Input* holder = nullptr;
    for (Input& input : inputs_) {
      if (!input.has_points || input.points->key() != file_key) continue;
      ++holders;
      holder = &input;
    }
    // A row of points in one run only is moved as it is.
    if (cells == regular_.end() && holders == 1) {
      RETURN_IF_ERROR(writer_->AddEncodedPoints(file_key, holder->points->value()));
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
          CellsIntoPart(static_cast<uint8_t>(table_.points_family), &older.cells, &older.part);
          found = true;
        }
      }
      Input& input = inputs_[i];
      if (input.has_points && input.points->key() == file_key) {
        if (!DecodeFileRow(input.points->value(), input.generation, &older.part)) {
          return input.points->Damaged("a row-hour cannot be read");
        }
        RETURN_IF_ERROR(input.NextPoints());
        found = true;
      }
      if (found) row = MergeStored(table_, std::move(row), std::move(older));
    }
    Bytes tsuid;
    uint32_t base;
    if (!SplitRowFileKey(engine_.layout(), file_key, &tsuid, &base)) {
      return Status::Corruption("a points file holds the key " + ToHex(file_key));
    }
    if (bottom_) {
      Settle(&row.part);
      row.cells.DropMarks();
    }
    PartIntoCells(static_cast<uint8_t>(table_.points_family), row.part, &row.cells);
    if (!row.cells.empty()) {
      out_cells_[codec::MakeRowKey(engine_.layout(), tsuid, base)] = std::move(row.cells);
    }
    if (cells != regular_.end()) regular_.erase(cells);
    if (row.part.points.empty()) return {};
    return writer_->AddPoints(tsuid, base, row.part);
  }

  Status MergeOtherRows() {
    for (auto& [key, held] : irregular_) {
      lsm::CellRow row;
      for (auto& [from, older] : held.rows) {
        row = lsm::MergeRows(table_.order(), std::move(row), std::move(older));
      }
      if (bottom_) row.DropMarks();
      if (!row.empty()) out_cells_[key] = std::move(row);
    }
    return {};
  }

  const Engine& engine_;
  const Table& table_;
  const bool bottom_;
  const std::atomic<bool>& stop_;
  RunWriter* const writer_;
  std::vector<Input> inputs_;  // newest first
  Bytes salt_;                 // of the region's regular rows
  Bytes group_;                // salt ‖ metric, as the keys of the cells begin
  Bytes group_metric_;         // of the points that belong to it
  bool group_has_points_ = false;
  std::map<FileKey, Held> regular_;
  std::map<Bytes, Held> irregular_;
  std::map<Bytes, lsm::CellRow> out_cells_;
};

// By time a mark also hides what is put later with an older time, so it stays for a while after its
// moment.
constexpr int64_t kMarkKeptMs = 24 * 3'600'000;

Status MergeCells(const Table& table, const Runs& runs, bool bottom, int64_t now_ms,
                  RunWriter* writer) {
  const int64_t mark_end = table.order() == lsm::CellOrder::kByTime
                               ? now_ms - kMarkKeptMs
                               : std::numeric_limits<int64_t>::max();
  std::vector<std::unique_ptr<lsm::RowSource>> sources;
  for (const auto& run : runs) {
    if (run->cells() != nullptr) sources.push_back(lsm::ScanRows(run->cells(), "", ""));
  }
  const auto rows = lsm::MergeSources(table.order(), std::move(sources));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows->Next());
    if (!more) return {};
    lsm::CellRow row = rows->TakeRow();
    if (bottom) row.DropMarks(mark_end);
    if (!row.empty()) RETURN_IF_ERROR(writer->AddCells(rows->key(), row));
  }
}

}  // namespace

void Engine::MergeLoop() {
  std::unique_lock lock(background_mutex_);
  while (!stop_) {
    background_wake_.wait(lock, [this] { return stop_ || merge_wanted_; });
    if (stop_) return;
    merge_wanted_ = false;
    lock.unlock();
    const Status status = MergeSome();
    lock.lock();
    merge_error_ = status.ok() ? "" : status.ToString();
  }
}

// Merges where there are enough runs of a tier, in one region after the other.
Status Engine::MergeSome() {
  std::lock_guard merging(merging_);
  for (bool again = true; again && !closed_;) {
    again = false;
    const auto version = Pin();
    for (const auto& [place, runs] : version->runs) {
      const size_t count = CountToMerge(runs);
      if (count == 0) continue;
      RETURN_IF_ERROR(MergeRegion(place.first, place.second, count));
      again = true;
    }
  }
  return {};
}

// The newest `count` runs of the region, without keeping flushes from adding newer ones meanwhile.
Status Engine::MergeRegion(uint32_t table_id, uint32_t region, size_t count) {
  const auto before = Pin();
  const Runs& all = before->RunsOf(table_id, region);
  const Runs merged(all.begin(), all.begin() + static_cast<ptrdiff_t>(count));
  lsm::RunEntry entry;
  entry.table = table_id;
  entry.region = region;
  entry.number = next_number_++;
  entry.first_sequence = merged.back()->entry().first_sequence;
  entry.last_sequence = merged.front()->entry().last_sequence;
  if (Status status = WriteMerged(table_id, merged, count == all.size(), &entry); !status.ok()) {
    RemoveRunFiles(entry.number);
    return Prepend(status, "merge");
  }

  {
    std::lock_guard maintenance(maintenance_);
    auto version = std::make_shared<Version>(*Pin());
    lsm::Manifest manifest = manifest_;
    std::erase_if(manifest.runs, [&](const lsm::RunEntry& run) {
      return std::any_of(merged.begin(), merged.end(),
                         [&](const auto& gone) { return gone->entry().number == run.number; });
    });
    Runs& runs = version->runs[{table_id, region}];
    auto at = std::find(runs.begin(), runs.end(), merged.front());
    INVARIANT(static_cast<size_t>(runs.end() - at) >= count);
    at = runs.erase(at, at + static_cast<ptrdiff_t>(count));
    if (entry.cells_bytes > 0 || entry.points_bytes > 0) {
      ASSIGN_OR_RETURN(auto run, Run::Open(files_, options_.path, entry));
      runs.insert(at, std::move(run));
      manifest.runs.push_back(entry);
    }
    RETURN_IF_ERROR(Publish(std::move(manifest), std::move(version)));
  }
  for (const auto& run : merged) run->Retire();
  ++merges_;
  return {};
}

Status Engine::WriteMerged(uint32_t table_id, const Runs& runs, bool bottom, lsm::RunEntry* entry) {
  RunWriter writer(files_, options_.path, layout(), entry->number);
  const Table* table = TableById(table_id);
  if (table != nullptr && table->points_family >= 0) {
    RETURN_IF_ERROR(PointsMerge(*this, *table, entry->region, bottom, closed_, &writer).Run(runs));
  } else {
    static const Table kSeries;
    RETURN_IF_ERROR(
        MergeCells(table != nullptr ? *table : kSeries, runs, bottom, clock_.NowMs(), &writer));
  }
  return writer.Finish(entry);
}

Status Engine::Compact() {
  std::lock_guard merging(merging_);
  RETURN_IF_ERROR(CheckOpen());
  const auto version = Pin();
  for (const auto& [place, runs] : version->runs) {
    // One run, too, may hold marks, or compacted cells that now become points.
    if (!runs.empty()) {
      RETURN_IF_ERROR(
          MergeRegion(place.first, place.second, Pin()->RunsOf(place.first, place.second).size()));
    }
  }
  return {};
}

Status Engine::Check() {
  const auto version = Pin();
  for (const auto& [place, runs] : version->runs) {
    for (const auto& run : runs) {
      if (run->cells() != nullptr) RETURN_IF_ERROR(lsm::BlockFile::Check(run->cells()));
      if (run->points() != nullptr) RETURN_IF_ERROR(lsm::BlockFile::Check(run->points()));
    }
  }
  return {};
}

}  // namespace hg::points
