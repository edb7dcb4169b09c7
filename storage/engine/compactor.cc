#include "storage/engine/compactor.h"

#include <algorithm>

#include "storage/base/invariant.h"
#include "storage/region/region_count.h"

namespace hg::engine {
namespace {

constexpr auto kTick = std::chrono::milliseconds(1000);

}  // namespace

Compactor::Compactor(const Environment& env, FileSet& file_set, const TableCatalog& tables,
                     Memstore& memstore, IdleReaders& readers, RunningScans& running_scans,
                     const ChangeListeners& listeners)
    : env_(env),
      file_set_(file_set),
      tables_(tables),
      memstore_(memstore),
      registry_(memstore.registry()),
      readers_(readers),
      running_scans_(running_scans),
      listeners_(listeners) {}

void Compactor::Start() {
  threads_[kFlush] = std::thread([this] { FlushLoop(); });
  threads_[kSmallMerges] = std::thread([this] { MergeLoop(MergePool::kSmall); });
  threads_[kLargeMerges] = std::thread([this] { MergeLoop(MergePool::kLarge); });
  if (env_.options.sweep_interval_ms > 0)
    threads_[kSeriesSweep] = std::thread([this] { SweepLoop(); });
  threads_[kRelease] = std::thread([this] { ReleaseLoop(); });
}

Status Compactor::Stop(bool flush) {
  INVARIANT(env_.closed());
  {
    MutexLock lock(background_mutex_);
    stop_ = true;
    background_wake_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  // Waits for work that began before the store was closed. Later work finds that the store is
  // closed, because it checks this while it holds work_mutex_ or regions_mutex_.
  {
    MutexLock lock(work_mutex_);
    work_done_.NotifyAll();
    work_done_.Wait(work_mutex_, [this] {
      work_mutex_.AssertHeld();
      return work_.empty();
    });
  }
  MutexLock regions(regions_mutex_);
  memstore_.WaitForWriters();
  return flush ? FlushMemory() : Status();
}

bool Compactor::SleepUntilWanted(Worker worker, std::chrono::milliseconds time) {
  MutexLock lock(background_mutex_);
  background_wake_.WaitFor(background_mutex_, time, [&] {
    background_mutex_.AssertHeld();
    return stop_ || workers_[worker].wanted;
  });
  workers_[worker].wanted = false;
  return !stop_;
}

void Compactor::Pause(std::chrono::milliseconds time) {
  MutexLock lock(background_mutex_);
  background_wake_.WaitFor(background_mutex_, time, [this] {
    background_mutex_.AssertHeld();
    return stop_;
  });
}

void Compactor::EndRound(Worker worker, Status status) {
  MutexLock lock(background_mutex_);
  workers_[worker].error = std::move(status);
}

void Compactor::FlushLoop() {
  while (SleepUntilWanted(kFlush, kTick)) {
    const Status status = Survive([this] { return FlushIfNeeded(); });
    bool put_off = false;
    {
      MutexLock regions(regions_mutex_);
      put_off = flush_put_off_ms_.has_value();
    }
    EndRound(kFlush, status);
    // After a failure, or while merges lag behind, the next attempt waits for the next tick, even
    // if a flush is requested.
    if (!status.ok() || put_off) Pause(kTick);
  }
}

void Compactor::MergeLoop(MergePool pool) {
  const Worker worker = pool == MergePool::kLarge ? kLargeMerges : kSmallMerges;
  while (SleepUntilWanted(worker, std::chrono::milliseconds(env_.options.check_interval_ms))) {
    Status status = Survive([&] { return MergePending(pool); });
    if (pool == MergePool::kSmall) {
      const Status split = Survive([this] { return SplitWhereDue(); });
      if (status.ok()) status = split;
    }
    EndRound(worker, status);
  }
}

// The first sweep follows soon after the start, because the start also registers series without
// rows. The pause after a sweep is at least kRestPerWork times as long as the sweep.
void Compactor::SweepLoop() {
  constexpr int64_t kRestPerWork = 20;
  std::chrono::milliseconds rest(env_.options.check_interval_ms);
  // The version that was current when the last successful sweep began. If it is still current, no
  // row has been removed since then, and the loop skips the sweep.
  std::weak_ptr<const Version> swept;
  while (SleepUntilWanted(kSeriesSweep, rest)) {
    rest = std::chrono::milliseconds(env_.options.sweep_interval_ms);
    const auto version = file_set_.Pin();
    if (swept.lock() == version) continue;
    const int64_t begin_ms = env_.MonotonicMs();
    Status status = Survive([this] { return SweepSeries(); });
    if (status.ok()) swept = version;
    EndRound(kSeriesSweep, std::move(status));
    rest =
        std::max(rest, std::chrono::milliseconds((env_.MonotonicMs() - begin_ms) * kRestPerWork));
  }
}

void Compactor::ReleaseUnused() {
  if (!file_set_.ReleaseUnused()) return;
  MutexLock lock(background_mutex_);
  workers_[kRelease].wanted = true;
  background_wake_.NotifyAll();
}

// A thread of its own, because the others may work for minutes.
void Compactor::ReleaseLoop() {
  constexpr auto kSoon = std::chrono::milliseconds(50);
  while (SleepUntilWanted(kRelease, file_set_.ReleaseUnused() ? kSoon : kTick)) {
  }
}

void Compactor::WakeFlush() {
  MutexLock lock(background_mutex_);
  workers_[kFlush].wanted = true;
  background_wake_.NotifyAll();
}

void Compactor::WakeMerges() {
  MutexLock lock(background_mutex_);
  workers_[kSmallMerges].wanted = workers_[kLargeMerges].wanted = true;
  background_wake_.NotifyAll();
}

// Waits until no work runs in the regions, then locks them. The caller keeps `places` for
// ReleaseRegions, which therefore allocates no memory.
Status Compactor::HoldRegions(const std::vector<RegionPlace>& places) {
  // Adds all entries in one step, so that an allocation failure adds none.
  std::map<RegionPlace, RegionWork> held;
  for (const RegionPlace& place : places) held[place].held = true;
  MutexLock lock(work_mutex_);
  work_done_.Wait(work_mutex_, [&] {
    work_mutex_.AssertHeld();
    return env_.closed() || std::none_of(places.begin(), places.end(), [&](const auto& place) {
             work_mutex_.AssertHeld();
             return work_.contains(place);
           });
  });
  RETURN_IF_ERROR(env_.CheckOpen());
  work_.merge(held);
  INVARIANT(held.empty());  // no other thread holds one of the regions
  return {};
}

void Compactor::ReleaseRegions(const std::vector<RegionPlace>& places) {
  MutexLock lock(work_mutex_);
  for (const RegionPlace& place : places) {
    const auto work = work_.find(place);
    INVARIANT(work != work_.end() && work->second.held && work->second.merging.empty());
    work_.erase(work);
  }
  work_done_.NotifyAll();
}

void Compactor::AfterRepair() {
  ForgetMended();
  WakeMerges();
}

StoreWork Compactor::BeginWork(StoreWork::Kind kind, uint32_t table) const {
  StoreWork work;
  work.kind = kind;
  if (const Table* found = tables_.ById(table)) work.table = found->descriptor.name;
  work.begin_ms = env_.clock.NowMs();
  return work;
}

void Compactor::EndWork(StoreWork work) const {
  work.end_ms = env_.clock.NowMs();
  env_.observers.AfterWork(work);
}

void Compactor::AddTo(EmbeddedStats* stats) const {
  {
    MutexLock lock(work_mutex_);
    stats->regions_unmerged = failed_merges_.size();
  }
  MutexLock lock(background_mutex_);
  for (const WorkerState& worker : workers_) {
    if (stats->background_error.empty() && !worker.error.ok()) {
      stats->background_error = worker.error.ToString();
    }
  }
}

size_t CountRegions(const Version& version) {
  size_t count = 0;
  for (const auto& [table, regions] : version.regions) count += regions->count();
  return count;
}

Status CheckRegionCount(const Environment& env, const Version& version, size_t more) {
  const uint64_t most = region::RegionsWithin(env.options.open_files_max);
  const size_t count = CountRegions(version);
  if (count + more <= most) return {};
  return Status::LimitExceeded("the store has " + std::to_string(count) + " regions; " +
                               std::to_string(more) + " more would exceed the limit of " +
                               std::to_string(most) + " regions over all tables");
}

}  // namespace hg::engine
