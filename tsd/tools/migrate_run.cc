#include "tsd/tools/migrate_run.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <future>
#include <set>
#include <thread>

#include "storage/for_each_row.h"
#include "tsd/tables.h"

namespace hg::tsd {
namespace {

using std::chrono::steady_clock;

constexpr size_t kChunkRows = 512;
constexpr size_t kChunkBytes = 4 << 20;
/// Before the last pass began: clocks of region servers, and writes that are sent again.
constexpr int64_t kOverlapMs = 5 * 60 * 1000;
constexpr auto kSaveInterval = std::chrono::seconds(1);
constexpr auto kTellInterval = std::chrono::seconds(10);
constexpr uint64_t kDifferencesTold = 20;

size_t BytesOf(const Row& row) {
  size_t bytes = row.key.size();
  for (const Cell& cell : row.cells) {
    bytes += cell.family.size() + cell.qualifier.size() + cell.value.size();
  }
  return bytes;
}

std::string Clock(uint64_t seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%02u:%02u:%02u", static_cast<unsigned>(seconds / 3600),
                static_cast<unsigned>(seconds / 60 % 60), static_cast<unsigned>(seconds % 60));
  return text;
}

std::string Words(const RowSum& sum) {
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(sum.sum));
  return std::to_string(sum.rows) + " rows, " + std::to_string(sum.items) + " items, sum " + hex;
}

bool TimesTellChanges(Session& session) {
  return session.backend().remote() && !session.backend().native_points() &&
         !session.config().Bool("tsd.storage.use_otsdb_timestamp");
}

}  // namespace

/// Rows of a part, a chunk ahead.
class MigrateRun::Reader {
 public:
  Reader(Store& store, const MigratePart& part, std::optional<int64_t> since_ms)
      : store_(store), table_(part.table), changed_(since_ms.has_value()) {
    spec_.table = part.table;
    spec_.start = part.at;
    spec_.stop = part.stop;
    spec_.batch_rows = kChunkRows;
    spec_.batch_bytes = kChunkBytes;
    spec_.fill_cache = false;
    if (!changed_) return;
    spec_.min_ms = *since_ms;
    spec_.keys_only = true;
    spec_.first_cell_only = true;
  }

  Status Open() {
    ASSIGN_OR_RETURN(cursor_, store_.Scan(spec_));
    Fetch();
    return {};
  }

  /// No rows: the end.
  Result<std::vector<Row>> Next() {
    auto rows = next_.get();
    if (rows.ok() && !rows->empty()) Fetch();
    return rows;
  }

 private:
  void Fetch() {
    next_ = std::async(std::launch::async, [this]() -> Result<std::vector<Row>> {
      std::vector<Row> rows;
      RETURN_IF_ERROR(cursor_->Next(&rows));
      if (!changed_ || rows.empty()) return rows;
      std::vector<Bytes> keys;
      for (const Row& row : rows) keys.push_back(row.key);
      std::vector<Result<Row>> whole = store_.GetRows(table_, keys, {});
      for (size_t i = 0; i < rows.size(); ++i) {
        ASSIGN_OR_RETURN(rows[i], std::move(whole[i]));
        rows[i].key = keys[i];
      }
      return rows;
    });
  }

  Store& store_;
  const std::string table_;
  const bool changed_;
  ScanSpec spec_;
  std::unique_ptr<ScanCursor> cursor_;
  std::future<Result<std::vector<Row>>> next_;  // ends before the cursor
};

MigrateRun::MigrateRun(Session& from, Session& to, const hg::Clock& clock, MigrateOptions options,
                       std::function<Status(const MigrateState&)> save, std::ostream& err)
    : from_(from), to_(to), clock_(clock), options_(options), save_(std::move(save)), err_(err) {}

Status MigrateRun::Prepare() {
  ASSIGN_OR_RETURN(const auto here, DescribeTables(from_.config()));
  ASSIGN_OR_RETURN(const auto there, DescribeTables(to_.config()));
  if (here.size() != there.size()) {
    return Status::InvalidArgument(
        "a namespace in the word of one side makes its rollup tables others than those that "
        "tsd.rollups.config names: leave it out, and name the tables with it in the settings");
  }
  for (size_t i = 0; i < here.size(); ++i) {
    RowRules rules;
    rules.points = here[i].points;
    rules.native = here[i].points && to_.backend().native_points();
    rules.remove_extra = options_.remove_extra;
    tables_.push_back({here[i].name, there[i].name, rules});
  }
  return {};
}

