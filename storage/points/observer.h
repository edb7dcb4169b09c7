#pragma once
// Who watches a store, and may refuse what is written to it (spec region-store.md X1): in the same
// process, registered when the store is opened, never named by a table.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/points/points.h"
#include "storage/store.h"

namespace hg {

/// A piece of work on files that came to its end.
struct StoreWork {
  enum class Kind : uint8_t { kFlush, kMerge, kSplit, kExpiry, kDrop };

  Kind kind = Kind::kFlush;
  std::string table;           // "" = of all, or the table of series
  uint64_t runs_read = 0;      // that are gone by it
  uint64_t runs_written = 0;   // that came by it
  uint64_t bytes_read = 0;     // of the files of these
  uint64_t bytes_written = 0;  // likewise
  int64_t begin_ms = 0;        // by the store's clock
  int64_t end_ms = 0;
};

/// Thread-safe; called from any thread, never while a log is replayed, and not in the write lock;
/// flushes may wait for AfterWork. It must not call the store it watches. What it throws is counted
/// (EmbeddedStats::observer_failures); a write that it was asked about is refused then.
class StoreObserver {
 public:
  virtual ~StoreObserver() = default;

  /// The first 0, the system's around 2^29, users' from 2^30 on, as in HBase.
  [[nodiscard]] virtual int priority() const { return 1 << 30; }
  /// Only such an observer is asked before a write.
  [[nodiscard]] virtual bool guards_writes() const { return false; }

  // Before anything is done of it. A failure refuses it, is its writer's answer, and the observers
  // behind this one are not asked.
  virtual Status BeforeSeries(ByteView tsuid) { return (void)tsuid, Status(); }
  virtual Status BeforePoints(std::span<const PointEntry> batch) { return (void)batch, Status(); }
  /// `changes`: none where they depend on what is stored (counters, comparisons).
  virtual Status BeforeRow(const std::string& table, ByteView key,
                           std::span<const CellChange> changes) {
    return (void)table, (void)key, (void)changes, Status();
  }

  virtual void AfterWork(const StoreWork& work) { (void)work; }
  /// A table was made or altered through the cells door.
  virtual void AfterTable(const TableDescriptor& table) { (void)table; }
};

using StoreObservers = std::vector<std::shared_ptr<StoreObserver>>;

/// The observers of one store, in the order of their priorities. Thread-safe.
class ObserverChain {
 public:
  explicit ObserverChain(StoreObservers observers);

  /// Without it nobody need be asked before a write.
  [[nodiscard]] bool guards_writes() const { return !guards_.empty(); }
  Status BeforeSeries(ByteView tsuid) const;
  Status BeforePoints(std::span<const PointEntry> batch) const;
  Status BeforeRow(const std::string& table, ByteView key,
                   std::span<const CellChange> changes) const;
  void AfterWork(const StoreWork& work) const;
  void AfterTable(const TableDescriptor& table) const;
  [[nodiscard]] uint64_t failures() const { return failures_; }

 private:
  template <typename Ask>
  Status AskAll(const Ask& ask) const;
  template <typename Tell>
  void TellAll(const Tell& tell) const;

  StoreObservers all_;
  StoreObservers guards_;
  mutable std::atomic<uint64_t> failures_{0};
};

/// Counts the work on files.
class WorkCounters : public StoreObserver {
 public:
  struct Counts {
    uint64_t flushes = 0;
    uint64_t flushed_bytes = 0;  // written
    uint64_t merges = 0;
    uint64_t merge_read_bytes = 0;
    uint64_t merged_bytes = 0;  // written
    uint64_t splits = 0;
    uint64_t expired_runs = 0;
  };

  [[nodiscard]] int priority() const override { return 1 << 29; }
  void AfterWork(const StoreWork& work) override;
  [[nodiscard]] Counts counts() const;

 private:
  mutable std::mutex mutex_;
  Counts counts_;  // guarded by mutex_
};

}  // namespace hg
