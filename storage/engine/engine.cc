#include "storage/engine/engine.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "storage/base/invariant.h"
#include "storage/engine/online_repair.h"

namespace hg::engine {
namespace {

// Maximum share of the memory limit for unflushed memory and the block cache together. The
// remaining memory is for queries and raw series keys (region-store.md F5).
constexpr double kSharesMax = 0.8;

Status CheckShares(const EmbeddedOptions& options) {
  const double sum = options.memory_share + options.cache_share;
  if (options.memory_share > 0 && options.cache_share >= 0 && sum <= kSharesMax + 1e-9) return {};
  char shares[64];
  std::snprintf(shares, sizeof shares, "%g and %g", options.memory_share, options.cache_share);
  return Status::InvalidArgument(
      "invalid shares of the memory limit for unflushed memory and the block cache: " +
      std::string(shares) + " (the first share must be above 0, and the sum at most 0.8)");
}

Status WithAdvice(Status status) {
  if (status.code() != StatusCode::kCorruption) return status;
  return Status::Corruption(std::string(status.message()) +
                            " ('tsdb repair' moves damaged files aside and reports lost data)");
}

}  // namespace

Engine::Engine(const EmbeddedOptions& options, FileSystem& files, const Clock& clock)
    : env_(options, files, clock),
      cache_(std::make_shared<lsm::BlockCache>(static_cast<uint64_t>(
          static_cast<double>(options.memory_limit_bytes) * options.cache_share))),
      file_set_(files, options.path, cache_, read_counters_),
      memstore_(env_, file_set_, tables_, listeners_, [this] { compactor_.WakeFlush(); }),
      compactor_(env_, file_set_, tables_, memstore_, readers_, running_scans_, listeners_) {}

Result<std::unique_ptr<Engine>> Engine::Open(const EmbeddedOptions& options, FileSystem& files,
                                             const Clock& clock) {
  RETURN_IF_ERROR(CheckShares(options));
  std::unique_ptr<Engine> engine(new Engine(options, files, clock));
  RETURN_IF_ERROR(engine->Start());
  return engine;
}

Status Engine::Start() {
  RETURN_IF_ERROR(env_.files.CreateFolder(env_.options.path));
  ASSIGN_OR_RETURN(lock_, env_.files.Lock(env_.options.path + "/LOCK", env_.options.lock_note));
  RETURN_IF_ERROR(file_set_.LoadManifest(env_.layout()));
  const lsm::Manifest stored = file_set_.State().manifest;
  for (const lsm::TableEntry& entry : stored.tables) {
    RETURN_IF_ERROR(MakeFolderOf(entry.name));
    tables_.Add(entry);
  }
  RETURN_IF_ERROR(WithAdvice(file_set_.OpenFiles()));
  RETURN_IF_ERROR(WithAdvice(memstore_.Load(stored)));
  // A table that already has these families is not changed, because a client may have altered its
  // other attributes.
  for (const TableDescriptor& table : env_.options.tables)
    RETURN_IF_ERROR(CheckOnlyPointsTable(table));
  for (const TableDescriptor& table : env_.options.tables) {
    if (!HasFamiliesOf(table)) RETURN_IF_ERROR(CreateTable(table));
  }
  RETURN_IF_ERROR(memstore_.Replay(stored));
  RETURN_IF_ERROR(memstore_.ForgetDuplicates());
  if (env_.options.background) compactor_.Start();
  return {};
}

// The point store has one table. If the options name another table of points than the directory
// has, the points would go to the old table without a message.
Status Engine::CheckOnlyPointsTable(const TableDescriptor& table) const {
  const Table* const points = tables_.points();
  if (!table.points || points == nullptr) return {};
  const auto known = tables_.Find(table.name);
  if (known.ok() && (*known)->id == points->id) return {};
  return Status::InvalidArgument(env_.options.path + " has its points in table '" +
                                 points->descriptor.name + "', so '" + table.name +
                                 "' cannot be the table of points");
}

Engine::~Engine() { (void)Close(); }

Status Engine::Close() {
  if (!env_.Close()) return {};
  Status status = compactor_.Stop(memstore_.has_log() && !env_.memory_is_logged());
  const Status synced = memstore_.Close();
  if (status.ok()) status = synced;
  (void)file_set_.ReleaseUnused();
  // From here on, the store changes nothing on disk.
  lock_.reset();
  return status;
}

bool Engine::RowsExpire() const {
  const auto& families = tables_.points()->descriptor.families;
  return std::any_of(families.begin(), families.end(),
                     [](const FamilyDescriptor& family) { return family.ttl_s != kTtlForever; });
}

Result<RepairReport> Engine::Repair() {
  return Released(OnlineRepair(env_, file_set_, listeners_, compactor_).Repair());
}

EmbeddedStats Engine::Stats() const {
  EmbeddedStats stats;
  memstore_.AddTo(&stats);
  const auto version = Pin();
  std::set<uint64_t> counted;
  for (const auto& [region, parts] : version->parts) {
    for (const auto& part : parts) {
      const lsm::PartEntry& entry = part->entry();
      if (!counted.insert(entry.number).second) continue;
      stats.file_count += (entry.cells_bytes > 0 ? 1 : 0) + (entry.points_bytes > 0 ? 1 : 0);
      stats.file_bytes += entry.cells_bytes + entry.points_bytes;
    }
  }
  const WorkCounters::Counts work = env_.work_counters->counts();
  stats.flushes = work.flushes;
  stats.flushed_bytes = work.flushed_bytes;
  stats.merges = work.merges;
  stats.merge_read_bytes = work.merge_read_bytes;
  stats.merged_bytes = work.merged_bytes;
  stats.expired_parts = work.expired_parts;
  stats.dropped_parts = file_set_.dropped_parts();
  stats.splits = work.splits;
  stats.observer_failures = env_.observers.failures();
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
  compactor_.AddTo(&stats);
  return stats;
}

}  // namespace hg::engine
