// Finds series of which the store has no rows left, for example after deletes or expiry.

#include <algorithm>
#include <functional>
#include <utility>

#include "storage/codec/row_key.h"
#include "storage/engine/compactor.h"
#include "storage/engine/row_file.h"
#include "storage/points/render.h"

namespace hg::engine {

/// Searches the rows of series in one version. All series are absent until a row is found.
class Compactor::SeriesSearch {
 public:
  /// Searches the series with numbers below `count`. `hidden` are known to have no rows.
  SeriesSearch(const Compactor& compactor, const Version& version, uint32_t count,
               const NumberSet& hidden)
      : compactor_(compactor), version_(version), registry_(compactor.registry_), absent_(count) {
    for (uint32_t number = 0; number < count; ++number) absent_.Add(number);
    for (const auto& memtable : version.memtables) {
      memtable->rows.ForEachSeries([this](uint32_t number) { absent_.Remove(number); });
    }
    for (uint32_t number = 0; number < count; ++number) {
      if (absent_.Has(number) && !hidden.Has(number)) wanted_.push_back(number);
    }
  }

  Status Run() {
    const Table* const points = compactor_.tables_.points();
    for (const Table* table : compactor_.tables_.All()) {
      if (table->FamilyIndex(points::kFamily) < 0) continue;
      RETURN_IF_ERROR(SearchMemory(*table));
    }
    if (points != nullptr) RETURN_IF_ERROR(SearchPoints(*points));
    for (const auto& [place, parts] : version_.parts) {
      const Table* const table = compactor_.tables_.ById(place.first);
      if (table == nullptr || table->FamilyIndex(points::kFamily) < 0) continue;
      for (const auto& part : parts) {
        if (part->cells() != nullptr) RETURN_IF_ERROR(SearchCells(part->cells()));
      }
    }
    return {};
  }
  /// Returns the series without rows, hidden ones included. Valid after Run.
  [[nodiscard]] const NumberSet& absent() const { return absent_; }
  /// Whether some of them are not hidden yet.
  [[nodiscard]] bool found() const { return !wanted_.empty(); }

 private:
  // Number of rows after which the search looks whether it should end.
  static constexpr size_t kRowsTogether = 256;

  Status CheckOpen() const { return compactor_.env_.CheckOpen(); }

  void Note(ByteView key) {
    const auto tsuid = codec::TsuidOf(compactor_.layout(), key);
    if (!tsuid.ok()) return;  // a row that does not belong to a series
    if (const auto number = registry_.Find(*tsuid)) absent_.Remove(*number);
  }
  void DropFound() {
    std::erase_if(wanted_, [this](uint32_t number) { return !absent_.Has(number); });
  }

  Status SearchMemory(const Table& table) {
    for (const auto& memtable : version_.memtables) {
      const lsm::CellMemory* const cells = memtable->Cells(table.id);
      if (cells == nullptr || wanted_.empty()) continue;
      Bytes after;
      for (bool first = true;; first = false) {
        RETURN_IF_ERROR(CheckOpen());
        std::vector<lsm::KeyedRow> rows;
        cells->Copy(after, !first, "", kRowsTogether, &rows);
        for (const lsm::KeyedRow& row : rows) Note(row.key);
        if (rows.size() < kRowsTogether) break;
        after = rows.back().key;
      }
      DropFound();
    }
    return {};
  }

  // Begins with the newest files, which have rows of most series.
  Status SearchPoints(const Table& table) {
    const KeyLayout& layout = compactor_.layout();
    Parts all;
    for (const auto& [place, parts] : version_.parts) {
      if (place.first == table.id) all.insert(all.end(), parts.begin(), parts.end());
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a->last_sequence() > b->last_sequence();
    });
    std::sort(wanted_.begin(), wanted_.end(), [&](uint32_t a, uint32_t b) {
      return RowFileOrder(layout, registry_.Tsuid(a), registry_.Tsuid(b));
    });
    for (const auto& part : all) {
      if (wanted_.empty()) break;
      if (part->points() == nullptr) continue;
      lsm::BlockFileScan rows(part->points(), "", "", lsm::CacheUse::kFind);
      size_t looked_at = 0;
      for (const uint32_t number : wanted_) {
        if (++looked_at % kRowsTogether == 0) RETURN_IF_ERROR(CheckOpen());
        const Bytes first = RowFileKey(layout, registry_.Tsuid(number), 0);
        rows.Seek(first);
        ASSIGN_OR_RETURN(const bool more, rows.Next());
        if (!more) break;
        const size_t same = first.size() - sizeof(RowHour::base);
        if (rows.key().size() == first.size() &&
            ByteView(rows.key()).substr(0, same) == ByteView(first).substr(0, same)) {
          absent_.Remove(number);
        }
      }
      DropFound();
    }
    return {};
  }

  Status SearchCells(const std::shared_ptr<const lsm::BlockFile>& file) {
    if (wanted_.empty()) return {};
    lsm::BlockFileScan rows(file, "", "", lsm::CacheUse::kPast);
    for (size_t looked_at = 1;; ++looked_at) {
      if (looked_at % kRowsTogether == 0) RETURN_IF_ERROR(CheckOpen());
      ASSIGN_OR_RETURN(const bool more, rows.Next());
      if (!more) break;
      Note(rows.key());
    }
    DropFound();
    return {};
  }

  const Compactor& compactor_;
  const Version& version_;
  const Registry& registry_;
  NumberSet absent_;
  std::vector<uint32_t> wanted_;  // absent series that are not hidden
};

Status Compactor::SweepSeries() {
  MutexLock one_at_a_time(sweep_mutex_);
  RETURN_IF_ERROR(env_.CheckOpen());
  const uint32_t count = memstore_.BeginSweep();
  // Pinned after BeginSweep: a row that is not in this version was written later, so its series is
  // recorded as changed.
  NumberSet absent;
  bool found = false;
  const Status status = Survive([&]() -> Status {
    const auto version = file_set_.Pin();
    SeriesSearch search(*this, *version, count, registry_.Hidden());
    RETURN_IF_ERROR(search.Run());
    found = search.found();
    if (found) absent = search.absent();
    return {};
  });
  memstore_.EndSweep(status.ok() && found ? &absent : nullptr);
  return status;
}

}  // namespace hg::engine
