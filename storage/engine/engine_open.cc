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

// The rest is for queries and spellings (spec region-store.md F5).
constexpr double kSharesMax = 0.8;

Status CheckShares(const EmbeddedOptions& options) {
  const double sum = options.memory_share + options.cache_share;
  if (options.memory_share > 0 && options.cache_share >= 0 && sum <= kSharesMax + 1e-9) return {};
  char shares[64];
  std::snprintf(shares, sizeof shares, "%g and %g", options.memory_share, options.cache_share);
  return Status::InvalidArgument(
      "unflushed memory and the block cache may not take " + std::string(shares) +
      " of the memory limit: more than nothing for the former, together at most 0.8");
}

Status CompareLayouts(const KeyLayout& wanted, const KeyLayout& stored, const std::string& path) {
  auto check = [&](const char* what, int want, int have) {
    if (want == have) return Status();
    return Status::InvalidArgument(path + " was created with " + what + " " + std::to_string(have) +
                                   ", the configuration says " + std::to_string(want));
  };
  RETURN_IF_ERROR(check("metric width", wanted.metric_width, stored.metric_width));
  RETURN_IF_ERROR(check("tag key width", wanted.tagk_width, stored.tagk_width));
  RETURN_IF_ERROR(check("tag value width", wanted.tagv_width, stored.tagv_width));
  RETURN_IF_ERROR(check("salt width", wanted.salt_width, stored.salt_width));
  if (wanted.salt_width == 0) return {};
  return check("number of salt buckets", wanted.salt_buckets, stored.salt_buckets);
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
  RETURN_IF_ERROR(LoadOrMakeManifest());
  RETURN_IF_ERROR(AdoptStrayKeys());
  for (const lsm::TableEntry& entry : manifest_.tables) {
    RETURN_IF_ERROR(MakeFolderOf(entry.name));
    AddTable(entry);
  }
  next_number_ = manifest_.next_number;

  auto version = std::make_shared<Version>();
  RETURN_IF_ERROR(OpenRuns(version.get()));
  RETURN_IF_ERROR(LoadSeries(*version));
  if (std::exchange(manifest_.outdated, false)) {
    RETURN_IF_ERROR(lsm::SaveManifest(files_, options_.path, manifest_));
  }
  sequence_ = manifest_.flushed;
  stamp_floor_ms_ = manifest_.stamp_floor_ms;
  version->generations.push_back(std::make_shared<Generation>(clock_.NowMs()));
  active_ = version->generations.front().get();
  active_->after_sequence = manifest_.flushed;
  active_->series_begin = registry_.size();
  SetVersion(std::move(version));

  // Tables of an earlier start may have been altered since.
  for (const TableDescriptor& table : options_.tables) {
    if (!HasFamiliesOf(table)) RETURN_IF_ERROR(CreateTable(table));
  }
  ReplayPipe pipe(RowMemory::kLanes, [this](const ReplayItem& item) {
    if (item.table != nullptr) return ApplyRow(*item.table, item.row, item.sequence);
    ApplyPoints(item.points, item.sequence);
  });
  TsuidList met;
  ASSIGN_OR_RETURN(auto recovery, lsm::RecoverLog(files_, options_.path, manifest_.log_file,
                                                  manifest_.log_position, manifest_.flushed,
                                                  [&](const lsm::LogRecord& record) {
                                                    return Replay(record, &pipe, &met);
                                                  }));
  AddMet(&met);
  pipe.Finish();
  sequence_ = std::max(sequence_, recovery.last_sequence);
  replayed_ = recovery.records;
  log_released_ = manifest_.log_position;
  active_bytes_ = active_->bytes();
  log_ = std::make_unique<lsm::Log>(files_, LogOptionsOf(options_), std::move(recovery.next));
  if (options_.background) {
    flush_thread_ = std::thread([this] { FlushLoop(); });
    merge_thread_ = std::thread([this] { MergeLoop(MergePool::kSmall); });
    large_merge_thread_ = std::thread([this] { MergeLoop(MergePool::kLarge); });
  }
  return {};
}

Status Engine::LoadOrMakeManifest() {
  auto loaded = lsm::LoadManifest(files_, options_.path);
  if (loaded.ok()) {
    manifest_ = std::move(*loaded);
    return CompareLayouts(options_.layout, manifest_.layout, options_.path);
  }
  if (loaded.status().code() != StatusCode::kNotFound) return loaded.status();
  ASSIGN_OR_RETURN(auto names, files_.List(options_.path));
  ASSIGN_OR_RETURN(const auto of_runs, RunFilesIn(files_, options_.path));
  names.insert(names.end(), of_runs.begin(), of_runs.end());
  for (const std::string& name : names) {
    if (name == kRestoringName) {
      return Status::Corruption(options_.path +
                                ": a restore did not come to its end: run it again");
    }
    if (name.ends_with(".log") || name.ends_with(".cells") || name.ends_with(".points")) {
      return Status::Corruption(options_.path + ": " + lsm::kManifestName + " is missing beside " +
                                name);
    }
  }
  if (options_.layout.salt_width > 0 && options_.layout.salt_buckets > lsm::kSaltBucketsMax) {
    return Status::InvalidArgument(std::to_string(options_.layout.salt_buckets) +
                                   " salt buckets, at most " +
                                   std::to_string(lsm::kSaltBucketsMax));
  }
  manifest_.layout = options_.layout;
  return lsm::SaveManifest(files_, options_.path, manifest_);
}

