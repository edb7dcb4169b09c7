// Finds series without stored rows, for example after deletes or expiry. Forgets these series, and
// removes them from the list of series. Moves other series from memory to mapped files.

#include <malloc.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <roaring/roaring.hh>
#include <set>
#include <utility>

#include "storage/codec/row_key.h"
#include "storage/engine/compactor.h"
#include "storage/engine/day_index.h"
#include "storage/engine/readable_rows.h"
#include "storage/engine/row_file.h"
#include "storage/engine/stored_row.h"
#include "storage/points/render.h"

namespace hg::engine {
namespace {

// The list of series is written again when at least 1/kOutdatedShare of its series are forgotten.
constexpr uint64_t kOutdatedShare = 8;

}  // namespace

/// Searches the rows of series in one version. A series is absent until one of its rows is found.
class Compactor::SeriesSearch {
 public:
  /// Searches the series with numbers below `count`, except those that were forgotten already.
  SeriesSearch(const Compactor& compactor, const Version& version, uint32_t count)
      : compactor_(compactor), version_(version), registry_(compactor.registry_), absent_(count) {
    const auto forgotten = registry_.Forgotten();
    for (uint32_t number = 0; number < count; ++number) {
      if (!forgotten->Has(number)) absent_.Add(number);
    }
    for (const auto& memtable : version.memtables) {
      memtable->rows.ForEachSeries([this](uint32_t number) { absent_.Remove(number); });
    }
  }

  // The day indexes come first, because they name almost all series at little cost.
  Status Run() {
    const Table* const points = compactor_.tables_.points();
    if (points != nullptr) RETURN_IF_ERROR(SearchIndexes(*points));
    for (const Table* table : compactor_.tables_.All()) {
      if (table->FamilyIndex(points::kFamily) < 0) continue;
      RETURN_IF_ERROR(SearchMemory(*table));
    }
    RETURN_IF_ERROR(SearchPoints());
    for (const auto& [place, parts] : version_.parts) {
      const Table* const table = compactor_.tables_.ById(place.first);
      if (table == nullptr || table == points || table->FamilyIndex(points::kFamily) < 0) continue;
      for (const auto& part : parts) {
        if (part->cells() != nullptr) RETURN_IF_ERROR(SearchCells(part->cells()));
      }
    }
    for (const auto& file : cells_without_index_) RETURN_IF_ERROR(SearchCells(file));
    return {};
  }
  /// Returns the series without rows. Valid after Run.
  [[nodiscard]] const NumberSet& absent() const { return absent_; }
  /// Returns whether there are series without rows.
  [[nodiscard]] bool found() const { return absent_.Any(); }

 private:
  // Number of rows after which the search checks whether the store is still open.
  static constexpr size_t kRowsTogether = 256;

  Status CheckOpen() const { return compactor_.env_.CheckOpen(); }

  void Note(ByteView key) {
    const auto tsuid = codec::TsuidOf(compactor_.layout(), key);
    if (!tsuid.ok()) return;  // a row that does not belong to a series
    if (const auto number = registry_.Find(*tsuid)) absent_.Remove(*number);
  }

  // A day index names exactly the series that have rows in its file, except loose rows. Begins with
  // the newest files, which have rows of most series.
  Status SearchIndexes(const Table& table) {
    Parts all;
    std::set<const PartFiles*> seen;
    for (const auto& [place, parts] : version_.parts) {
      if (place.first != table.id) continue;
      for (const auto& part : parts) {
        if (seen.insert(part->files().get()).second) all.push_back(part);
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a->last_sequence() > b->last_sequence();
    });
    for (const auto& part : all) {
      for (const auto* file : {&part->points(), &part->cells()}) {
        if (*file == nullptr || !absent_.Any()) continue;
        RETURN_IF_ERROR(CheckOpen());
        const auto index =
            part->files()->DayIndexOf(**file, registry_, lsm::CacheUse::kPast, nullptr);
        Roaring series;
        const bool indexed =
            index.ok() && *index != nullptr && AddSeriesOfDays(**index, 0, UINT32_MAX, &series);
        for (const uint32_t number : series) absent_.Remove(number);
        if (file == &part->points()) {
          if (!indexed) points_without_index_.push_back(part);
        } else if (!indexed || part->rows().loose) {
          cells_without_index_.push_back(*file);
        }
      }
    }
    return {};
  }

