#include <algorithm>
#include <cstdio>
#include <future>
#include <map>
#include <set>

#include "storage/base/invariant.h"
#include "storage/codec/row_key.h"
#include "storage/engine/engine.h"
#include "storage/engine/engine_backup.h"
#include "storage/engine/replay_pipe.h"
#include "storage/engine/stored_files.h"
#include "storage/lsm/cell_file.h"

namespace hg::points {
namespace {

// The remaining memory is for queries and raw series keys (region-store.md F5).
constexpr double kSharesMax = 0.8;

Status CheckShares(const EmbeddedOptions& options) {
  const double sum = options.memory_share + options.cache_share;
  if (options.memory_share > 0 && options.cache_share >= 0 && sum <= kSharesMax + 1e-9) return {};
  char shares[64];
  std::snprintf(shares, sizeof shares, "%g and %g", options.memory_share, options.cache_share);
  return Status::InvalidArgument(
      "unflushed memory and the block cache must not take " + std::string(shares) +
      " of the memory limit: the first share must be above 0, and the sum at most 0.8");
}

lsm::LogOptions LogOptionsOf(const EmbeddedOptions& options) {
  lsm::LogOptions log;
  log.folder = options.path;
  log.file_bytes = options.log_file_bytes;
  log.write_on_commit = options.durability != Durability::kBuffered;
  log.sync_on_commit = options.durability == Durability::kSynced;
  log.sync_interval_ms = options.sync_interval_ms;
  log.retry_ms = std::min(log.retry_ms, options.sync_interval_ms);
  return log;
}

Status WithAdvice(Status status) {
  if (status.code() != StatusCode::kCorruption) return status;
  return Status::Corruption(std::string(status.message()) +
                            " ('tsdb repair' continues without it, and says what is lost)");
}

StoreObservers WithOwn(StoreObservers observers, std::shared_ptr<StoreObserver> own) {
  observers.push_back(std::move(own));
  return observers;
}

}  // namespace

Engine::Engine(const EmbeddedOptions& options, FileSystem& files, const Clock& clock)
    : options_(options),
      files_(files),
      clock_(clock),
      cache_(std::make_shared<lsm::BlockCache>(static_cast<uint64_t>(
          static_cast<double>(options.memory_limit_bytes) * options.cache_share))),
      file_set_(files, options.path, cache_, read_counters_),
      registry_(options.layout),
      observers_(WithOwn(options.observers, work_counters_)) {
  memory_max_ =
      static_cast<uint64_t>(static_cast<double>(options.memory_limit_bytes) * options.memory_share);
}

Result<std::unique_ptr<Engine>> Engine::Open(const EmbeddedOptions& options, FileSystem& files,
                                             const Clock& clock) {
  RETURN_IF_ERROR(CheckShares(options));
  std::unique_ptr<Engine> engine(new Engine(options, files, clock));
  RETURN_IF_ERROR(engine->Start());
  return engine;
}

Status Engine::Start() {
  RETURN_IF_ERROR(files_.CreateFolder(options_.path));
  ASSIGN_OR_RETURN(lock_, files_.Lock(options_.path + "/LOCK", options_.lock_note));
  RETURN_IF_ERROR(file_set_.LoadManifest(options_.layout));
  const lsm::Manifest stored = file_set_.State().manifest;
  for (const lsm::TableEntry& entry : stored.tables) {
    RETURN_IF_ERROR(MakeFolderOf(entry.name));
    AddTable(entry);
  }
  RETURN_IF_ERROR(WithAdvice(file_set_.OpenFiles()));
  RETURN_IF_ERROR(WithAdvice(LoadSeries(*Pin())));
  sequence_ = stored.flushed;
  stamp_floor_ms_ = stored.stamp_floor_ms;
  auto memory = std::make_shared<Generation>(clock_.NowMs());
  active_ = memory.get();
  active_->after_sequence = stored.flushed;
  active_->series_begin = registry_.size();
  file_set_.AddMemory(std::move(memory), [](const auto& publish) { publish(); });

  // A table that has these families stays as it is, because it may have been altered since.
  for (const TableDescriptor& table : options_.tables) {
    if (!HasFamiliesOf(table)) RETURN_IF_ERROR(CreateTable(table));
  }
  ReplayPipe pipe(RowMemory::kLanes, [this](const ReplayItem& item) {
    if (item.table != nullptr) return ApplyRow(*item.table, item.row, item.sequence);
    ApplyPoints(item.points, item.sequence);
  });
  TsuidList met;
  ASSIGN_OR_RETURN(auto recovery,
                   lsm::RecoverLog(
                       files_, options_.path, stored.log_file, stored.log_position, stored.flushed,
                       [&](const lsm::LogRecord& record) { return Replay(record, &pipe, &met); },
                       lsm::AtBreak::kCut, stored.logs));
  AddMet(&met);
  pipe.Finish();
  sequence_ = std::max(sequence_, recovery.last_sequence);
  replayed_ = recovery.records;
  log_released_ = stored.log_position;
  active_bytes_ = active_->bytes();
  // The replayed log is treated as durable from now on, so its files must exist at the next start.
  // After a killed process, their names may not be durable in the folder yet.
  RETURN_IF_ERROR(file_set_.SetLogFiles(std::move(recovery.files)));
  lsm::LogOptions log_options = LogOptionsOf(options_);
  log_options.name_files = [this](const std::list<lsm::LogFile>& files) {
    return file_set_.AddLogFiles(files);
  };
  log_ = std::make_unique<lsm::Log>(files_, std::move(log_options), std::move(recovery.next));
  if (options_.background) {
    flush_thread_ = std::thread([this] { FlushLoop(); });
    merge_thread_ = std::thread([this] { MergeLoop(MergePool::kSmall); });
    large_merge_thread_ = std::thread([this] { MergeLoop(MergePool::kLarge); });
  }
  return {};
}

namespace {

// Reads series in the order of their numbers. Another thread adds those read earlier to the
// registry.
class SeriesIntake {
 public:
  explicit SeriesIntake(Registry* registry) : registry_(*registry), next_(registry->size()) {}

