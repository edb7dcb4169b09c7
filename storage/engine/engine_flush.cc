#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "storage/base/invariant.h"
#include "storage/codec/row_key.h"
#include "storage/engine/engine.h"
#include "storage/engine/row_file.h"
#include "storage/engine/run_set.h"
#include "storage/engine/stored_files.h"
#include "storage/lsm/row_source.h"
#include "storage/region/spread.h"

namespace hg::points {
namespace {

constexpr size_t kFrozenMax = 3;
constexpr auto kTick = std::chrono::seconds(1);
constexpr size_t kFlushThreads = 2;
constexpr double kFlushAgeJitter = 0.1;  // later by up to so much of the age
constexpr uint32_t kDayS = 86'400;
// Days of a region that have runs of their own, if so much of its rows is theirs.
constexpr size_t kOwnDaysMax = 4;
constexpr uint64_t kOwnDayShare = 16;
// A scan that goes on after so long a pause takes the files of then.
constexpr int64_t kReaderIdleMs = 10 * 60'000;

void SortAsInFiles(const KeyLayout& layout, const Registry& registry,
                   std::vector<uint32_t>* numbers) {
  std::vector<std::pair<RowFileHead, uint32_t>> order;
  order.reserve(numbers->size());
  for (const uint32_t number : *numbers) {
    order.emplace_back(RowFileHeadOf(layout, registry.Tsuid(number)), number);
  }
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return RowFileOrder(layout, registry.Tsuid(a.second), registry.Tsuid(b.second));
  });
  std::transform(order.begin(), order.end(), numbers->begin(),
                 [](const auto& one) { return one.second; });
}

// The days that most rows are of; rows of others come late, or are meant for later.
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

void Engine::FlushLoop() {
  std::unique_lock lock(background_mutex_);
  while (!stop_) {
    background_wake_.wait_for(lock, kTick, [this] { return stop_ || flush_wanted_; });
    if (stop_) return;
    flush_wanted_ = false;
    lock.unlock();
    const Status status = Survive([this] { return FlushIfNeeded(); });
    bool put_off = false;
    {
      std::lock_guard maintenance(maintenance_);
      put_off = flush_put_off_ms_.has_value();
    }
    lock.lock();
    flush_error_ = status;
    flush_asked_.store(false, std::memory_order_relaxed);
    // After a failure, and while merges lag behind, the next round comes with the next tick, asked
    // or not.
    if ((!status.ok() || put_off) && !stop_)
      background_wake_.wait_for(lock, kTick, [this] { return stop_; });
  }
}

Status Engine::FlushIfNeeded() {
  readers_.ReleaseIdleSince(clock_.NowMs() - kReaderIdleMs);
  std::lock_guard maintenance(maintenance_);
  const auto version = Pin();
  const Generation& active = *version->generations.front();
  // Stores that were started together are not flushed together.
  const auto age_ms = options_.flush_age_ms +
                      static_cast<int64_t>(static_cast<double>(options_.flush_age_ms) *
                                           kFlushAgeJitter * region::Spread(active.after_sequence));
  const bool large = active.bytes() > memory_max_ / 4;
  const bool old = clock_.NowMs() - active.made_ms >= age_ms;
  const bool long_log = log_->End() - log_released_ >= options_.log_max_bytes;
  const bool frozen = version->generations.size() > 1;
  const bool needed = large || old || long_log || frozen;
  if (needed && PutOff(*version)) return {};
  flush_put_off_ms_.reset();
  if (!needed) return {};
  if (large || old || long_log) Freeze();
  return FlushFrozen();
}

// Where merges lag behind, flushes give them time, but not for ever, and not while memory runs out
// (spec region-store.md W12).
bool Engine::PutOff(const Version& version) {
  const bool full = std::any_of(version.runs.begin(), version.runs.end(), [this](const auto& runs) {
    return DepthOf(runs.first, runs.second) >= options_.merge.runs_blocking &&
           !MergeFailed(runs.first);  // no time would help it
  });
  if (!full || MemoryBytes() > memory_max_ / 2) return false;
  if (!flush_put_off_ms_) {
    flush_put_off_ms_ = clock_.NowMs();
    WakeMerges();
  }
  return clock_.NowMs() - *flush_put_off_ms_ < options_.flush_put_off_max_ms;
}

