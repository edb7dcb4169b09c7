#include <algorithm>
#include <map>
#include <thread>

#include "storage/base/invariant.h"
#include "storage/codec/row_key.h"
#include "storage/engine/compactor.h"
#include "storage/engine/part_set.h"
#include "storage/engine/row_file.h"
#include "storage/engine/stored_files.h"
#include "storage/lsm/row_source.h"
#include "storage/model/timestamp.h"

namespace hg::engine {
namespace {

constexpr size_t kFlushThreads = 2;
// A flush prefetches the rows of a series this many series in advance.
constexpr size_t kSeriesPrefetched = 8;
// A day gets its own part if it has at least 1/kOwnDayShare of the memtable's rows in the region.
// At most kOwnDaysMax days get their own parts.
constexpr size_t kOwnDaysMax = 4;
constexpr uint64_t kOwnDayShare = 16;
// A scan that was idle for this long loses its version and continues with current files.
constexpr int64_t kReaderIdleMs = 10 * 60'000;
// The same if the memory for unflushed data is more than half full.
constexpr int64_t kReaderIdleUnderPressureMs = 1000;

void SortAsInFiles(const KeyLayout& layout, const TsuidTable& tsuids,
                   std::vector<uint32_t>* numbers) {
  std::vector<std::pair<RowFileHead, uint32_t>> order;
  order.reserve(numbers->size());
  for (const uint32_t number : *numbers) {
    order.emplace_back(RowFileHeadOf(layout, tsuids.Tsuid(number)), number);
  }
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return RowFileOrder(layout, tsuids.Tsuid(a.second), tsuids.Tsuid(b.second));
  });
  std::transform(order.begin(), order.end(), numbers->begin(),
                 [](const auto& one) { return one.second; });
}

// Returns the days with the most rows. Rows of other days arrived late or have times in the future.
std::vector<uint32_t> OwnDays(const std::map<uint32_t, uint64_t>& rows_of_days) {
  uint64_t all = 0;
  std::vector<std::pair<uint64_t, uint32_t>> days;
  for (const auto& [day, rows] : rows_of_days) {
    all += rows;
    days.emplace_back(rows, day);
  }
  std::sort(days.rbegin(), days.rend());
  std::vector<uint32_t> own;
  for (const auto& [rows, day] : days) {
    if (own.size() < kOwnDaysMax && rows * kOwnDayShare >= all) own.push_back(day);
  }
  return own;
}

}  // namespace

Status Compactor::FlushIfNeeded() {
  readers_.ReleaseIdleSince(env_.clock.NowMs() - kReaderIdleMs);
  TakeMemoryFromReaders();
  MutexLock regions(regions_mutex_);
  auto version = file_set_.Pin();
  const Memstore::FlushDue active = memstore_.TakeFlushDue(*version->memtables.front());
  const bool frozen = version->memtables.size() > 1;
  const bool needed = active.due || frozen;
  if (needed && !active.urgent && PutOff(*version)) return {};
  version.reset();  // the flush frees the memtables
  flush_put_off_ms_.reset();
  if (!needed) return {};
  if (active.due) memstore_.Freeze();
  return FlushFrozen();
}

// Postpones flushes while merges lag behind, but only for a limited time, and not if memory becomes
// scarce (region-store.md W12).
bool Compactor::PutOff(const Version& version) {
  const bool full =
      std::any_of(version.parts.begin(), version.parts.end(), [this](const auto& parts) {
        return DepthOf(parts.first, parts.second) >= env_.options.merge.parts_blocking &&
               !MergeFailed(parts.first);  // waiting would not help a region that cannot be merged
      });
  if (!full || memstore_.MemoryBytes() > env_.memory_max / 2) return false;
  if (!flush_put_off_ms_) {
    flush_put_off_ms_ = env_.clock.NowMs();
    WakeMerges();
  }
  return env_.clock.NowMs() - *flush_put_off_ms_ < env_.options.flush_put_off_max_ms;
}

// Scans must not keep flushed memory that writers need: neither those whose clients read slowly,
// nor those of queries that work or wait for a long time. A flush holds its memtables itself, so
// this function is called before and after flushes.
void Compactor::TakeMemoryFromReaders() {
  const uint64_t half = env_.memory_max / 2;
  if (memstore_.MemoryBytes() <= half) return;
  readers_.ReleaseIdleSince(env_.clock.NowMs() - kReaderIdleUnderPressureMs);
  if (memstore_.MemoryBytes() <= memstore_.UnflushedBytes() + half) return;
  running_scans_.EndOldest(file_set_.Pin()->memtables.back()->after_sequence);
}