  /// Number of the next series.
  [[nodiscard]] uint32_t next() const { return next_; }
  /// Row key of the next series.
  [[nodiscard]] Bytes key() const {
    Bytes key;
    AppendBig(&key, next_, 4);
    return key;
  }
  void Add(ByteView tsuid) {
    constexpr size_t kTogether = 8192;
    read_.Add(tsuid);
    ++next_;
    if (read_.size() == kTogether) HandOver();
  }
  void Finish() {
    HandOver();
    adding_.get();
  }

 private:
  void HandOver() {
    if (adding_.valid()) adding_.get();
    adding_ = std::async(std::launch::async,
                         [this, read = std::move(read_)] { registry_.AddAll(read.views()); });
    read_.Clear();
  }

  Registry& registry_;
  uint32_t next_;
  TsuidList read_;
  std::future<void> adding_;
};

// Reads series from the next number on, as long as each row is a single put.
Status ReadPlainSeries(const KeyLayout& layout, const std::shared_ptr<const lsm::BlockFile>& file,
                       SeriesIntake* intake) {
  lsm::BlockFileScan rows(file, intake->key(), "", lsm::CacheUse::kPast);
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more || rows.key().size() != 4 || ReadBig32(rows.key().data()) != intake->next()) {
      return {};
    }
    const auto tsuid = lsm::OnlyValueOf(rows.value());
    if (!tsuid || !codec::CheckTsuid(layout, *tsuid).ok()) return {};
    intake->Add(*tsuid);
  }
}

}  // namespace

Status Engine::LoadSeries(const Version& version) {
  SeriesIntake intake(&registry_);
  const Runs& runs = version.RunsOf(kSeriesTable, 0);
  uint64_t rows_max = 0;
  for (const auto& run : runs) rows_max += run->cells() != nullptr ? run->cells()->entries() : 0;
  registry_.Reserve(rows_max);
  // Oldest first, each part usually continues where the previous one ends. All other cases are
  // handled below.
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if ((*run)->cells() == nullptr) continue;
    RETURN_IF_ERROR(ReadPlainSeries(layout(), (*run)->cells(), &intake));
  }
  std::vector<std::unique_ptr<lsm::RowSource>> sources;
  for (const auto& run : runs) {
    if (run->cells() == nullptr) continue;
    sources.push_back(lsm::ScanRows(run->cells(), intake.key(), "", lsm::CacheUse::kPast));
  }
  lsm::MergedRows rows(lsm::CellOrder::kByArrival, std::move(sources));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) break;
    ASSIGN_OR_RETURN(const lsm::CellRow row, rows.TakeRow());
    if (rows.key() != intake.key() || row.cells.size() != 1 ||
        !codec::CheckTsuid(layout(), row.cells[0].value).ok()) {
      return Status::Corruption(options_.path + ": series " + std::to_string(intake.next()) +
                                " is missing in the files of the series table");
    }
    intake.Add(row.cells[0].value);
  }
  intake.Finish();
  return {};
}

