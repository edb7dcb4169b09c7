#include "tsd/tools/migrate_run.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <future>
#include <thread>

#include "storage/base/survive.h"
#include "tsd/settings.h"
#include "tsd/tools/migrate_reader.h"
#include "tsd/tools/names_first.h"

namespace hg::tsd {
namespace {

using std::chrono::steady_clock;

constexpr auto kSaveInterval = std::chrono::seconds(1);
constexpr auto kTellInterval = std::chrono::seconds(10);
constexpr uint64_t kDifferencesTold = 20;

std::string Clock(uint64_t seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%02u:%02u:%02u", static_cast<unsigned>(seconds / 3600),
                static_cast<unsigned>(seconds / 60 % 60), static_cast<unsigned>(seconds % 60));
  return text;
}

std::string SumText(const RowSum& sum) {
  return std::to_string(sum.rows) + " rows, " + std::to_string(sum.items) + " items, sum " +
         sum.Hex();
}

}  // namespace

MigrateRun::MigrateRun(Session& from, Session& to, const hg::Clock& clock, MigrateOptions options,
                       std::function<Status(const MigrateState&)> save, std::ostream& err)
    : from_(from), to_(to), clock_(clock), options_(options), save_(std::move(save)), err_(err) {}

Status MigrateRun::Pass(MigrateState* state) {
  report_ = {};
  sum_ = {};
  bytes_ = rows_ = 0;
  pass_began_ = steady_clock::now();
  if (options_.bytes_per_s_max != UINT64_MAX) pacer_.emplace(options_.bytes_per_s_max);
  // The state is saved before the first write. So if the process is killed during the pass, the
  // next call of the command finds the state and knows that the data in the target comes from this
  // migration.
  if (!options_.only_compare) RETURN_IF_ERROR(Save(*state));
  if (writes_beside()) {
    RETURN_IF_ERROR(
        Prepend(BringNames(from_.cells(), from_.uid_table(), to_.cells(), to_.uid_table()).status(),
                "--to: two databases would be mixed"));
  }
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
  Status first;  // the first failure; guarded by mutex_
  failed_ = false;
  const auto fail = [&](Status failure) {
    const std::lock_guard lock(mutex_);
    if (failed_.exchange(true)) return;
    err_ << "tsdb migrate: a part failed, so the other parts stop\n" << std::flush;
    first = std::move(failure);
  };
  const auto run = [&] {
    for (size_t i = next++; i < state->parts.size() && !failed_; i = next++) {
      if (state->parts[i].done) continue;
      Status done = Survive([&] { return work(&state->parts[i]); });
      if (!done.ok()) return fail(std::move(done));
    }
  };
  std::vector<std::future<void>> workers;
  const size_t count = std::min(static_cast<size_t>(options_.workers), state->parts.size());
  for (size_t i = 0; i < count; ++i) workers.push_back(std::async(std::launch::async, run));
  auto tell_at = steady_clock::now() + kTellInterval;
  for (std::future<void>& worker : workers) {
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
      if (Status saved = Save(now); !saved.ok()) fail(std::move(saved));
    }
  }
  return first;
}

Status MigrateRun::Bring(const MigrateState& state, MigratePart* part) {
  const Table* const found = TableOf(part->table);
  if (found == nullptr)
    return Status::Corruption("table " + part->table + " of the state file is not migrated");
  const Table& table = *found;
  if (table.apart) {  // an earlier call without a daemon planned this part
    const std::lock_guard lock(mutex_);
    part->done = true;
    return {};
  }
  const RangeWork work = options_.only_compare ? RangeWork::kCompare
                         : writes_beside()     ? RangeWork::kWriteBeside
                                               : RangeWork::kWrite;
  const RangeWriter writer(to_.cells(), table.there, table.rules, work);
  const auto since_ms = part->all_rows ? std::nullopt : state.since_ms;
  MigrateReader reader(from_.cells(), *part, since_ms);
  if (!table.missing) RETURN_IF_ERROR(reader.Open());
  for (Bytes start = part->at; !failed_;) {
    SourceRows source;
    if (!table.missing) {
      ASSIGN_OR_RETURN(MigrateReader::Chunk chunk, reader.Next());
      source.rows = std::move(chunk.rows);
      source.bytes = chunk.keys_bytes;
    }
    const bool at_end = source.rows.empty();
    const Bytes stop = at_end ? part->stop : source.rows.back().key + Bytes(1, '\0');
    // Rows without cells were deleted after their keys had been read.
    std::erase_if(source.rows, [](const Row& row) { return row.empty(); });
    ASSIGN_OR_RETURN(
        const ExpiryRules expiry,
        ExpiryOf(to_.cells(), table.there, table.rules.native, to_.layout(), clock_.NowMs()));
    SourceRules rules{table.rules.points, ReadReconcileOptions(from_.config())};
    if (HoldsPoints(from_.backend())) rules.time_max_ms = clock_.NowMs();
    uint64_t expired = 0;
    for (Row& row : source.rows) {
      source.bytes += BytesOf(row);
      SettleSourceRow(rules, &row);
      expired += LeaveExpired(expiry, &row);
      if (row.empty()) continue;
      source.sum.Add(SumOfRow(row, table.rules));
    }
    std::erase_if(source.rows, [](const Row& row) { return row.empty(); });
    Pace(source.bytes);
    ASSIGN_OR_RETURN(RangeReport report,
                     since_ms ? writer.Rows(source) : writer.Range(source, start, stop));
    report.items_expired = expired;
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
    if (at_end) break;
    start = stop;
  }
  return {};
}

void MigrateRun::Pace(size_t bytes) {
  steady_clock::time_point turn;
  {
    const std::lock_guard lock(mutex_);
    if (!pacer_) return;
    turn = pacer_->TurnOf(bytes, steady_clock::now());
  }
  std::this_thread::sleep_until(turn);
}

// The caller must hold mutex_.
void MigrateRun::Tell(const MigrateState& state) {
  const double seconds = std::chrono::duration<double>(steady_clock::now() - pass_began_).count();
  if (state.from.empty()) {
    uint64_t counted = 0;
    for (const MigratePart& part : state.parts) counted += part.rows_total;
    err_ << "tsdb migrate: counting, " << counted << " rows in finished parts\n" << std::flush;
    return;
  }
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

// The caller must hold mutex_.
void MigrateRun::TellDifference(const Table& table, const Bytes& start, const Bytes& stop,
                                const RowSum& source, const RangeReport& report) {
  if (report_.rows_different - report.rows_different > kDifferencesTold) return;
  err_ << "tsdb migrate: " << table.name << " [" << ToHex(start) << ", " << ToHex(stop)
       << "): " << SumText(source) << "; the target " << SumText(report.there) << "; "
       << report.rows_different << " rows differ, " << report.rows_missing
       << " of them are missing, the first one is " << ToHex(report.first_different) << "\n";
}

const MigrateRun::Table* MigrateRun::TableOf(const std::string& name) const {
  const auto it = std::find_if(tables_.begin(), tables_.end(),
                               [&name](const Table& table) { return table.name == name; });
  return it == tables_.end() ? nullptr : &*it;
}

}  // namespace hg::tsd
