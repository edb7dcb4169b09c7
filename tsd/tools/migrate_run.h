#pragma once
// A migration's passes: the first one over every row, later ones over what has changed since the
// one before began. Workers take parts (migrate_state.h) one after the other, and read a few rows,
// bring them over (migrate_range.h), read on.
//
// What has changed is told by the times of cells, which HBase gives when it stores them; a while
// before the last pass's beginning is looked at again, for clocks differ and writes are repeated.
// Neither rows deleted on the source are seen so, nor, with tsd.storage.use_otsdb_timestamp, points
// of old instants: there, and of a data directory, whose points have no such times, a later pass
// looks at every row again, and writes where they differ.

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

/// Points have no cells' times of their own there: an engine's, or that of a daemon's.
inline bool HoldsPoints(const Backend& backend) {
  return backend.native_points() || backend.beside_daemon();
}

struct MigrateOptions {
  bool only_compare = false;
  bool remove_extra = false;
  bool count = true;  // rows beforehand, for the time left
  int workers = 4;
  uint64_t bytes_per_s_max = UINT64_MAX;  // read from the source
};

class MigrateRun {
 public:
  /// All references outlive it; both sessions are open, with the same widths and salt. `save` keeps
  /// the state and is called once a second, after what it says is durable on the other side.
  MigrateRun(Session& from, Session& to, const Clock& clock, MigrateOptions options,
             std::function<Status(const MigrateState&)> save, std::ostream& err);

  /// Before all else. InvalidArgument: the sides have different numbers of tables; what only the
  /// other side has is to be removed, and a daemon's clients write there. Tables that a daemon
  /// which is written to has not are made.
  Status Prepare();
  /// Ok where every table of the other side is empty. Conflict names one that is not.
  Status CheckEmptyThere();
  /// The parts of a first pass: both sides' regions of each table. NotFound: the source lacks the
  /// table of points or that of ids; others that it lacks are told. To compare, they are parts,
  /// too: all rows there are extra.
  Result<MigrateState> Plan();
  /// Begins the next pass: of a state whose pass is done, or in place of an interrupted pass over
  /// changes, which went past rows that may have changed again. Tables that the source has since
  /// are brought over whole.
  Status PlanNext(MigrateState* state);
  /// Goes on with the state's pass to its end; the state is saved before the first write. What
  /// differed and what is extra is in report(). Conflict: a daemon that is written to has other
  /// names or ids (names_first.h); no row of points was written then.
  Status Pass(MigrateState* state);

  [[nodiscard]] const RangeReport& report() const { return report_; }
  /// Of the pass, over the rows that it looked at.
  [[nodiscard]] const RowSum& sum() const { return sum_; }

 private:
  /// The names of a table of the settings on both sides, and how it is written.
  struct Table {
    std::string name;
    std::string there;
    RowRules rules;
    bool needed = false;   // no source is without it
    bool missing = false;  // on the source
    bool apart = false;    // each side keeps its own
  };

  /// Others write to the other side by way of its daemon.
  [[nodiscard]] bool writes_beside() const {
    return to_.backend().beside_daemon() && !options_.only_compare;
  }
  Status PlanTable(Table* table, MigrateState* state);

  Status RunWorkers(MigrateState* state, const std::function<Status(MigratePart*)>& work);
  Status Save(const MigrateState& state);
  Status Count(MigratePart* part);
  Status Bring(const MigrateState& state, MigratePart* part);
  void Pace(size_t bytes);
  /// `state` is without a source while rows are counted.
  void Tell(const MigrateState& state);
  void TellDifference(const Table& table, const Bytes& start, const Bytes& stop,
                      const RowSum& source, const RangeReport& report);
  [[nodiscard]] const Table* TableOf(const std::string& name) const;

  Session& from_;
  Session& to_;
  const Clock& clock_;
  const MigrateOptions options_;
  const std::function<Status(const MigrateState&)> save_;
  std::vector<Table> tables_;         // changed while no worker runs
  std::atomic<bool> failed_ = false;  // a worker, or what it has done could not be saved

  std::mutex mutex_;  // guards the rest, and the parts of the pass
  std::ostream& err_;
  RangeReport report_;
  RowSum sum_;
  uint64_t bytes_ = 0;  // read in this pass by this process
  uint64_t rows_ = 0;
  std::chrono::steady_clock::time_point pass_began_;
  std::optional<Pacer> pacer_;  // none: as fast as it goes
};

}  // namespace hg::tsd