// Swaps the memory that is written to. In the write lock: nothing but pointers, so that nothing
// breaks off once the memory is another.
void Engine::Freeze() {
  const auto before = Pin();
  if (before->generations.size() > kFrozenMax) return;
  auto version = std::make_shared<Version>(*before);
  // Its tables are megabytes to be zeroed: not in the lock.
  auto made = std::make_shared<Generation>(clock_.NowMs());
  Generation* const generation = made.get();
  version->generations.insert(version->generations.begin(), std::move(made));
  // A new series is in the log before it is in the registry; none may be in between.
  std::lock_guard no_new_series(register_);
  const uint32_t series = registry_.size();
  std::lock_guard lock(write_);
  if (sequence_ == active_->after_sequence) return;
  active_->last_sequence = sequence_;
  active_->series_end = series;
  active_->log_end = log_->SwitchFile();
  active_->CountIn(frozen_bytes_);
  generation->after_sequence = sequence_;
  generation->series_begin = series;
  active_ = generation;
  active_bytes_ = active_->bytes();
  SetVersion(std::move(version));
}

Status Engine::FlushFrozen() {
  while (Pin()->generations.size() > 1) RETURN_IF_ERROR(FlushOldest());
  return {};
}

Status Engine::FlushOldest() {
  const auto before = Pin();
  const std::shared_ptr<Generation> generation = before->generations.back();
  StoreWork work = BeginWork(StoreWork::Kind::kFlush, kSeriesTable);
  // No file is published before the log is durable up to it (engine.md §5).
  RETURN_IF_ERROR(log_->WaitSynced(generation->log_end.position));
  std::vector<lsm::RunEntry> entries;
  std::shared_ptr<Version> version;
  lsm::Manifest manifest;
  const Status written = Survive([&]() -> Status {
    RETURN_IF_ERROR(WriteGeneration(*generation, &entries));
    version = std::make_shared<Version>(*before);
    version->generations.pop_back();
    manifest = manifest_;
    for (const lsm::RunEntry& entry : entries) {
      ASSIGN_OR_RETURN(auto files, OpenFiles(entry));
      Runs& runs = version->runs[{entry.table, entry.region}];
      runs.insert(runs.begin(), std::make_shared<Run>(entry, std::move(files)));
      manifest.runs.push_back(entry);
    }
    return {};
  });
  if (!written.ok()) {
    for (const lsm::RunEntry& entry : entries) RemoveRunFiles(entry);
    return Prepend(written, "flush");
  }
  manifest.flushed = generation->last_sequence;
  manifest.log_file = generation->log_end.file_number;
  manifest.log_position = generation->log_end.position;
  {
    std::lock_guard lock(write_);
    manifest.stamp_floor_ms = stamp_floor_ms_;
  }
  RETURN_IF_ERROR(Publish(std::move(manifest), std::move(version), entries));
  log_released_ = generation->log_end.position;
  log_->Release(generation->log_end.file_number);
  for (const lsm::RunEntry& entry : entries) {
    ++work.runs_written;
    work.bytes_written += entry.cells_bytes + entry.points_bytes;
  }
  EndWork(std::move(work));
  WakeMerges();
  return {};
}

// A failure may leave open whether the new manifest holds: then files it names stay until the next
// start. Numbers are not given again, and memory goes on as if nothing had happened.
Status Engine::Publish(lsm::Manifest manifest, std::shared_ptr<const Version> version,
                       const std::vector<lsm::RunEntry>& made) {
  manifest.next_number = next_number_;
  const Status saved = Survive([&]() -> Status {
    RETURN_IF_ERROR(SyncFolders(files_, FoldersOf(options_.path, manifest.runs)));
    return lsm::SaveManifest(files_, options_.path, manifest);
  });
  if (!saved.ok()) {
    if (!NamedOnDisk(made)) {
      for (const lsm::RunEntry& entry : made) RemoveRunFiles(entry);
    }
    return saved;
  }
  manifest_ = std::move(manifest);
  SetVersion(std::move(version));
  return {};
}

// By the manifest that is there now, or perhaps, if that cannot be read. A power cut may bring back
// an older one, which names none of what was made later.
bool Engine::NamedOnDisk(const std::vector<lsm::RunEntry>& runs) const {
  lsm::Manifest stored;
  const Status read = Survive([&]() -> Status {
    ASSIGN_OR_RETURN(stored, lsm::LoadManifest(files_, options_.path));
    return {};
  });
  return !read.ok() || std::any_of(stored.runs.begin(), stored.runs.end(), [&](const auto& named) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const auto& run) { return run.number == named.number; });
  });
}

void Engine::RemoveRunFiles(const lsm::RunEntry& entry) {
  // Best effort: what stays is removed at the next start.
  const std::string folder = lsm::NamespaceFolder(options_.path, entry.space);
  for (const auto& path :
       {Run::CellsPath(folder, entry.number), Run::PointsPath(folder, entry.number)}) {
    if (files_.Exists(path)) (void)files_.Remove(path);
  }
}