  Status SearchMemory(const Table& table) {
    for (const auto& memtable : version_.memtables) {
      const lsm::CellMemory* const cells = memtable->Cells(table.id);
      if (cells == nullptr || !absent_.Any()) continue;
      Bytes after;
      for (bool first = true;; first = false) {
        RETURN_IF_ERROR(CheckOpen());
        std::vector<lsm::KeyedRow> rows;
        cells->Copy(after, !first, "", kRowsTogether, &rows);
        for (const lsm::KeyedRow& row : rows) Note(row.key);
        if (rows.size() < kRowsTogether) break;
        after = rows.back().key;
      }
    }
    return {};
  }

  // Searches the rows of files without a day index, the newest files first.
  Status SearchPoints() {
    if (points_without_index_.empty()) return {};
    const KeyLayout& layout = compactor_.layout();
    const auto tsuids = registry_.tsuids();
    std::vector<uint32_t> wanted;  // the numbers in absent_
    for (uint32_t number = 0; number < absent_.end(); ++number) {
      if (absent_.Has(number)) wanted.push_back(number);
    }
    std::sort(wanted.begin(), wanted.end(), [&](uint32_t a, uint32_t b) {
      return RowFileOrder(layout, tsuids->Tsuid(a), tsuids->Tsuid(b));
    });
    for (const auto& part : points_without_index_) {
      if (wanted.empty()) break;
      lsm::BlockFileScan rows(part->points(), "", "", lsm::CacheUse::kFind);
      size_t looked_at = 0;
      for (const uint32_t number : wanted) {
        if (++looked_at % kRowsTogether == 0) RETURN_IF_ERROR(CheckOpen());
        const Bytes first = RowFileKey(layout, tsuids->Tsuid(number), 0);
        rows.Seek(first);
        ASSIGN_OR_RETURN(const bool more, rows.Next());
        if (!more) break;
        const size_t same = first.size() - sizeof(RowHour::base);
        if (rows.key().size() == first.size() &&
            ByteView(rows.key()).substr(0, same) == ByteView(first).substr(0, same)) {
          absent_.Remove(number);
        }
      }
      std::erase_if(wanted, [this](uint32_t number) { return !absent_.Has(number); });
    }
    return {};
  }

  Status SearchCells(const std::shared_ptr<const lsm::BlockFile>& file) {
    if (!absent_.Any()) return {};
    lsm::BlockFileScan rows(file, "", "", lsm::CacheUse::kPast);
    for (size_t looked_at = 1;; ++looked_at) {
      if (looked_at % kRowsTogether == 0) RETURN_IF_ERROR(CheckOpen());
      ASSIGN_OR_RETURN(const bool more, rows.Next());
      if (!more) break;
      Note(rows.key());
    }
    return {};
  }

