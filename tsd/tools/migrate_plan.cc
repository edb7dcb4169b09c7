// Plans a migration: its tables and their parts. It implements functions of migrate_run.h.

#include <algorithm>
#include <set>

#include "tsd/rollup/automatic_rollups.h"
#include "tsd/tables.h"
#include "tsd/tools/migrate_run.h"

namespace hg::tsd {
namespace {

/// A pass reads the rows that changed after the start of the previous pass, and also those that
/// changed up to this time before it. The clocks of region servers may differ, and writes may be
/// repeated later.
constexpr int64_t kOverlapMs = 5 * 60 * 1000;

bool TimesTellChanges(Session& session) {
  return session.backend().remote() && !HoldsPoints(session.backend()) &&
         !session.config().Bool("tsd.storage.use_otsdb_timestamp");
}

}  // namespace

Status MigrateRun::Prepare() {
  ASSIGN_OR_RETURN(const auto here, DescribeTables(from_.config()));
  ASSIGN_OR_RETURN(const auto there, DescribeTables(to_.config()));
  if (here.size() != there.size()) {
    return Status::InvalidArgument(
        "a namespace in --from or --to does not apply to the rollup tables of tsd.rollups.config: "
        "leave out the namespace, and name the tables with it in the settings");
  }
  if (writes_beside() && options_.remove_extra) {
    return Status::InvalidArgument(
        "--delete: the data that clients write to the running daemon of " +
        to_.config().String("tsd.storage.path") + " would be removed; stop the daemon first");
  }
  const bool daemon = from_.backend().beside_daemon() || to_.backend().beside_daemon();
  for (size_t i = 0; i < here.size(); ++i) {
    const bool ids = here[i].name == from_.uid_table();
    RowRules rules;
    rules.points = here[i].points;
    rules.native = here[i].points && HoldsPoints(to_.backend());
    rules.remove_extra = options_.remove_extra;
    rules.ids_stay = ids && writes_beside();
    rules.counters_lead = ids && to_.backend().beside_daemon();
    // The state of rollups is not copied to a daemon, because only the daemon can update it.
    const bool apart = daemon && here[i].name == RollupStateTable(from_.data_table());
    tables_.push_back({here[i].name, there[i].name, rules, here[i].points || ids, false, apart});
    if (!writes_beside()) continue;
    RETURN_IF_ERROR(EnsureTable(there[i], to_.cells()));
  }
  return {};
}

Status MigrateRun::CheckEmptyThere() {
  for (const Table& table : tables_) {
    if (!table.apart) RETURN_IF_ERROR(CheckTableEmpty(to_.cells(), table.there));
  }
  return {};
}

Status MigrateRun::PlanTable(Table* table, MigrateState* state) {
  if (table->apart) return {};
  std::set<Bytes> starts = {""};
  const auto here = from_.cells().RegionStarts(table->name);
  table->missing = here.status().code() == StatusCode::kNotFound;
  if (table->missing) {
    if (table->needed) return Prepend(here.status(), "the source");
    if (!options_.only_compare) return {};
  } else {
    RETURN_IF_ERROR(here.status());
    starts.insert(here->begin(), here->end());
  }
  const auto there = to_.cells().RegionStarts(table->there);
  if (there.status().code() == StatusCode::kNotFound && options_.only_compare) {
    return table->missing ? Status() : Prepend(there.status(), "the target");
  }
  RETURN_IF_ERROR(there.status());
  starts.insert(there->begin(), there->end());
  for (auto start = starts.begin(); start != starts.end(); ++start) {
    const auto stop = std::next(start);
    MigratePart part;
    part.table = table->name;
    part.start = part.at = *start;
    if (stop != starts.end()) part.stop = *stop;
    state->parts.push_back(std::move(part));
  }
  return {};
}

Result<MigrateState> MigrateRun::Plan() {
  MigrateState state;
  state.pass_began_ms = clock_.NowMs();
  for (Table& table : tables_) {
    RETURN_IF_ERROR(PlanTable(&table, &state));
    if (table.missing) err_ << "tsdb migrate: the source has no table " << table.name << "\n";
  }
  if (options_.count) {
    RETURN_IF_ERROR(RunWorkers(&state, [this](MigratePart* part) { return Count(part); }));
    for (MigratePart& part : state.parts) part.done = false;
  }
  return state;
}

Status MigrateRun::PlanNext(MigrateState* state) {
  // If the previous pass did not end, since_ms stays, so that the next pass covers the same
  // changes.
  const bool ended = state->PassDone();
  if (TimesTellChanges(from_) && ended) state->since_ms = state->pass_began_ms - kOverlapMs;
  ++state->pass;
  state->pass_began_ms = clock_.NowMs();
  for (MigratePart& part : state->parts) {
    part.at = part.start;
    part.done = false;
    part.all_rows = part.all_rows && !ended;
    part.rows_total = state->since_ms ? 0 : part.sum.rows;
    part.sum = {};
  }
  for (Table& table : tables_) {
    const size_t known = state->parts.size();
    const auto of_table = [&table](const MigratePart& part) { return part.table == table.name; };
    if (std::any_of(state->parts.begin(), state->parts.end(), of_table)) continue;
    RETURN_IF_ERROR(PlanTable(&table, state));
    for (size_t i = known; i < state->parts.size(); ++i) state->parts[i].all_rows = true;
  }
  return {};
}

Status MigrateRun::Count(MigratePart* part) {
  ScanSpec spec;
  spec.table = part->table;
  spec.start = part->start;
  spec.stop = part->stop;
  spec.batch_rows = 4096;
  spec.keys_only = true;
  spec.first_cell_only = true;
  spec.fill_cache = false;
  const Table* const table = TableOf(part->table);
  uint64_t rows = 0;
  if (table != nullptr && !table->missing && !table->apart) {
    ASSIGN_OR_RETURN(const auto cursor, from_.cells().Scan(spec));
    std::vector<Row> some;
    do {
      RETURN_IF_ERROR(cursor->Next(&some));
      rows += some.size();
    } while (!some.empty() && !failed_);
  }
  const std::lock_guard lock(mutex_);
  part->rows_total = rows;
  part->done = true;
  return {};
}

}  // namespace hg::tsd