// One region of one table.
struct Engine::FlushJob {
  const Table* table;
  const region::RegionMap* regions;
  size_t region;
  std::vector<uint32_t> series;  // that have rows in it; of the points table
  std::vector<lsm::RunEntry> entries;
  Status status;
};

Status Engine::WriteGeneration(const Generation& generation, std::vector<lsm::RunEntry>* entries) {
  RETURN_IF_ERROR(WriteSeries(generation, entries));
  const auto version = Pin();
  std::vector<FlushJob> jobs;
  for (const Table* table : Tables()) {
    const size_t first = jobs.size();
    const region::RegionMap& regions = version->RegionsOf(table->id);
    if (table->points_family < 0 && generation.Cells(table->id) == nullptr) continue;
    for (size_t region = 0; region < regions.count(); ++region) {
      jobs.push_back({table, &regions, region, {}, {}, {}});
    }
    if (table->points_family < 0) continue;
    std::map<uint32_t, size_t> job_of;
    for (size_t region = 0; region < regions.count(); ++region) {
      job_of[regions.Id(region)] = first + region;
    }
    std::vector<region::SeriesSlice> slices;
    generation.rows.ForEachSeries([&](uint32_t number) {
      region::SlicesOf(regions, RowKeyPrefix(layout(), registry_.Tsuid(number)), {}, &slices);
      for (const auto& slice : slices) jobs[job_of[slice.region]].series.push_back(number);
    });
  }
  RunFlushJobs(generation, jobs);
  Status failed;
  for (FlushJob& job : jobs) {
    entries->insert(entries->end(), job.entries.begin(), job.entries.end());
    if (failed.ok()) failed = job.status;
  }
  return failed;
}

// Regions of one generation are written side by side; which thread takes which is of no meaning.
void Engine::RunFlushJobs(const Generation& generation, std::vector<FlushJob>& jobs) {
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size() && !failed; i = next++) {
      FlushJob& job = jobs[i];
      job.status = Survive([&] {
        return job.table->points_family >= 0 ? WritePointsRegion(generation, &job)
                                             : WriteCellsRegion(generation, &job);
      });
      if (!job.status.ok()) failed = true;
    }
  };
  std::vector<std::thread> others;
  const size_t threads = options_.background ? kFlushThreads : 1;
  // Where no thread is to be had, those that are do the work.
  (void)Survive([&]() -> Status {
    while (others.size() + 1 < std::min(threads, jobs.size())) others.emplace_back(work);
    return {};
  });
  work();
  for (std::thread& thread : others) thread.join();
}

Status Engine::WriteCellsRegion(const Generation& generation, FlushJob* job) {
  job->entries.push_back(NewEntry(job->table->id, job->regions->Id(job->region), generation));
  const lsm::RunEntry& entry = job->entries.back();
  RunWriter writer(files_, lsm::NamespaceFolder(options_.path, entry.space), layout(), entry.number,
                   job->table);
  const auto rows =
      lsm::ScanMemory(*generation.Cells(job->table->id), job->regions->Start(job->region),
                      job->regions->Stop(job->region));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows->Next());
    if (!more) break;
    lsm::CellRow row = rows->TakeRow();
    if (job->table->order == lsm::CellOrder::kByTime) {
      lsm::TidyVersions(job->table->families, {clock_.NowMs()}, &row.versions);
    }
    if (!row.empty()) RETURN_IF_ERROR(writer.AddCells(rows->key(), row));
  }
  return FinishRun(&writer, &job->entries);
}

// The run just begun; without rows there is none.
Status Engine::FinishRun(RunWriter* writer, std::vector<lsm::RunEntry>* entries) {
  lsm::RunEntry& entry = entries->back();
  RETURN_IF_ERROR(writer->Finish(&entry));
  if (entry.cells_bytes == 0 && entry.points_bytes == 0) entries->pop_back();
  return {};
}

lsm::RunEntry Engine::NewEntry(uint32_t table, uint32_t region, const Generation& generation) {
  lsm::RunEntry entry;
  entry.table = table;
  entry.region = region;
  entry.space = SpaceOf(table);
  entry.number = next_number_++;
  entry.first_sequence = generation.after_sequence + 1;
  entry.last_sequence = generation.last_sequence;
  entry.made_ms = clock_.NowMs();
  return entry;
}

Status Engine::WriteSeries(const Generation& generation, std::vector<lsm::RunEntry>* entries) {
  if (generation.series_begin == generation.series_end) return {};
  entries->push_back(NewEntry(kSeriesTable, 0, generation));
  RunWriter writer(files_, options_.path, layout(), entries->back().number, nullptr);
  for (uint32_t number = generation.series_begin; number < generation.series_end; ++number) {
    Bytes key;
    AppendBig(&key, number, 4);
    lsm::CellRow row;
    row.Put(0, "", registry_.Tsuid(number), 0);
    RETURN_IF_ERROR(writer.AddCells(key, row));
  }
  return FinishRun(&writer, entries);
}