void Engine::AddMet(TsuidList* met) {
  registry_.AddAll(met->views());
  met->Clear();
}

namespace {

// Distributes the points decoded into the next item of lane 0 to the lanes of their series.
void AddToLanes(uint64_t sequence, ReplayPipe* pipe) {
  std::vector<PointEntry>& points = pipe->Next(0).points;
  const auto lane_of = [](const PointEntry& entry) { return RowMemory::LaneOf(entry.series); };
  const auto add = [&](size_t lane) {
    ReplayItem& item = pipe->Next(lane);
    item.sequence = sequence;
    item.table = nullptr;
    if (!item.points.empty()) pipe->Add(lane);
  };
  if (points.empty()) return;
  const size_t first = lane_of(points.front());
  if (std::all_of(points.begin(), points.end(),
                  [&](const auto& e) { return lane_of(e) == first; })) {
    if (first != 0) points.swap(pipe->Next(first).points);
    return add(first);
  }
  for (size_t lane = 1; lane < RowMemory::kLanes; ++lane) {
    std::vector<PointEntry>& own = pipe->Next(lane).points;
    own.clear();
    for (const PointEntry& entry : points) {
      if (lane_of(entry) == lane) own.push_back(entry);
    }
    add(lane);
  }
  std::erase_if(points, [&](const PointEntry& entry) { return lane_of(entry) != 0; });
  add(0);
}

}  // namespace

// Validates the record completely and adds its series. Items handed to the pipe only need to be
// applied.
Status Engine::Replay(const lsm::LogRecord& record, ReplayPipe* pipe, TsuidList* met) {
  sequence_ = record.sequence;
  constexpr size_t kTogether = 1024;
  if (static_cast<LogKind>(record.kind) != LogKind::kSeries || met->size() == kTogether) {
    AddMet(met);
  }
  switch (static_cast<LogKind>(record.kind)) {
    case LogKind::kPoints: {
      ReplayItem& item = pipe->Next(0);
      if (!DecodePoints(record.body, &item.points))
        return Status::Corruption("points cannot be read");
      if (points_table() == nullptr) return Status::Corruption("points without a points table");
      const uint32_t known = registry_.size();
      for (const PointEntry& entry : item.points) {
        if (entry.series >= known) {
          return Status::Corruption("points of unknown series " + std::to_string(entry.series));
        }
      }
      AddToLanes(record.sequence, pipe);
      return {};
    }
    case LogKind::kSeries: {
      uint32_t number;
      ByteView tsuid;
      if (!DecodeSeries(record.body, &number, &tsuid) || number != registry_.size() + met->size() ||
          !codec::CheckTsuid(layout(), tsuid).ok()) {
        return Status::Corruption("a new series cannot be read or is out of order");
      }
      met->Add(tsuid);
      return {};
    }
    case LogKind::kRow: {
      RowRecord& row = pipe->Next(0).row;
      if (!DecodeRowRecord(record.body, &row)) return Status::Corruption("a row cannot be read");
      const Table* table = TableById(row.table);
      if (table == nullptr) {
        // A row of a dropped table is ignored: its id was assigned, but the table is gone.
        if (row.table >= kFirstTable && row.table < file_set_.Tables().next_table) {
          return {};
        }
        return Status::Corruption("a row of an unknown table");
      }
      for (const StampedChange& change : row.changes) {
        if (change.family >= table->families.size()) {
          return Status::Corruption("a row with an unknown family");
        }
      }
      Bytes tsuid;
      uint32_t base;
      size_t lane = 0;  // lane of all rows that are not hours of a series
      if (table->points_family >= 0 && IsRegularKey(layout(), row.key, &tsuid, &base)) {
        const auto series = registry_.Find(tsuid);
        if (!series) return Status::Corruption("a row of an unknown series");
        lane = RowMemory::LaneOf(*series);
      }
      stamp_floor_ms_ = std::max(stamp_floor_ms_, row.stamp_ms);
      ReplayItem& item = pipe->Next(lane);
      item.sequence = record.sequence;
      item.table = table;
      if (lane != 0) std::swap(item.row, row);
      pipe->Add(lane);
      return {};
    }
  }
  return Status::Corruption("a record of unknown kind " + std::to_string(record.kind));
}