Status Compactor::FlushFrozen() {
  while (file_set_.Pin()->memtables.size() > 1) {
    RETURN_IF_ERROR(FlushOldest());
    ReleaseUnused();
  }
  return {};
}

Status Compactor::FlushOldest() {
  const auto before = file_set_.Pin();
  const std::shared_ptr<Memtable> memtable = before->memtables.back();
  StoreWork work = BeginWork(StoreWork::Kind::kFlush, kSeriesTable);
  // The log must be durable up to the end of the memtable before a file is published. Otherwise a
  // power cut could keep points but lose the ids that they are written with.
  RETURN_IF_ERROR(memstore_.WaitSynced(*memtable));
  Edit edit;
  std::map<uint32_t, uint64_t> writes;
  const Status written = Survive([&] {
    regions_mutex_.AssertHeld();
    return WriteMemtable(*memtable, &edit.add, &writes);
  });
  if (!written.ok()) {
    file_set_.RemoveFiles(edit.add);
    return Prepend(written, "flush");
  }
  edit.flushed = memstore_.FlushedBy(*memtable);
  INVARIANT(edit.flushed->sequence == memtable->last_sequence);
  RETURN_IF_ERROR(Prepend(file_set_.Apply(edit), "flush"));
  INVARIANT(file_set_.Pin()->memtables.size() < before->memtables.size());
  for (const auto& [region, count] : writes) env_.region_loads->AddWrites(region, count);
  memstore_.ReleaseLog(*memtable);
  for (const lsm::PartEntry& entry : edit.add) {
    INVARIANT(entry.first_sequence == memtable->after_sequence + 1 &&
              entry.last_sequence == memtable->last_sequence);
    ++work.parts_written;
    work.bytes_written += entry.cells_bytes + entry.points_bytes;
  }
  EndWork(std::move(work));
  WakeMerges();
  return {};
}

// Flushes one region of one table.
struct Compactor::FlushJob {
  const Table* table;
  const region::RegionMap* regions;
  size_t region;
  std::vector<uint32_t> series;  // series with rows in the region; only for the points table
  std::vector<lsm::PartEntry> entries;
  uint64_t writes = 0;  // number of points and cells
  Status status;
};

Status Compactor::WriteMemtable(const Memtable& memtable, std::vector<lsm::PartEntry>* entries,
                                std::map<uint32_t, uint64_t>* writes) {
  RETURN_IF_ERROR(WriteSeries(memtable, entries));
  const auto version = file_set_.Pin();
  const auto tsuids = registry_.tsuids();
  std::vector<FlushJob> jobs;
  for (const Table* table : tables_.All()) {
    const size_t first = jobs.size();
    const region::RegionMap& regions = version->RegionsOf(table->id);
    if (table->points_family < 0 && memtable.Cells(table->id) == nullptr) continue;
    for (size_t region = 0; region < regions.count(); ++region) {
      jobs.push_back({table, &regions, region, {}, {}, 0, {}});
    }
    if (table->points_family < 0) continue;
    std::map<uint32_t, size_t> job_of;
    for (size_t region = 0; region < regions.count(); ++region) {
      job_of[regions.Id(region)] = first + region;
    }
    std::vector<region::SeriesSlice> slices;
    memtable.rows.ForEachSeries([&](uint32_t number) {
      region::SlicesOf(regions, RowKeyPrefix(layout(), tsuids->Tsuid(number)), {}, &slices);
      for (const auto& slice : slices) jobs[job_of[slice.region]].series.push_back(number);
    });
  }
  RunFlushJobs(memtable, jobs);
  Status failed;
  for (FlushJob& job : jobs) {
    entries->insert(entries->end(), job.entries.begin(), job.entries.end());
    (*writes)[job.regions->Id(job.region)] += job.writes;
    if (failed.ok()) failed = job.status;
  }
  return failed;
}

// Writes the regions of a memtable in parallel. Any thread may take any region.
void Compactor::RunFlushJobs(const Memtable& memtable, std::vector<FlushJob>& jobs) {
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size() && !failed; i = next++) {
      FlushJob& job = jobs[i];
      job.status = Survive([&]() -> Status {
        RETURN_IF_ERROR(CheckFlushNeeded());
        return job.table->points_family >= 0 ? WritePointsRegion(memtable, &job)
                                             : WriteCellsRegion(memtable, &job);
      });
      if (!job.status.ok()) failed = true;
    }
  };
  std::vector<std::thread> others;
  const size_t threads = env_.options.background ? kFlushThreads : 1;
  // If a thread cannot be started, the existing threads do all the work.
  (void)Survive([&]() -> Status {
    while (others.size() + 1 < std::min(threads, jobs.size())) others.emplace_back(work);
    return {};
  });
  work();
  for (std::thread& thread : others) thread.join();
  INVARIANT(failed || next >= jobs.size());  // each job was taken by a thread
}