std::map<uint32_t, uint64_t> Engine::RowsOfDays(const Generation& generation,
                                                const FlushJob& job) const {
  std::map<uint32_t, uint64_t> rows;
  for (const uint32_t number : job.series) {
    const RowRange here =
        region::BasesIn(*job.regions, job.region, RowKeyPrefix(layout(), registry_.Tsuid(number)));
    for (const auto* row = generation.rows.Newest(number); row != nullptr; row = row->older()) {
      if (row->base() >= here.begin && row->base() < here.end) ++rows[row->base() / kDayS];
    }
  }
  return rows;
}

// The region's series in order, each with its hours ascending, into the points file; whatever is no
// point into the cell file, by key.
Status Engine::WritePointsRegion(const Generation& generation, FlushJob* job) {
  const Table& table = *job->table;
  const auto family = static_cast<uint8_t>(table.points_family);
  SortAsInFiles(layout(), registry_, &job->series);
  const std::vector<uint32_t> days = OwnDays(RowsOfDays(generation, *job));
  RunSet writer(
      files_, lsm::NamespaceFolder(options_.path, SpaceOf(table.id)), layout(), &table,
      RowDensity::kPlain,
      [&](std::optional<uint32_t> base) {
        if (!base) return days.size();
        return static_cast<size_t>(std::find(days.begin(), days.end(), *base / kDayS) -
                                   days.begin());
      },
      [&] { return NewEntry(table.id, job->regions->Id(job->region), generation); }, &job->entries);
  // Marks of row histories and cells of rows without a history, by key.
  std::map<Bytes, lsm::CellRow> beside;
  std::vector<const RowHourMemory*> hours;
  for (const uint32_t number : job->series) {
    const ByteView tsuid = registry_.Tsuid(number);
    const RowRange here =
        region::BasesIn(*job->regions, job->region, RowKeyPrefix(layout(), tsuid));
    hours.clear();
    for (const auto* row = generation.rows.Newest(number); row != nullptr; row = row->older()) {
      if (row->base() >= here.begin && row->base() < here.end) hours.push_back(row);
    }
    std::sort(hours.begin(), hours.end(),
              [](const auto* a, const auto* b) { return a->base() < b->base(); });
    for (const RowHourMemory* row : hours) {
      const Bytes key = codec::MakeRowKey(layout(), tsuid, row->base());
      StoredRow stored;
      ReadMemoryPart(generation, row, key, true, &stored);
      PartIntoCells(family, stored.part, &stored.cells);
      if (!stored.cells.empty()) beside[key] = std::move(stored.cells);
      if (stored.part.points.empty()) continue;
      // What is not flushed stays in the log: a stop need not wait for it.
      if (closed_ && memory_is_logged()) return Status::Unavailable("the store is closed");
      RETURN_IF_ERROR(writer.AddPoints(tsuid, row->base(), stored.part));
    }
  }
  if (const lsm::CellMemory* cells = generation.Cells(table.id)) {
    const auto rows =
        lsm::ScanMemory(*cells, job->regions->Start(job->region), job->regions->Stop(job->region));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows->Next());
      if (!more) break;
      if (lsm::CellRow row = rows->TakeRow(); !row.empty())
        beside.try_emplace(rows->key(), std::move(row));
    }
  }
  for (const auto& [key, row] : beside) RETURN_IF_ERROR(writer.AddCells(key, row));
  return writer.Finish();
}

Status Engine::Flush() {
  readers_.ReleaseIdleSince(clock_.NowMs() - kReaderIdleMs);
  std::lock_guard maintenance(maintenance_);
  RETURN_IF_ERROR(CheckOpen());
  return FlushMemory();
}

// At half of what has the background flush begin: writers find room meanwhile, also where a reader
// keeps as much as was flushed before. Where it cannot be flushed for now, there is no room for
// now.
Status Engine::LeaveRoom() {
  if (active_bytes_ <= memory_max_ / 8) return {};
  const Status flushed = Flush();
  if (flushed.ok() || flushed.code() == StatusCode::kUnavailable) return flushed;
  return Status::Busy("unflushed memory has to become files first: " +
                      std::string(flushed.message()));
}

Status Engine::FlushMemory() {
  RETURN_IF_ERROR(FlushFrozen());
  Freeze();
  return FlushFrozen();
}

}  // namespace hg::points