Engine::~Engine() { (void)Close(); }

Status Engine::Close() {
  if (closed_.exchange(true)) return {};
  {
    std::lock_guard lock(background_mutex_);
    stop_ = true;
    background_wake_.notify_all();
  }
  if (flush_thread_.joinable()) flush_thread_.join();
  if (merge_thread_.joinable()) merge_thread_.join();
  if (large_merge_thread_.joinable()) large_merge_thread_.join();
  // Waits for work that began before closed_ was set. Later work checks closed_ while it holds
  // work_mutex_ or regions_mutex_.
  {
    std::unique_lock lock(work_mutex_);
    work_done_.notify_all();
    work_done_.wait(lock, [this] { return work_.empty(); });
  }
  std::lock_guard regions(regions_mutex_);
  { std::lock_guard lock(write_); }
  Status status;
  if (log_ != nullptr) {
    if (!memory_is_logged()) status = FlushMemory();
    const Status synced = log_->Close();
    if (status.ok()) status = synced;
  }
  // From here on, the store changes nothing on disk.
  lock_.reset();
  return status;
}

StoreWork Engine::BeginWork(StoreWork::Kind kind, uint32_t table) const {
  StoreWork work;
  work.kind = kind;
  if (const Table* found = TableById(table)) work.table = found->descriptor.name;
  work.begin_ms = clock_.NowMs();
  return work;
}

void Engine::EndWork(StoreWork work) const {
  work.end_ms = clock_.NowMs();
  observers_.AfterWork(work);
}

EmbeddedStats Engine::Stats() const {
  EmbeddedStats stats;
  stats.series = registry_.size();
  stats.memory_bytes = MemoryBytes();
  stats.memory_limit_bytes = memory_max_;
  stats.registry_bytes = registry_.bytes();
  stats.file_memory_bytes = file_set_.MemoryBytes();
  stats.name_bytes = NameBytes();
  stats.refused_series = refused_series_.load(std::memory_order_relaxed);
  stats.series_full = SeriesFull();
  const auto version = Pin();
  std::set<uint64_t> counted;
  for (const auto& [region, runs] : version->runs) {
    for (const auto& run : runs) {
      const lsm::RunEntry& entry = run->entry();
      if (!counted.insert(entry.number).second) continue;
      stats.file_count += (entry.cells_bytes > 0 ? 1 : 0) + (entry.points_bytes > 0 ? 1 : 0);
      stats.file_bytes += entry.cells_bytes + entry.points_bytes;
    }
  }
  const WorkCounters::Counts work = work_counters_->counts();
  stats.flushes = work.flushes;
  stats.flushed_bytes = work.flushed_bytes;
  stats.merges = work.merges;
  stats.merge_read_bytes = work.merge_read_bytes;
  stats.merged_bytes = work.merged_bytes;
  stats.expired_runs = work.expired_runs;
  stats.dropped_runs = dropped_runs_;
  stats.splits = work.splits;
  stats.observer_failures = observers_.failures();
  const lsm::BlockCacheStats cache = cache_->Stats();
  stats.cache_bytes = cache.bytes;
  stats.cache_hits = cache.hits;
  stats.cache_misses = cache.misses;
  stats.cache_evicted = cache.evicted;
  stats.blocks_read = read_counters_->blocks;
  stats.skipped_by_bloom = read_counters_->skipped_by_bloom;
  stats.forgotten_bytes = read_counters_->forgotten_bytes;
  stats.skipped_by_time = read_counters_->skipped_by_time;
  stats.regions = CountRegions(*version);
  stats.replayed_records = replayed_;
  stats.log_bytes = log_ ? log_->End() - log_released_.load() : 0;
  {
    std::lock_guard lock(work_mutex_);
    stats.regions_unmerged = failed_merges_.size();
  }
  std::lock_guard lock(background_mutex_);
  for (const Status* error : {&flush_error_, &merge_error_, &large_merge_error_})
    if (stats.background_error.empty() && !error->ok()) stats.background_error = error->ToString();
  return stats;
}

}  // namespace hg::points