Status Compactor::CheckFlushNeeded() const {
  return env_.closed() && env_.memory_is_logged() ? env_.CheckOpen() : Status();
}

Status Compactor::WriteCellsRegion(const Memtable& memtable, FlushJob* job) {
  job->entries.push_back(NewEntry(job->table->id, job->regions->Id(job->region), memtable));
  const lsm::PartEntry& entry = job->entries.back();
  PartWriter writer(env_.files, lsm::NamespaceFolder(env_.options.path, entry.space), layout(),
                    entry.number, job->table, nullptr);
  const auto rows =
      lsm::ScanMemory(*memtable.Cells(job->table->id), job->regions->Start(job->region),
                      job->regions->Stop(job->region));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows->Next());
    if (!more) break;
    ASSIGN_OR_RETURN(lsm::CellRow row, rows->TakeRow());
    job->writes += row.count();
    if (job->table->order == lsm::CellOrder::kByTime) {
      lsm::TidyVersions(job->table->families, {env_.clock.NowMs()}, &row.versions);
    }
    if (!row.empty()) RETURN_IF_ERROR(writer.AddCells(rows->key(), row));
  }
  return FinishPart(&writer, &job->entries);
}

// Finishes the part that was begun last. A part without rows is removed from `entries`.
Status Compactor::FinishPart(PartWriter* writer, std::vector<lsm::PartEntry>* entries) {
  INVARIANT(!entries->empty());
  lsm::PartEntry& entry = entries->back();
  RETURN_IF_ERROR(writer->Finish(&entry));
  if (entry.cells_bytes == 0 && entry.points_bytes == 0) entries->pop_back();
  return {};
}

lsm::PartEntry Compactor::NewEntry(uint32_t table, uint32_t region, const Memtable& memtable) {
  INVARIANT(memtable.last_sequence > memtable.after_sequence);  // it is frozen and not empty
  lsm::PartEntry entry;
  entry.table = table;
  entry.region = region;
  entry.space = tables_.SpaceOf(table);
  entry.number = file_set_.NewNumber();
  entry.first_sequence = memtable.after_sequence + 1;
  entry.last_sequence = memtable.last_sequence;
  entry.made_ms = env_.clock.NowMs();
  return entry;
}

Status Compactor::WriteSeries(const Memtable& memtable, std::vector<lsm::PartEntry>* entries) {
  INVARIANT(memtable.series_begin <= memtable.series_end &&
            memtable.series_end <= registry_.size());
  if (memtable.series_begin == memtable.series_end) return {};
  entries->push_back(NewEntry(kSeriesTable, 0, memtable));
  PartWriter writer(env_.files, env_.options.path, layout(), entries->back().number, nullptr,
                    nullptr);
  const auto tsuids = registry_.tsuids();
  for (uint32_t number = memtable.series_begin; number < memtable.series_end; ++number)
    RETURN_IF_ERROR(writer.AddSeries(number, tsuids->Tsuid(number)));
  return FinishPart(&writer, entries);
}

std::map<uint32_t, uint64_t> Compactor::RowsOfDays(const Memtable& memtable,
                                                   const FlushJob& job) const {
  std::map<uint32_t, uint64_t> rows;
  const auto tsuids = registry_.tsuids();
  for (const uint32_t number : job.series) {
    const RowRange here =
        region::BasesIn(*job.regions, job.region, RowKeyPrefix(layout(), tsuids->Tsuid(number)));
    ForEachHour(memtable, number, here,
                [&](const RowHourMemory* row) { ++rows[row->base() / kDayS]; });
  }
  return rows;
}

