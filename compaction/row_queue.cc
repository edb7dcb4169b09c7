#include "compaction/row_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "storage/base/survive.h"
#include "storage/points/render.h"

namespace hg::compaction {

void RowQueue::Written(ByteView key, uint32_t base) {
  const std::lock_guard lock(mutex_);
  Keys& hour = rows_[base];
  Bytes owned(key);
  if (hour.contains(owned)) return;
  if (count_ >= kRowsMax) {
    ++dropped_;
    return;
  }
  hour.insert(std::move(owned));
  ++count_;
}

size_t RowQueue::Round() {
  if (waits_ && waits_()) return 0;
  const RowCompactorStats compactor = compactor_->Stats();
  const uint64_t failures = compactor.failed_reads + compactor.failed_writes;
  std::vector<std::pair<Bytes, uint32_t>> due;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(failures_, failures) != failures || compactor.queued > 0) return 0;
    if (count_ <= options_.min_flush_threshold) return 0;
    const uint64_t share =
        count_ * static_cast<uint64_t>(options_.flush_interval_s) * options_.flush_speed / 3600;
    // RowCompactor refuses more rows than its queue can hold.
    const uint64_t budget =
        std::min<uint64_t>({std::max(options_.min_flush_threshold, share),
                            options_.max_concurrent_flushes, RowCompactor::kQueueMax});
    const int64_t now_s = clock_.NowMs() / 1000;
    due.reserve(std::min<uint64_t>(budget, count_));
    while (due.size() < budget && !rows_.empty() && points::IsOldRow(rows_.begin()->first, now_s)) {
      const auto hour = rows_.begin();
      if (!hour->second.empty()) {
        due.emplace_back(std::move(hour->second.extract(hour->second.begin()).value()),
                         hour->first);
        --count_;
      }
      if (hour->second.empty()) rows_.erase(hour);
    }
  }
  for (const auto& row : due) {
    if (Survive([&] { compactor_->Offer(row.first, row.second); }).ok()) continue;
    const std::lock_guard lock(mutex_);
    ++dropped_;
  }
  return due.size();
}

void RowQueue::Start() {
  worker_ = std::thread([this] { Work(); });
}

void RowQueue::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, std::chrono::seconds(options_.flush_interval_s),
                      [this] { return stopping_; });
    if (stopping_) return;
    lock.unlock();
    (void)Survive([this] { (void)Round(); });  // after an exception, the next round tries again
    lock.lock();
  }
}

void RowQueue::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (worker_.joinable()) worker_.join();
}

RowQueueStats RowQueue::Stats() const {
  const std::lock_guard lock(mutex_);
  return {count_, dropped_};
}

}  // namespace hg::compaction
