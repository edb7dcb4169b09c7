#pragma once
// Change notifications for old rows of points. Caches and rollups that were computed from old rows
// use them. Only the embedded engine provides them, because other daemons can change HBase's tables
// unnoticed. Current rows cause no notification and cost one comparison per point.

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
  ByteView metric;    // UID bytes
  uint32_t base = 0;  // seconds, a multiple of the row span

  auto operator<=>(const ChangedRows&) const = default;
};

/// Thread-safe. Called on the writing threads, which include network loops, and outside of the
/// engine's locks. The functions must be fast, must not wait for a disk and must not throw.
class ChangeListener {
 public:
  virtual ~ChangeListener() = default;

  /// Called before some of these rows are changed or created. A failure rejects the write and is
  /// returned to the writer. The listener may write to the engine, except points below its horizon.
  virtual Status BeforeChange(const ChangedRows& rows) { return (void)rows, Status(); }
  /// Called once for each successful BeforeChange, after the write, whether or not the write
  /// succeeded: these rows may have changed. Readers already see the change, but it is not
  /// acknowledged yet. Scans that began before this call may not have seen it.
  virtual void AfterChange(const ChangedRows& rows) = 0;
  /// Called when any row may have changed, because the table of points was altered or whole files
  /// of old rows were deleted (Points::DropFiles).
  virtual void AfterAlteration() {}
};

/// Implemented by a point store whose engine reports changes of old rows. It reports points of
/// Append, and rows changed by DeleteRows or through the cell store (put, append, delete,
/// annotations, histograms, row compaction). It does not report flushes and merges, because they
/// change only the form, nor rows whose TTL is over (RowsExpire). It reports the deletion of whole
/// files as one alteration.
///
/// Thread-safe.
class WatchedPoints {
 public:
  virtual ~WatchedPoints() = default;

  /// Registers the listener until the engine is closed. Call it before RaiseHorizon of this
  /// listener.
  virtual void Listen(std::shared_ptr<ChangeListener> listener) = 0;
  /// Changes of rows with hours below `base` are reported to all listeners. The horizon starts at 0
  /// and never falls, so the highest request applies. If it rises, the call takes the write lock.
  /// When it returns, new scans see all unreported changes below the horizon.
  virtual void RaiseHorizon(uint32_t base) = 0;
  [[nodiscard]] virtual uint32_t horizon() const = 0;
  /// Returns whether the table of points has a TTL. Expired rows disappear without notification.
  [[nodiscard]] virtual bool RowsExpire() const = 0;
};

/// The listeners of one store. Thread-safe.
class ChangeListeners {
 public:
  void Add(std::shared_ptr<ChangeListener> listener);
  void AfterAlteration() const;

 private:
  friend class ToldRows;
  using All = std::vector<std::shared_ptr<ChangeListener>>;
  [[nodiscard]] std::shared_ptr<const All> all() const;

  mutable std::mutex mutex_;
  std::shared_ptr<const All> all_ =
      std::make_shared<All>();  // guarded by mutex_; the list that it points to never changes
};

/// The notifications of one write. It reports each old row once before the write, and once after
/// the write, when this object is destroyed. Not thread-safe.
class ToldRows {
 public:
  explicit ToldRows(const ChangeListeners& listeners) : listeners_(listeners) {}
  ~ToldRows() {
    if (!told_.empty()) TellAfter();
  }
  ToldRows(const ToldRows&) = delete;
  ToldRows& operator=(const ToldRows&) = delete;

  /// Reports the rows to the listeners before the write. Call it outside of all locks.
  /// `rows.metric` must outlive this object.
  Status Tell(const ChangedRows& rows);

  /// The changes of rows with bases below this time were reported. If the horizon has risen above
  /// it meanwhile, the write must report more rows.
  uint32_t below = 0;

 private:
  struct Told {
    ChangedRows rows;
    size_t listeners = 0;  // number of listeners that were called, from the first one
  };

  void TellAfter() const;

  const ChangeListeners& listeners_;
  std::shared_ptr<const ChangeListeners::All> all_;  // null until something is reported
  std::vector<Told> told_;
  std::set<ChangedRows> known_;  // the rows in told_, to find repeats
};

}  // namespace hg
