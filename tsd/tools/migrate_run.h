#pragma once
// Runs the passes of a migration. The first pass reads all rows. Each later pass reads only the
// rows that changed since the previous pass began. Each worker processes one part (migrate_state.h)
// after another. It reads a few rows, migrates these rows (migrate_range.h) and continues.
//
// A later pass finds changes by the times of cells, which HBase sets when it stores the cells. The
// search starts some minutes before the start of the previous pass, because clocks differ and
// writes are repeated. This search does not find deleted rows. With
// tsd.storage.use_otsdb_timestamp, it does not find points with old times either. Later passes
// compare all rows in two cases: with tsd.storage.use_otsdb_timestamp, and for data directories,
// whose points have no cell times.

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "tsd/session.h"
#include "tsd/tools/migrate_range.h"
#include "tsd/tools/migrate_source.h"
#include "tsd/tools/migrate_state.h"
#include "tsd/tools/pacer.h"

namespace hg::tsd {

/// Returns whether the store holds points instead of cells, so that points have no cell times. The
/// result is true for the embedded engine and for the store of a daemon.
inline bool HoldsPoints(const Backend& backend) {
  return backend.native_points() || backend.beside_daemon();
}

struct MigrateOptions {
  bool only_compare = false;
  bool remove_extra = false;
  bool count = true;  // whether rows are counted before the pass, to estimate the remaining time
  int workers = 4;
  uint64_t bytes_per_s_max = UINT64_MAX;  // maximum rate of reading from the source
};

class MigrateRun {
 public:
  /// All references must outlive the object. Both sessions must be open, and must have the same id
  /// widths and the same salt. `save` stores the state. MigrateRun calls `save` once per second.
  /// Before each call of `save`, the target has made the progress in the state durable.
  MigrateRun(Session& from, Session& to, const Clock& clock, MigrateOptions options,
             std::function<Status(const MigrateState&)> save, std::ostream& err);

  /// Checks and prepares the target. Call this function before any other function. If the target is
  /// a daemon, the function creates the tables that the target lacks. InvalidArgument: the numbers
  /// of tables differ, or extra data should be removed from a target to which clients of a daemon
  /// write.
  Status Prepare();
  /// Returns OK if all tables of the target are empty. Otherwise returns Conflict; the message
  /// contains the name of a table that is not empty.
  Status CheckEmptyThere();
  /// Returns the parts of a first pass. The parts are made from the regions of each table in both
  /// stores. NotFound: the source lacks the table of points or the table of ids. Other tables that
  /// are missing in the source are reported. With --verify, missing tables get parts as well, so
  /// that all their rows in the target are counted as extra rows.
  Result<MigrateState> Plan();
  /// Starts the next pass after a pass that has finished. If a pass that reads only changed rows
  /// was interrupted, the next pass replaces it, because rows that the interrupted pass has already
  /// read may have changed again. Tables that are new in the source are migrated completely.
  Status PlanNext(MigrateState* state);
  /// Continues the pass of the state until its end. The state is saved before the first write.
  /// After the pass, report() has the differences and the extra rows. Conflict: the daemon of the
  /// target has other names or ids than the source (names_first.h); in this case, no rows of points
  /// were written.
  Status Pass(MigrateState* state);

  [[nodiscard]] const RangeReport& report() const { return report_; }
  /// Returns the number and the checksum of the rows that this pass has read.
  [[nodiscard]] const RowSum& sum() const { return sum_; }

 private:
  /// A table that is migrated: its names in both stores, and the rules for writing it.
  struct Table {
    std::string name;
    std::string there;
    RowRules rules;
    bool needed = false;   // whether every source must have this table
    bool missing = false;  // whether the table is missing in the source
    bool apart = false;    // whether the table is left out, because each store has its own
  };

  /// Returns whether other clients may write to the target through a daemon.
  [[nodiscard]] bool writes_beside() const {
    return to_.backend().beside_daemon() && !options_.only_compare;
  }
  Status PlanTable(Table* table, MigrateState* state);

  Status RunWorkers(MigrateState* state, const std::function<Status(MigratePart*)>& work);
  Status Save(const MigrateState& state);
  Status Count(MigratePart* part);
  Status Bring(const MigrateState& state, MigratePart* part);
  void Pace(size_t bytes);
  /// Logs the progress of the pass. `state.from` is empty while rows are counted.
  void Tell(const MigrateState& state);
  void TellDifference(const Table& table, const Bytes& start, const Bytes& stop,
                      const RowSum& source, const RangeReport& report);
  [[nodiscard]] const Table* TableOf(const std::string& name) const;

  Session& from_;
  Session& to_;
  const Clock& clock_;
  const MigrateOptions options_;
  const std::function<Status(const MigrateState&)> save_;
  std::vector<Table> tables_;         // changed only while no worker is running
  std::atomic<bool> failed_ = false;  // whether a worker failed, or the progress could not be saved

  // Guards the following members, and MigrateState::parts while workers are running.
  std::mutex mutex_;
  std::ostream& err_;
  RangeReport report_;
  RowSum sum_;
  uint64_t bytes_ = 0;  // number of bytes that this process has read in this pass
  uint64_t rows_ = 0;
  std::chrono::steady_clock::time_point pass_began_;
  std::optional<Pacer> pacer_;  // limits the rate of reading; empty: there is no limit
};

}  // namespace hg::tsd
