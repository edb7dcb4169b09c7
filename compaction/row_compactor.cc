#include "compaction/row_compactor.h"

#include <algorithm>

#include "storage/base/memory_limit.h"
#include "storage/base/survive.h"
#include "storage/codec/row_key.h"
#include "storage/points/reconcile.h"
#include "storage/points/render.h"

namespace hg::compaction {
RowCompactor::RowCompactor(Store* store, RowCompactorOptions options, const Clock& clock)
    : store_(store), options_(std::move(options)), clock_(clock) {}

RowCompactor::~RowCompactor() { EndWorker(); }

bool RowCompactor::OldEnough(uint32_t base) const {
  return points::IsOldRow(base, clock_.NowMs() / 1000);
}

void RowCompactor::Offer(ByteView key, uint32_t base) {
  if (!OldEnough(base)) return;
  std::lock_guard lock(mutex_);
  Bytes owned(key);
  if (waiting_.contains(owned)) return;
  if (stopping_ || queue_.size() >= kQueueMax) {
    ++stats_.dropped;
    return;
  }
  queue_.push_back(owned);
  // If the key cannot be inserted into waiting_, it is removed from queue_ again.
  const Status noted = Survive([&] { waiting_.insert(std::move(owned)); });
  if (!noted.ok()) {
    queue_.pop_back();
    ++stats_.dropped;
    return;
  }
  ++stats_.offered;
  changed_.notify_one();
}

void RowCompactor::Start() {
  worker_ = std::thread([this] { Work(); });
}

bool RowCompactor::Take(Bytes* key) {
  if (queue_.empty()) return false;
  *key = std::move(queue_.front());
  queue_.pop_front();
  waiting_.erase(*key);
  ++busy_;
  return true;
}

Status RowCompactor::CompactCounted(const Bytes& key) {
  const Result<bool> changed = Survive([&] { return CompactRow(key); });
  std::lock_guard lock(mutex_);
  --busy_;
  if (!changed.ok()) {
    ++stats_.failed;
  } else if (*changed) {
    ++stats_.rewritten;
  }
  changed_.notify_all();
  return changed.status();
}

void RowCompactor::Count(uint64_t RowCompactorStats::*counter, uint64_t by) {
  std::lock_guard lock(mutex_);
  stats_.*counter += by;
}

void RowCompactor::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) (void)CompactNext(&lock);
}

void RowCompactor::Drain() {
  std::unique_lock lock(mutex_);
  while (!queue_.empty() || busy_ > 0) {
    if (CompactNext(&lock).code() != StatusCode::kUnavailable) continue;
    // The store is unreachable. The other keys are dropped, because each of them would wait for the
    // store as long as the current key did.
    stats_.dropped += queue_.size();
    queue_.clear();
    waiting_.clear();
  }
}

Status RowCompactor::CompactNext(std::unique_lock<std::mutex>* lock) {
  Bytes key;
  if (!Take(&key)) {
    changed_.wait(*lock);
    return {};
  }
  lock->unlock();
  Status folded = CompactCounted(key);
  lock->lock();
  return folded;
}

void RowCompactor::EndWorker() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (worker_.joinable()) worker_.join();
}

void RowCompactor::Stop() {
  EndWorker();
  Drain();
}

RowCompactorStats RowCompactor::Stats() const {
  std::lock_guard lock(mutex_);
  RowCompactorStats stats = stats_;
  stats.queued = queue_.size();
  return stats;
}

Result<bool> RowCompactor::CompactRow(ByteView key) {
  ASSIGN_OR_RETURN(const auto decoded, codec::RowKey::Decode(options_.layout, key));
  if (!OldEnough(decoded.base())) return false;
  MemoryLimit limit(kRowBytesMax, "the row is too large", RequestContext::Unlimited());
  CellSelection wanted;
  wanted.family = points::kFamily;
  wanted.context = &limit;
  const Result<Row> got = store_->GetCells(options_.table, key, wanted);
  if (limit.exceeded()) return false;
  if (!got.ok()) {
    Count(&RowCompactorStats::failed_reads, 1);
    return got.status();
  }
  const Row& row = *got;
  ASSIGN_OR_RETURN(auto changes, points::PlanAppendRepair(row.cells, options_.reconcile));
  // A row with an append cell is repaired, but not compacted.
  if (changes.empty() && options_.enable_compaction) {
    ASSIGN_OR_RETURN(changes, points::PlanRowCompaction(row.cells, options_.reconcile));
  }
  if (changes.empty()) return false;
  const auto puts =
      static_cast<uint64_t>(std::count_if(changes.begin(), changes.end(), [](const CellChange& c) {
        return c.kind == CellChange::Kind::kPut;
      }));
  const uint64_t deletes = changes.size() - puts;
  const Result<bool> changed = store_->MutateIfUnchanged(points::kFamily, row.cells, options_.table,
                                                         {row.key, std::move(changes)});
  if (!changed.ok()) Count(&RowCompactorStats::failed_writes, 1);
  if (changed.ok() && *changed) {
    Count(&RowCompactorStats::cells_written, puts);
    Count(&RowCompactorStats::cells_deleted, deletes);
  }
  return changed;
}

}  // namespace hg::compaction
