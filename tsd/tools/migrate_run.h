#pragma once
// Runs the passes of a migration. The first pass reads all rows, and later passes only rows that
// changed since the previous pass began. Each worker processes one part (migrate_state.h) after the
// other. It reads a few rows, migrates them (migrate_range.h) and continues.
//
// Changes are found by the times of cells, which HBase sets when it stores them. The search starts
// some minutes before the previous pass began, because clocks differ and writes are repeated. This
// search does not find deleted rows. With tsd.storage.use_otsdb_timestamp it does not find points
// with old times either. With this setting, and for data directories, whose points have no cell
// times, later passes compare all rows.

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

/// Returns whether the store holds points and not cells, so that points have no cell times of their
/// own. It returns true for the embedded engine and for the store of a daemon.
inline bool HoldsPoints(const Backend& backend) {
  return backend.native_points() || backend.beside_daemon();
}

struct MigrateOptions {
  bool only_compare = false;
  bool remove_extra = false;
  bool count = true;  // whether rows are counted first, to estimate the remaining time
  int workers = 4;
  uint64_t bytes_per_s_max = UINT64_MAX;  // limit for reading from the source
};

class MigrateRun {
 public:
  /// All references must outlive the object. Both sessions are open and have the same widths and
  /// salt. `save` stores the state. MigrateRun calls `save` once per second. Before each call, the
  /// target has made the progress in the state durable.
  MigrateRun(Session& from, Session& to, const Clock& clock, MigrateOptions options,
             std::function<Status(const MigrateState&)> save, std::ostream& err);

  /// Checks and prepares the target. Call this function before any other function. If the target is
  /// a daemon, creates the tables that it lacks. InvalidArgument: the number of tables differs, or
  /// extra data should be removed from a target that a daemon's clients write to.
  Status Prepare();
  /// Returns ok if all tables of the target are empty. Otherwise returns Conflict with the name of
  /// a table that is not.
  Status CheckEmptyThere();
  /// Returns the parts of a first pass, from the regions of each table on both sides. NotFound: the
  /// source lacks the table of points or of ids. Other missing tables are reported. With --verify,
  /// missing tables get parts, too, so that all their rows in the target count as extra.
  Result<MigrateState> Plan();
  /// Starts the next pass after a finished pass. Also replaces an interrupted pass that reads only
  /// changed rows, because rows that the interrupted pass has already read may have changed again.
  /// Tables that are new in the source are migrated completely.
  Status PlanNext(MigrateState* state);
  /// Continues the pass of the state to its end. The state is saved before the first write.
  /// Afterwards report() has the differences and extra rows. Conflict: the target daemon has other
  /// names or ids (names_first.h), and no rows of points were written.
  Status Pass(MigrateState* state);

  [[nodiscard]] const RangeReport& report() const { return report_; }
  /// Returns the checksum of the rows that this pass has read.
  [[nodiscard]] const RowSum& sum() const { return sum_; }

 private:
  /// A table, with its names in both stores and the rules for writing it.
  struct Table {
    std::string name;
    std::string there;
    RowRules rules;
    bool needed = false;   // every source must have this table
    bool missing = false;  // missing in the source
    bool apart = false;    // the table is not migrated, because each store has its own
  };

  /// Returns whether other clients may write to the target through its daemon.
  [[nodiscard]] bool writes_beside() const {
    return to_.backend().beside_daemon() && !options_.only_compare;
  }
  Status PlanTable(Table* table, MigrateState* state);

  Status RunWorkers(MigrateState* state, const std::function<Status(MigratePart*)>& work);
  Status Save(const MigrateState& state);
  Status Count(MigratePart* part);
  Status Bring(const MigrateState& state, MigratePart* part);
  void Pace(size_t bytes);
  /// Logs the progress. `state.from` is empty while rows are counted.
  void Tell(const MigrateState& state);
  void TellDifference(const Table& table, const Bytes& start, const Bytes& stop,
                      const RowSum& source, const RangeReport& report);
  [[nodiscard]] const Table* TableOf(const std::string& name) const;

  Session& from_;
  Session& to_;
  const Clock& clock_;
  const MigrateOptions options_;
  const std::function<Status(const MigrateState&)> save_;
  std::vector<Table> tables_;         // changed only while no worker runs
  std::atomic<bool> failed_ = false;  // a worker failed, or its progress could not be saved

  std::mutex mutex_;  // Guards the following members, and the parts of the pass.
  std::ostream& err_;
  RangeReport report_;
  RowSum sum_;
  uint64_t bytes_ = 0;  // bytes read in this pass by this process
  uint64_t rows_ = 0;
  std::chrono::steady_clock::time_point pass_began_;
  std::optional<Pacer> pacer_;  // empty: there is no limit
};

}  // namespace hg::tsd
