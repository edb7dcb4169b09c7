#pragma once
// Observers of a store. An observer may reject writes (region-store.md X1). Observers run in the
// process of the store, are registered when the store is opened, and apply to all tables.

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

/// A report about one flush, merge, split or other work on files that has ended.
struct StoreWork {
  enum class Kind : uint8_t { kFlush, kMerge, kSplit, kExpiry, kDrop };

  Kind kind = Kind::kFlush;
  std::string table;           // "" = the work concerns all tables, or the table of series
  uint64_t parts_read = 0;     // number of parts that the work removed
  uint64_t parts_written = 0;  // number of parts that the work created
  uint64_t bytes_read = 0;     // size in bytes of the files of the removed parts
  uint64_t bytes_written = 0;  // size in bytes of the files of the created parts
  int64_t begin_ms = 0;        // when the work began, in ms since the epoch
  int64_t end_ms = 0;
};

/// An observer of a store. Its functions must be thread-safe. Any thread may call them, but never
/// while a log is replayed or while the write lock is held. Flushes may wait for AfterWork. An
/// observer must not call the store that it observes. Exceptions are counted
/// (EmbeddedStats::observer_failures). An exception in a function that is called before a write
/// rejects the write.
class StoreObserver {
 public:
  virtual ~StoreObserver() = default;

  /// Observers are called in ascending order of priority, as in HBase. System observers use values
  /// of about 2^29, and user observers use values of 2^30 and above.
  [[nodiscard]] virtual int priority() const { return 1 << 30; }
  /// Returns whether the store must call the observer before writes (BeforeSeries, BeforePoints,
  /// BeforeRow).
  [[nodiscard]] virtual bool guards_writes() const { return false; }

  // The store calls the following functions before it does any part of a write. A failure rejects
  // the write, and the writer gets the failure. Observers that come later in the order are then not
  // called.
  virtual Status BeforeSeries(ByteView tsuid) { return (void)tsuid, Status(); }
  virtual Status BeforePoints(std::span<const PointEntry> batch) { return (void)batch, Status(); }
  /// The store calls this function before a change of a row. If the changes depend on stored data
  /// (counters, comparisons), `changes` is empty.
  virtual Status BeforeRow(const std::string& table, ByteView key,
                           std::span<const CellChange> changes) {
    return (void)table, (void)key, (void)changes, Status();
  }

  virtual void AfterWork(const StoreWork& work) { (void)work; }
  /// The store calls this function for each write that it rejected because memory is exhausted,
  /// also for an empty batch, on the thread of the writer. `why` is the error of the writer. Busy:
  /// the store rejects all writes. Exhausted: it rejects new series, new names and rows with long
  /// keys.
  virtual void AfterMemoryRefusal(const Status& why) { (void)why; }
  /// The store calls this function after a table was created or altered through the cell store.
  virtual void AfterTable(const TableDescriptor& table) { (void)table; }
};

using StoreObservers = std::vector<std::shared_ptr<StoreObserver>>;

/// The observers of one store, in the order of their priorities. Thread-safe.
class ObserverChain {
 public:
  explicit ObserverChain(StoreObservers observers);

  /// Returns whether at least one observer must be called before writes.
  [[nodiscard]] bool guards_writes() const { return !guards_.empty(); }
  Status BeforeSeries(ByteView tsuid) const;
  Status BeforePoints(std::span<const PointEntry> batch) const;
  Status BeforeRow(const std::string& table, ByteView key,
                   std::span<const CellChange> changes) const;
  void AfterWork(const StoreWork& work) const;
  void AfterMemoryRefusal(const Status& why) const;
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

/// Counts flushes, merges, splits and expired parts, and the bytes of flushes and merges.
class WorkCounters : public StoreObserver {
 public:
  struct Counts {
    uint64_t flushes = 0;
    uint64_t flushed_bytes = 0;  // bytes that flushes wrote to files
    uint64_t merges = 0;
    uint64_t merge_read_bytes = 0;
    uint64_t merged_bytes = 0;  // bytes that merges wrote to files
    uint64_t splits = 0;
    uint64_t expired_parts = 0;
  };

  [[nodiscard]] int priority() const override { return 1 << 29; }
  void AfterWork(const StoreWork& work) override;
  [[nodiscard]] Counts counts() const;

 private:
  mutable std::mutex mutex_;
  Counts counts_;  // guarded by mutex_
};

}  // namespace hg
