#pragma once
// Who keeps what was made of old rows of points (a cache, rollups) must learn that they change. An
// engine that can tell is a WatchedPoints beside its Points; only the embedded one is: over HBase
// other daemons write, too. Rows of now are nobody's business, and cost one comparison a point.

#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg {

/// Rows of one metric and one hour.
struct ChangedRows {
  ByteView metric;    // UID bytes
  uint32_t base = 0;  // seconds, a multiple of the row span

  auto operator<=>(const ChangedRows&) const = default;
};

/// Thread-safe. Called on the threads that write, network loops among them, and outside of the
/// engine's locks: quick, and never waiting for a disk. It throws nothing.
class ChangeListener {
 public:
  virtual ~ChangeListener() = default;

  /// Some of these rows are about to change, or to come into being. A failure refuses the write and
  /// is its answer. It may write to the engine what is not itself below the horizon of its points.
  virtual Status BeforeChange(const ChangedRows& rows) { return (void)rows, Status(); }
  /// They have changed, or may have: called once for each successful BeforeChange, whatever became
  /// of the write. Readers see the change by then, and it is not acknowledged yet: what was made of
  /// a scan that began before this call may lack it.
  virtual void AfterChange(const ChangedRows& rows) = 0;
  /// Any row may look different from now on: the table of points was altered, or whole files of
  /// old rows went (Points::DropFiles).
  virtual void AfterAlteration() {}
};

/// A points door whose engine tells of its old rows: points of Append, rows that DeleteRows or the
/// cells door change (put, append, delete, annotations, histograms, folding). Not told: flushes and
/// merges, which change form only; rows whose TTL is over, which nobody changes (RowsExpire); each
/// row of files that go whole, which are one alteration.
/// Thread-safe.
class WatchedPoints {
 public:
  virtual ~WatchedPoints() = default;

  /// From now on, until the engine is gone. Before this listener's RaiseHorizon.
  virtual void Listen(std::shared_ptr<ChangeListener> listener) = 0;
  /// Rows of hours below it are told of, to all listeners. It only rises: the highest that anyone
  /// asked for holds; 0 at first. Takes the write lock, if it rises: when it returns, whatever
  /// changed below it without being told of is seen by scans that begin then.
  virtual void RaiseHorizon(uint32_t base) = 0;
  [[nodiscard]] virtual uint32_t horizon() const = 0;
  /// The table of points has a TTL: rows go by themselves, and nobody is told.
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
      std::make_shared<All>();  // guarded by mutex_; the list constant
};

/// What one write tells of: each of its old rows once before it, and once behind it, when this
/// object goes. One thread.
class ToldRows {
 public:
  explicit ToldRows(const ChangeListeners& listeners) : listeners_(listeners) {}
  ~ToldRows() {
    if (!told_.empty()) TellAfter();
  }
  ToldRows(const ToldRows&) = delete;
  ToldRows& operator=(const ToldRows&) = delete;

  /// Outside of all locks. `rows.metric` outlives this object.
  Status Tell(const ChangedRows& rows);

  /// Rows below it were told of, as far as the write has any.
  uint32_t below = 0;

 private:
  struct Told {
    ChangedRows rows;
    size_t listeners = 0;  // that were asked, from the first
  };

  void TellAfter() const;

  const ChangeListeners& listeners_;
  std::shared_ptr<const ChangeListeners::All> all_;  // null until something is told
  std::vector<Told> told_;
  std::set<ChangedRows> known_;  // of told_
};

}  // namespace hg
