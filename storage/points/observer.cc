#include "storage/points/observer.h"

#include <algorithm>
#include <exception>

namespace hg {

ObserverChain::ObserverChain(StoreObservers observers) : all_(std::move(observers)) {
  std::stable_sort(all_.begin(), all_.end(),
                   [](const auto& a, const auto& b) { return a->priority() < b->priority(); });
  for (const auto& observer : all_) {
    if (observer->guards_writes()) guards_.push_back(observer);
  }
}

template <typename Ask>
Status ObserverChain::AskAll(const Ask& ask) const {
  for (const auto& guard : guards_) {
    try {
      RETURN_IF_ERROR(ask(guard.get()));
    } catch (const std::exception& thrown) {
      ++failures_;
      return Status::Unavailable(std::string("an observer of the store failed: ") + thrown.what());
    } catch (...) {
      ++failures_;
      return Status::Unavailable("an observer of the store failed");
    }
  }
  return {};
}

Status ObserverChain::BeforeSeries(ByteView tsuid) const {
  return AskAll([&](StoreObserver* guard) { return guard->BeforeSeries(tsuid); });
}

Status ObserverChain::BeforePoints(std::span<const PointEntry> batch) const {
  return AskAll([&](StoreObserver* guard) { return guard->BeforePoints(batch); });
}

Status ObserverChain::BeforeRow(const std::string& table, ByteView key,
                                std::span<const CellChange> changes) const {
  return AskAll([&](StoreObserver* guard) { return guard->BeforeRow(table, key, changes); });
}

template <typename Tell>
void ObserverChain::TellAll(const Tell& tell) const {
  for (const auto& observer : all_) {
    try {
      tell(observer.get());
    } catch (...) {
      ++failures_;  // the change is already made, so failures are only counted
    }
  }
}

void ObserverChain::AfterMemoryRefusal(const Status& why) const {
  TellAll([&](StoreObserver* observer) { observer->AfterMemoryRefusal(why); });
}

void ObserverChain::AfterWork(const StoreWork& work) const {
  TellAll([&](StoreObserver* observer) { observer->AfterWork(work); });
}

void ObserverChain::AfterTable(const TableDescriptor& table) const {
  TellAll([&](StoreObserver* observer) { observer->AfterTable(table); });
}

void WorkCounters::AfterWork(const StoreWork& work) {
  std::lock_guard lock(mutex_);
  switch (work.kind) {
    case StoreWork::Kind::kFlush:
      ++counts_.flushes;
      counts_.flushed_bytes += work.bytes_written;
      return;
    case StoreWork::Kind::kMerge:
      ++counts_.merges;
      counts_.merge_read_bytes += work.bytes_read;
      counts_.merged_bytes += work.bytes_written;
      return;
    case StoreWork::Kind::kSplit:
      ++counts_.splits;
      return;
    case StoreWork::Kind::kExpiry:
      counts_.expired_parts += work.parts_read;
      return;
    case StoreWork::Kind::kDrop:
      return;  // the engine counts dropped parts (FileSet::dropped_parts)
  }
}

WorkCounters::Counts WorkCounters::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace hg