Status MigrateRun::CheckEmptyThere() {
  for (const Table& table : tables_) RETURN_IF_ERROR(CheckTableEmpty(to_.cells(), table.there));
  return {};
}

Result<MigrateState> MigrateRun::Plan() {
  MigrateState state;
  state.pass_began_ms = clock_.NowMs();
  for (const Table& table : tables_) {
    const auto here = from_.cells().Regions(table.name);
    if (here.status().code() == StatusCode::kNotFound) continue;
    RETURN_IF_ERROR(here.status());
    std::set<Bytes> starts = {""};
    for (const RegionInfo& region : *here) starts.insert(region.start);
    const auto there = to_.cells().Regions(table.there);
    if (there.status().code() == StatusCode::kNotFound && options_.only_compare) {
      return Prepend(there.status(), "the other side");
    }
    RETURN_IF_ERROR(there.status());
    for (const RegionInfo& region : *there) starts.insert(region.start);
    for (auto start = starts.begin(); start != starts.end(); ++start) {
      const auto stop = std::next(start);
      state.parts.push_back(
          {table.name, *start, stop == starts.end() ? Bytes() : *stop, *start, false, 0, {}});
    }
  }
  if (options_.count) {
    RETURN_IF_ERROR(RunWorkers(&state, [this](MigratePart* part) { return Count(part); }));
    for (MigratePart& part : state.parts) part.done = false;
  }
  return state;
}

void MigrateRun::PlanNext(MigrateState* state) const {
  // A pass that did not end leaves what it was to look at to the next one.
  if (TimesTellChanges(from_) && state->PassDone()) {
    state->since_ms = state->pass_began_ms - kOverlapMs;
  }
  ++state->pass;
  state->pass_began_ms = clock_.NowMs();
  for (MigratePart& part : state->parts) {
    part.at = part.start;
    part.done = false;
    part.rows_total = state->since_ms ? 0 : part.sum.rows;
    part.sum = {};
  }
}

Status MigrateRun::Pass(MigrateState* state) {
  report_ = {};
  sum_ = {};
  bytes_ = rows_ = 0;
  pass_began_ = may_read_ = steady_clock::now();
  const MigrateState& pass = *state;
  Status done = RunWorkers(state, [&](MigratePart* part) { return Bring(pass, part); });
  const Status saved = options_.only_compare ? Status() : Save(*state);
  if (!done.ok()) return done;
  RETURN_IF_ERROR(saved);
  const std::lock_guard lock(mutex_);
  Tell(*state);
  for (const MigratePart& part : state->parts) sum_.Add(part.sum);
  return {};
}

Status MigrateRun::Save(const MigrateState& state) {
  RETURN_IF_ERROR(to_.cells().Sync());
  return save_(state);
}

Status MigrateRun::RunWorkers(MigrateState* state,
                              const std::function<Status(MigratePart*)>& work) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto run = [&]() -> Status {
    for (size_t i = next++; i < state->parts.size() && !failed; i = next++) {
      if (state->parts[i].done) continue;
      Status done = work(&state->parts[i]);
      if (!done.ok()) failed = true;
      if (!done.ok()) return done;
    }
    return {};
  };
  std::vector<std::future<Status>> workers;
  const size_t count = std::min(static_cast<size_t>(options_.workers), state->parts.size());
  for (size_t i = 0; i < count; ++i) workers.push_back(std::async(std::launch::async, run));
  auto tell_at = steady_clock::now() + kTellInterval;
  Status first;
  for (std::future<Status>& worker : workers) {
    while (worker.wait_for(kSaveInterval) != std::future_status::ready) {
      MigrateState now;
      {
        const std::lock_guard lock(mutex_);
        if (steady_clock::now() >= tell_at) {
          Tell(*state);
          tell_at = steady_clock::now() + kTellInterval;
        }
        now = *state;
      }
      if (options_.only_compare || now.from.empty()) continue;
      if (Status saved = Save(now); !saved.ok() && first.ok()) {
        first = saved;
        failed = true;
      }
    }
    if (Status ended = worker.get(); !ended.ok() && first.ok()) first = ended;
  }
  return first;
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
  uint64_t rows = 0;
  RETURN_IF_ERROR(ForEachRow(from_.cells(), spec, [&rows](const Row&) {
    ++rows;
    return Status();
  }));
  const std::lock_guard lock(mutex_);
  part->rows_total = rows;
  part->done = true;
  return {};
}