// Writes points to the points file, by series in sorted order and then by hour. Everything else
// goes to the cell file, by key.
Status Compactor::WritePointsRegion(const Memtable& memtable, FlushJob* job) {
  const Table& table = *job->table;
  const auto family = static_cast<uint8_t>(table.points_family);
  const auto tsuids = registry_.tsuids();
  SortAsInFiles(layout(), *tsuids, &job->series);
  const std::vector<uint32_t> days = OwnDays(RowsOfDays(memtable, *job));
  PartSet writer(
      env_.files, lsm::NamespaceFolder(env_.options.path, tables_.SpaceOf(table.id)), layout(),
      &table, registry_, RowDensity::kPlain,
      [&](std::optional<uint32_t> base) {
        if (!base) return days.size();
        return static_cast<size_t>(std::find(days.begin(), days.end(), *base / kDayS) -
                                   days.begin());
      },
      [&] { return NewEntry(table.id, job->regions->Id(job->region), memtable); }, &job->entries);
  // By row key: everything except points of the rows in memtable.rows.
  std::map<Bytes, lsm::CellRow> beside;
  std::vector<const RowHourMemory*> hours;
  for (size_t i = 0; i < job->series.size(); ++i) {
    // Series that are adjacent in the file are far apart in memory.
    if (i + 2 * kSeriesPrefetched < job->series.size()) {
      memtable.rows.PrefetchHead(job->series[i + 2 * kSeriesPrefetched]);
    }
    if (i + kSeriesPrefetched < job->series.size()) {
      memtable.rows.PrefetchRow(job->series[i + kSeriesPrefetched]);
    }
    const uint32_t number = job->series[i];
    const ByteView tsuid = tsuids->Tsuid(number);
    const RowRange here =
        region::BasesIn(*job->regions, job->region, RowKeyPrefix(layout(), tsuid));
    hours.clear();
    ForEachHour(memtable, number, here, [&](const RowHourMemory* row) { hours.push_back(row); });
    std::sort(hours.begin(), hours.end(),
              [](const auto* a, const auto* b) { return a->base() < b->base(); });
    for (const RowHourMemory* row : hours) {
      job->writes += row->entries();
      const Bytes key = codec::MakeRowKey(layout(), tsuid, row->base());
      StoredRow stored;
      RETURN_IF_ERROR(
          memstore_.rows().ReadMemoryRow(memtable, row, key, true, nullptr, &stored).status());
      RowPartIntoCells(family, stored.row_part, &stored.cells);
      if (!stored.cells.empty()) beside[key] = std::move(stored.cells);
      if (stored.row_part.points.empty()) continue;
      RETURN_IF_ERROR(CheckFlushNeeded());
      RETURN_IF_ERROR(writer.AddPoints(tsuid, number, row->base(), stored.row_part));
    }
  }
  auto next = beside.begin();
  const auto add_until = [&](const Bytes* key) -> Status {
    for (; next != beside.end() && (key == nullptr || next->first < *key);
         next = beside.erase(next)) {
      RETURN_IF_ERROR(writer.AddCells(next->first, next->second));
    }
    return {};
  };
  if (const lsm::CellMemory* cells = memtable.Cells(table.id)) {
    const auto rows =
        lsm::ScanMemory(*cells, job->regions->Start(job->region), job->regions->Stop(job->region));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows->Next());
      if (!more) break;
      RETURN_IF_ERROR(add_until(&rows->key()));
      ASSIGN_OR_RETURN(lsm::CellRow row, rows->TakeRow());
      job->writes += row.count();
      const bool written_with_history = next != beside.end() && next->first == rows->key();
      if (!row.empty() && !written_with_history) {
        RETURN_IF_ERROR(writer.AddCells(rows->key(), row));
      }
    }
  }
  RETURN_IF_ERROR(add_until(nullptr));
  return writer.Finish();
}

Status Compactor::Flush() {
  readers_.ReleaseIdleSince(env_.clock.NowMs() - kReaderIdleMs);
  {
    MutexLock regions(regions_mutex_);
    RETURN_IF_ERROR(env_.CheckOpen());
    RETURN_IF_ERROR(FlushMemory());
  }
  TakeMemoryFromReaders();
  return {};
}

// Flushes at half the threshold of the background flush. Other writers then still have memory, even
// if a reader keeps the flushed memtable. If the flush fails, the caller gets Unavailable if the
// flush returned that, and Busy otherwise.
Status Compactor::LeaveRoom() {
  if (memstore_.MemoryBytes() > env_.memory_max / 2) ReleaseUnused();
  if (memstore_.active_bytes() <= env_.memory_max / 8) return {};
  const Status flushed = Flush();
  if (flushed.ok() || flushed.code() == StatusCode::kUnavailable) return flushed;
  return Status::Busy("unflushed data must be flushed first, but the flush failed: " +
                      std::string(flushed.message()));
}

Status Compactor::FlushMemory() {
  RETURN_IF_ERROR(FlushFrozen());
  memstore_.Freeze();
  return FlushFrozen();
}

}  // namespace hg::engine