  const Compactor& compactor_;
  const Version& version_;
  const Registry& registry_;
  NumberSet absent_;
  // Files with rows that no day index names, the newest first.
  Parts points_without_index_;
  std::vector<std::shared_ptr<const lsm::BlockFile>> cells_without_index_;
};

Status Compactor::SweepSeries() {
  MutexLock one_at_a_time(sweep_mutex_);
  RETURN_IF_ERROR(env_.CheckOpen());
  const uint32_t recorded = memstore_.BeginSweep();
  // Both steps may fail alone: neither a damaged file nor a full disk keeps the other step from
  // freeing memory.
  std::optional<Memstore::Swept> swept;
  Status searched, mapped;
  const Status status = Survive([&]() -> Status {
    // The version is pinned after BeginSweep. A row that is not in this version was written later,
    // so its series is recorded as changed.
    const auto version = file_set_.Pin();
    // Only series that are in files are searched. Newer series are in the log. If they were
    // forgotten, a start would register them again.
    const uint32_t in_files = std::min(recorded, version->memtables.back()->series_begin);
    const MappedRanges before = registry_.mapped();
    Memstore::Swept found{{}, before};
    bool any = false;
    mapped = Survive([&]() -> Status {
      // Series that are absent now may change before EndSweep, so they are written, too.
      ASSIGN_OR_RETURN(
          MappedRanges ranges,
          registry_.MapSeries(env_.files, env_.options.path, in_files, *registry_.Forgotten(),
                              [this] { return env_.CheckOpen(); }));
      any = ranges.end != before.end || ranges.ranges.size() != before.ranges.size();
      found.mapped = std::move(ranges);
      return {};
    });
    searched = Survive([&]() -> Status {
      SeriesSearch search(*this, *version, in_files);
      RETURN_IF_ERROR(search.Run());
      if (!search.found()) return {};
      found.absent = search.absent();
      any = true;
      return {};
    });
    if (any) swept = std::move(found);
    return {};
  });
  memstore_.EndSweep(swept ? &*swept : nullptr);
  RETURN_IF_ERROR(status);
  // The old index and TSUIDs were small blocks among other blocks, so free() does not return their
  // pages to the system.
  if (swept) malloc_trim(0);
  if (mapped.code() == StatusCode::kUnsupported) mapped = Status();
  // Until the list of series is written again, a start registers the forgotten series again, and
  // its first sweep forgets them.
  const FileSetState state = file_set_.State();
  const uint64_t listed =
      state.version->memtables.back()->series_begin - state.manifest.forgotten_series;
  const uint64_t outdated = registry_.forgotten_count() - state.manifest.forgotten_series;
  if (outdated > 0 && outdated >= listed / kOutdatedShare) {
    RETURN_IF_ERROR(Prepend(RewriteSeries([](const Edit&) { return Status(); }).status(),
                            "list of the series"));
  }
  RETURN_IF_ERROR(searched);
  return Prepend(mapped, "temporary files of series");
}

// Writes only series that are in files. Flushes may add parts with other series meanwhile.
Result<uint32_t> Compactor::RewriteSeries(const std::function<Status(const Edit&)>& prepare) {
  const RegionPlace place = {kSeriesTable, 0};
  uint32_t written = 0;
  const auto rewrite = [&]() -> Status {
    const FileSetState state = file_set_.State();
    Edit edit;
    edit.remove = state.version->PartsOf(place.first, place.second);
    const uint32_t count = state.version->memtables.back()->series_begin;
    // Series that are forgotten from here on stay in the list until it is written again.
    const auto tsuids = registry_.tsuids();
    const auto forgotten = registry_.Forgotten();
    lsm::PartEntry fresh;
    fresh.region = place.second;
    fresh.number = file_set_.NewNumber();
    fresh.made_ms = env_.clock.NowMs();
    const Status prepared = Survive([&]() -> Status {
      ASSIGN_OR_RETURN(written, engine::WriteSeries(
                                    env_.files, env_.options.path, layout(), count,
                                    [&](uint32_t number) {
                                      return forgotten->Has(number) ? ByteView()
                                                                    : tsuids->Tsuid(number);
                                    },
                                    state.manifest.flushed, &fresh));
      if (fresh.cells_bytes > 0) edit.add.push_back(fresh);
      edit.series = {count, count - written};
      return prepare(edit);
    });
    if (!prepared.ok()) {
      file_set_.RemoveFiles({&fresh, 1});
      return prepared;
    }
    return file_set_.Apply(edit);
  };
  RETURN_IF_ERROR(WhileHeld({place}, rewrite));
  return written;
}

}  // namespace hg::engine