// In a data directory of old, the first region had the keys whose salt no series has: they are the
// regions' now in whose range they are.
Status Engine::AdoptStrayKeys() {
  if (!manifest_.keys_astray) return {};
  lsm::Manifest manifest = manifest_;
  std::vector<lsm::RunEntry> adopted;
  for (const lsm::TableEntry& table : manifest_.tables) {
    const region::RegionMap regions(table.regions);
    for (lsm::RunEntry& run : manifest.runs) {
      if (run.table != table.id || run.region != 0 || run.cells_bytes == 0) continue;
      ASSIGN_OR_RETURN(
          const auto file,
          lsm::BlockFile::Open(
              files_, Run::CellsPath(lsm::NamespaceFolder(options_.path, run.space), run.number)));
      std::vector<lsm::RunEntry> others;
      for (size_t region = 1; region < regions.count(); ++region) {
        lsm::BlockFileScan rows(file, regions.Start(region), regions.Stop(region));
        ASSIGN_OR_RETURN(const bool any, rows.Next());
        if (!any) continue;
        run.reference = true;
        others.push_back(run);
        others.back().region = regions.Id(region);
      }
      adopted.insert(adopted.end(), others.begin(), others.end());
    }
  }
  if (adopted.empty()) return {};
  manifest.runs.insert(manifest.runs.end(), adopted.begin(), adopted.end());
  RETURN_IF_ERROR(lsm::SaveManifest(files_, options_.path, manifest));
  manifest_ = std::move(manifest);
  return {};
}

// Opens what the manifest names and removes what it does not.
Status Engine::OpenRuns(Version* version) {
  for (const lsm::TableEntry& table : manifest_.tables) {
    version->regions[table.id] = std::make_shared<region::RegionMap>(table.regions);
  }
  // Newest first, as they are read.
  std::vector<lsm::RunEntry> entries = manifest_.runs;
  std::sort(entries.begin(), entries.end(), [](const lsm::RunEntry& a, const lsm::RunEntry& b) {
    return a.last_sequence > b.last_sequence;
  });
  std::map<uint64_t, std::shared_ptr<const RunFiles>> opened;
  for (const lsm::RunEntry& entry : entries) {
    auto& files = opened[entry.number];
    if (files == nullptr) {
      ASSIGN_OR_RETURN(files, OpenFiles(entry));
    }
    version->runs[{entry.table, entry.region}].push_back(std::make_shared<Run>(entry, files));
  }
  std::set<std::string> named;
  for (const StoredFile& file : FilesOf(manifest_.runs)) named.insert(file.name);
  ASSIGN_OR_RETURN(std::vector<std::string> rubbish, RunFilesIn(files_, options_.path));
  std::erase_if(rubbish, [&](const std::string& name) { return named.contains(name); });
  ASSIGN_OR_RETURN(const auto names, files_.List(options_.path));
  for (const std::string& name : names) {
    uint64_t number;
    if (lsm::ParseLogFileName(name, &number) && number < manifest_.log_file) {
      rubbish.push_back(name);
    }
  }
  for (const std::string& name : rubbish) {
    RETURN_IF_ERROR(files_.Remove(options_.path + "/" + name));
  }
  return {};
}

namespace {

// Series in the order of their numbers, as they are read; another thread adds those read before.
class SeriesIntake {
 public:
  explicit SeriesIntake(Registry* registry) : registry_(*registry), next_(registry->size()) {}

  /// The number of the next one.
  [[nodiscard]] uint32_t next() const { return next_; }
  /// The key of its row.
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

// From the next series on, as far as their rows are a single put each.
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
  // Oldest first, each mostly goes on where the one before ends. Whatever is otherwise is seen
  // below.
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if ((*run)->cells() == nullptr) continue;
    RETURN_IF_ERROR(ReadPlainSeries(layout(), (*run)->cells(), &intake));
  }
  std::vector<std::unique_ptr<lsm::RowSource>> sources;
  for (const auto& run : runs) {
    if (run->cells() == nullptr) continue;
    sources.push_back(lsm::ScanRows(run->cells(), intake.key(), "", lsm::CacheUse::kPast));
  }
  const auto rows = lsm::MergeSources(lsm::CellOrder::kByArrival, std::move(sources));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows->Next());
    if (!more) break;
    const lsm::CellRow row = rows->TakeRow();
    if (rows->key() != intake.key() || row.cells.size() != 1 ||
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

// The points decoded into the next item of lane 0 go to the lanes of their series.
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

// Whatever can be wrong with a record is found here, and series are added: what is handed on only
// needs to be applied.
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
        // Of a table that was dropped nothing is left to tell but its number.
        if (row.table >= kFirstTable && row.table < manifest_.next_table) return {};
        return Status::Corruption("a row of an unknown table");
      }
      for (const StampedChange& change : row.changes) {
        if (change.family >= table->families.size()) {
          return Status::Corruption("a row with an unknown family");
        }
      }
      Bytes tsuid;
      uint32_t base;
      size_t lane = 0;  // of all that are not a series' hours
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
  // Whoever works on a region or holds one of these has come before; whoever comes later looks at
  // closed_ under them.
  {
    std::unique_lock lock(work_mutex_);
    work_done_.notify_all();
    work_done_.wait(lock, [this] { return work_.empty(); });
  }
  std::lock_guard maintenance(maintenance_);
  { std::lock_guard lock(write_); }
  Status status;
  if (log_ != nullptr) {
    if (!memory_is_logged()) status = FlushMemory();
    const Status synced = log_->Close();
    if (status.ok()) status = synced;
  }
  // Nothing is changed on the disk any more.
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
