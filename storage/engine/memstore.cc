#include "storage/engine/memstore.h"

#include "storage/base/invariant.h"
#include "storage/region/spread.h"

namespace hg::engine {
namespace {

constexpr size_t kFrozenMax = 3;
constexpr double kFlushAgeJitter = 0.1;  // part of flush_age_ms by which a flush may be late

}  // namespace

Memstore::Memstore(const Environment& env, FileSet& file_set, const TableCatalog& tables,
                   const ChangeListeners& listeners, std::function<void()> wake_flush)
    : env_(env),
      file_set_(file_set),
      tables_(tables),
      listeners_(listeners),
      wake_flush_(std::move(wake_flush)),
      registry_(env.layout()),
      rows_(env, tables, registry_) {}

Status Memstore::Close() {
  INVARIANT(env_.closed());
  return log_ != nullptr ? log_->Close() : Status();
}

Memstore::FlushDue Memstore::TakeFlushDue(const Memtable& active) {
  // The jitter keeps stores that were started together from flushing together.
  const int64_t flush_age_ms = env_.options.flush_age_ms;
  const auto age_ms =
      flush_age_ms + static_cast<int64_t>(static_cast<double>(flush_age_ms) * kFlushAgeJitter *
                                          region::Spread(active.after_sequence));
  const bool for_series = flush_request_.exchange(FlushRequest::kNone, std::memory_order_relaxed) ==
                          FlushRequest::kForSeries;
  // The more memory series, names and file indexes take, the less is left for unflushed data.
  const bool large = active.bytes() > FlushBytes() ||
                     (active.bytes() > EarlyFlushBytes() &&
                      ResidentBytes() + MemoryBytes() > env_.memory_max / 100 * 80) ||
                     (active.bytes() > UrgentFlushBytes() && for_series);
  const bool old = env_.clock.NowMs() - active.made_ms >= age_ms;
  const bool long_log = log_->End() - log_released_ >= env_.options.log_max_bytes;
  // While a flush is postponed, a long row could grow without limit.
  const bool long_row = active.rows.has_long_row();
  return {large || old || long_log || long_row, for_series || long_row};
}

void Memstore::Freeze() {
  if (file_set_.Pin()->memtables.size() > kFrozenMax) return;
  // A new memtable zeroes megabytes for its tables, so it is created before the lock is taken.
  auto made = std::make_shared<Memtable>(env_.clock.NowMs());
  Memtable* const memtable = made.get();
  file_set_.AddMemory(std::move(made), [&](const std::function<void()>& publish) {
    // A new series is logged before it is added to the registry. The lock ensures that no series is
    // between these two steps.
    MutexLock no_new_series(register_);
    const uint32_t series = registry_.size();
    MutexLock lock(write_);
    if (sequence_ == active_->after_sequence) return;
    active_->last_sequence = sequence_;
    active_->series_end = series;
    active_->log_end = log_->SwitchFile();
    INVARIANT(active_->log_end.position >= log_released_);
    memtable->after_sequence = sequence_;
    memtable->series_begin = series;
    // The new memtable begins at the sequence and series at which the frozen memtable ends.
    INVARIANT(active_->last_sequence > active_->after_sequence &&
              active_->series_end >= active_->series_begin);
    // MemoryBytes must not count the frozen memtable twice, so the two counters change in this
    // order.
    active_bytes_ = memtable->bytes();
    active_->CountIn(frozen_bytes_);
    active_ = memtable;
    publish();
  });
}

Status Memstore::WaitSynced(const Memtable& frozen) {
  return log_->WaitSynced(frozen.log_end.position);
}

Flushed Memstore::FlushedBy(const Memtable& frozen) {
  MutexLock lock(write_);
  INVARIANT(&frozen != active_);
  INVARIANT(frozen.last_sequence <= active_->after_sequence && frozen.last_sequence <= sequence_);
  return {frozen.last_sequence, frozen.log_end.file_number, frozen.log_end.position,
          *std::max_element(stamp_floors_ms_.begin(), stamp_floors_ms_.end())};
}

void Memstore::ReleaseLog(const Memtable& flushed) {
  INVARIANT(flushed.log_end.position >= log_released_ &&
            flushed.log_end.position <= log_->Synced());
  log_released_ = flushed.log_end.position;
  log_->Release(flushed.log_end.file_number);
}

uint64_t Memstore::UnflushedBytes() const {
  const auto version = file_set_.Pin();  // keeps the memtables during the loop
  uint64_t bytes = 0;
  for (const auto& memtable : version->memtables) bytes += memtable->bytes();
  return bytes;
}

void Memstore::AddTo(EmbeddedStats* stats) const {
  stats->series = registry_.size() - registry_.forgotten_count();
  stats->memory_bytes = MemoryBytes();
  stats->memory_limit_bytes = env_.memory_max;
  stats->registry_bytes = registry_.bytes();
  stats->registry_mapped_bytes = registry_.mapped_bytes();
  stats->file_memory_bytes = file_set_.MemoryBytes();
  stats->name_bytes = NameBytes();
  stats->refused_series = refused_series_.load(std::memory_order_relaxed);
  stats->series_full = SeriesFull();
  stats->series_refused_now = SeriesRefusedNow();
  stats->replayed_records = replayed_;
  stats->log_bytes = log_ ? log_->End() - log_released_.load() : 0;
}

}  // namespace hg::engine