Status MigrateRun::Bring(const MigrateState& state, MigratePart* part) {
  const Table* const found = TableOf(part->table);
  if (found == nullptr) return Status::Corruption("no table " + part->table + " is migrated");
  const Table& table = *found;
  const RangeWriter writer(to_.cells(), table.there, table.rules, options_.only_compare);
  Reader reader(from_.cells(), *part, state.since_ms);
  RETURN_IF_ERROR(reader.Open());
  for (Bytes start = part->at;;) {
    SourceRows source;
    ASSIGN_OR_RETURN(source.rows, reader.Next());
    const bool at_end = source.rows.empty();
    const Bytes stop = at_end ? part->stop : source.rows.back().key + Bytes(1, '\0');
    // A row that was deleted between being seen and being read.
    std::erase_if(source.rows, [](const Row& row) { return row.empty(); });
    for (const Row& row : source.rows) {
      source.bytes += BytesOf(row);
      source.sum.Add(SumOfRow(row, table.rules));
    }
    Pace(source.bytes);
    ASSIGN_OR_RETURN(const RangeReport report,
                     state.since_ms ? writer.Rows(source) : writer.Range(source, start, stop));
    const std::lock_guard lock(mutex_);
    report_.Add(report);
    bytes_ += source.bytes;
    rows_ += source.rows.size();
    part->sum.Add(source.sum);
    part->at = stop;
    part->done = at_end;
    if (options_.only_compare && report.rows_different > 0) {
      TellDifference(table, start, stop, source.sum, report);
    }
    if (at_end) return {};
    start = stop;
  }
}

void MigrateRun::Pace(size_t bytes) {
  if (options_.bytes_per_s_max == UINT64_MAX) return;
  const std::chrono::duration<double> cost(static_cast<double>(bytes) /
                                           static_cast<double>(options_.bytes_per_s_max));
  steady_clock::time_point turn;
  {
    const std::lock_guard lock(mutex_);
    turn = std::max(may_read_, steady_clock::now());
    may_read_ = turn + std::chrono::duration_cast<steady_clock::duration>(cost);
  }
  std::this_thread::sleep_until(turn);
}

// With mutex_ held.
void MigrateRun::Tell(const MigrateState& state) {
  const double seconds = std::chrono::duration<double>(steady_clock::now() - pass_began_).count();
  if (seconds <= 0) return;
  uint64_t done = 0;
  uint64_t total = 0;
  for (const MigratePart& part : state.parts) {
    done += part.sum.rows;
    total += std::max(part.rows_total, part.sum.rows);
  }
  err_ << "tsdb migrate: pass " << state.pass << ": " << done;
  if (total > done) err_ << " of " << total;
  char rates[64];
  std::snprintf(rates, sizeof rates, " rows, %.0f rows/s, %.1f MB/s",
                static_cast<double>(rows_) / seconds, static_cast<double>(bytes_) / seconds / 1e6);
  err_ << rates;
  if (total > done && rows_ > 0) {
    const double left = static_cast<double>(total - done) * seconds / static_cast<double>(rows_);
    err_ << ", " << Clock(static_cast<uint64_t>(left)) << " left";
  }
  err_ << "\n" << std::flush;
}

// With mutex_ held.
void MigrateRun::TellDifference(const Table& table, const Bytes& start, const Bytes& stop,
                                const RowSum& source, const RangeReport& report) {
  if (report_.rows_different - report.rows_different > kDifferencesTold) return;
  err_ << "tsdb migrate: " << table.name << " [" << ToHex(start) << ", " << ToHex(stop)
       << "): " << Words(source) << "; the other side " << Words(report.there) << "; "
       << report.rows_different << " rows differ, " << report.rows_missing
       << " of them are missing, the first one is " << ToHex(report.first_different) << "\n";
}

const MigrateRun::Table* MigrateRun::TableOf(const std::string& name) const {
  const auto it = std::find_if(tables_.begin(), tables_.end(),
                               [&name](const Table& table) { return table.name == name; });
  return it == tables_.end() ? nullptr : &*it;
}

}  // namespace hg::tsd
