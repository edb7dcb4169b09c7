#pragma once
// Reports of changes of old rows of points. Caches and rollups that were computed from old rows use
// these reports. Only the embedded engine provides them, because other daemons can change HBase's
// tables unnoticed. Changes of current rows are not reported and cost one comparison per point.

#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg {

/// The rows of one metric and one hour.
struct ChangedRows {
  ByteView metric;    // bytes of the metric UID
  uint32_t base = 0;  // base time in seconds, a multiple of the row span

  auto operator<=>(const ChangedRows&) const = default;
};

/// A listener for changes of old rows. Threads that write, including network loops, call it without
/// locks of the engine; a large read-modify-write holds Memstore::large_changes_ in BeforeChange.
/// The functions must be thread-safe and fast, and must not wait for a disk or throw.
class ChangeListener {
 public:
  virtual ~ChangeListener() = default;

  /// The engine calls this function before some of these rows are changed or created. A failure
  /// rejects the write, and the writer gets the failure. The listener may write to the engine,
  /// except points below the engine's horizon.
  virtual Status BeforeChange(const ChangedRows& rows) { return (void)rows, Status(); }
  /// The engine calls this function once for each successful BeforeChange, after the write, even if
  /// the write failed. The rows may have changed. Readers already see the change, but it is not
  /// acknowledged yet. Scans that began before this call may not have seen the change.
  virtual void AfterChange(const ChangedRows& rows) = 0;
  /// The engine calls this function when any row may have changed, because the points table was
  /// altered, or because whole files of old rows were deleted (Points::DropFiles).
  virtual void AfterAlteration() {}
};

/// A point store implements this interface if its engine reports changes of old rows. The engine
/// reports points of Append, and rows changed by DeleteRows or through the cell store (put, append,
/// delete, annotations, histograms, row compaction). The engine does not report flushes and merges,
/// because they do not change the meaning of rows. It does not report rows whose TTL is over
/// (RowsExpire). It reports the deletion of whole files as one alteration.
///
/// Thread-safe.
class WatchedPoints {
 public:
  virtual ~WatchedPoints() = default;

  /// Registers the listener until the engine is closed. Call Listen before you call RaiseHorizon
  /// for this listener.
  virtual void Listen(std::shared_ptr<ChangeListener> listener) = 0;
  /// After this call, changes of rows with hours below `base` are reported to all listeners. The
  /// horizon starts at 0 and never falls, so the greatest `base` of all calls applies. If the
  /// horizon rises, the call takes the write lock. When the call returns, new scans see all
  /// unreported changes below the horizon.
  virtual void RaiseHorizon(uint32_t base) = 0;
  [[nodiscard]] virtual uint32_t horizon() const = 0;
  /// Returns whether the points table has a TTL. Expired rows disappear without a report.
  [[nodiscard]] virtual bool RowsExpire() const = 0;
};

/// Holds the ChangeListeners that are registered with one store. Thread-safe.
class ChangeListeners {
 public:
  void Add(std::shared_ptr<ChangeListener> listener);
  void AfterAlteration() const;

 private:
  friend class ToldRows;
  using All = std::vector<std::shared_ptr<ChangeListener>>;
  [[nodiscard]] std::shared_ptr<const All> all() const;

  mutable std::mutex mutex_;
  // Guarded by mutex_. The list to which all_ points never changes.
  std::shared_ptr<const All> all_ = std::make_shared<All>();
};

/// Reports the old rows that one write changes. Tell reports a row to the listeners before the
/// write. The destructor reports the same row again after the write. Not thread-safe.
class ToldRows {
 public:
  explicit ToldRows(const ChangeListeners& listeners) : listeners_(listeners) {}
  ~ToldRows() {
    if (!told_.empty()) TellAfter();
  }
  ToldRows(const ToldRows&) = delete;
  ToldRows& operator=(const ToldRows&) = delete;

  /// Reports the rows of this metric and base time to the listeners before the write. If rows do
  /// not begin at a full hour, reports the hour of their start and the next hour. Call Tell
  /// outside of all locks. `metric` must outlive this object.
  Status Tell(ByteView metric, uint32_t base);

  /// Changes of rows with base times below this time were reported. If the horizon has risen above
  /// this time in the meantime, the write must report more rows.
  uint32_t below = 0;

 private:
  struct Told {
    ChangedRows rows;
    // BeforeChange has returned ok for the first `listeners` elements of `all_`.
    size_t listeners = 0;
  };

  Status TellHour(const ChangedRows& rows);
  void TellAfter() const;

  const ChangeListeners& listeners_;
  std::shared_ptr<const ChangeListeners::All> all_;  // null until the first report
  std::vector<Told> told_;
  std::set<ChangedRows> known_;  // the rows in told_; used to find repeated rows
};

}  // namespace hg
