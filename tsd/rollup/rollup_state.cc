#include "tsd/rollup/rollup_state.h"

#include <algorithm>
#include <limits>

#include "storage/base/commit_later.h"
#include "storage/for_each_row.h"
#include "storage/model/key_layout.h"

namespace hg::tsd {
namespace {

constexpr uint32_t kDay = 86'400;
constexpr std::string_view kComplete = "complete", kFilled = "filled", kLevel = "level",
                           kMark = "mark", kStart = "start", kKept = "kept", kMissed = "missed",
                           kTable = "table";

Bytes Number(uint32_t n) {
  Bytes out;
  AppendBig(&out, n, 4);
  return out;
}

/// What stands behind the word, if the key begins with it.
std::optional<ByteView> Behind(ByteView key, std::string_view word) {
  if (!key.starts_with(word)) return {};
  return key.substr(word.size());
}

Result<uint32_t> ReadNumber(const Row& row, const Cell& cell) {
  if (cell.value.size() == 4) return ReadBig32(cell.value.data());
  return Status::Corruption("state of rollups: row " + ToHexUpper(row.key) + " has the value " +
                            ToHexUpper(cell.value) + ", not four bytes");
}

}  // namespace

Result<std::shared_ptr<RollupState>> RollupState::Open(
    Store& store, const std::string& table, std::vector<const codec::RollupLevel*> levels,
    const RollupMaking& making, size_t marks_max) {
  std::shared_ptr<RollupState> state(
      new RollupState(store, table, std::move(levels), making, marks_max));
  RETURN_IF_ERROR(state->Load());
  return state;
}

Status RollupState::TellMissed(Store& store, const std::string& table) {
  return store.Mutate(table, {{Bytes(kMissed), {PutCell("t", "m", Bytes(1, 1))}}});
}

Status RollupState::Load() {
  ScanSpec spec;
  spec.table = table_;
  bool missed = false;
  std::map<std::string, Bytes> made;  // by level
  std::map<std::string, uint32_t> tables;
  RETURN_IF_ERROR(ForEachRow(store_, spec, [&](const Row& row) -> Status {
    if (row.key == kMissed) missed = true;
    const auto level = Behind(row.key, kLevel), table = Behind(row.key, kTable);
    for (const Cell& cell : row.cells) {
      if (cell.qualifier != "i") continue;
      if (level) made[std::string(*level)] = cell.value;
      if (!table) continue;
      ASSIGN_OR_RETURN(tables[std::string(*table)], ReadNumber(row, cell));
    }
    return Take(row);
  }));
  missed |= made.size() != levels_.size();
  for (const codec::RollupLevel* level : levels_) {
    RETURN_IF_ERROR(CheckTable(*level, tables));
    const auto known = made.find(level->name);
    missed |= known == made.end() || known->second != Made(*level);
    horizon_ = std::max(horizon_, whole_[level->name]);
  }
  if (missed) Forget();
  return {};
}

Status RollupState::CheckTable(const codec::RollupLevel& level,
                               const std::map<std::string, uint32_t>& known) const {
  const auto refuse = [&level](const std::string& why) {
    return Status::InvalidArgument("tsd.rollups.automatic cannot make the rollups of interval \"" +
                                   level.name + "\": its table \"" + level.table + "\" holds " +
                                   why + ". Give it a table of its own in tsd.rollups.config");
  };
  if (const auto ours = known.find(level.table); ours != known.end()) {
    if (ours->second == level.interval.interval_s) return {};
    return refuse("rollups of " + std::to_string(ours->second) + " seconds");
  }
  ScanSpec spec;
  spec.table = level.table;
  spec.keys_only = true;
  spec.batch_rows = 1;
  ASSIGN_OR_RETURN(const auto scan, store_.Scan(spec));
  std::vector<Row> rows;
  RETURN_IF_ERROR(scan->Next(&rows));
  return !rows.empty() ? refuse("rollups that others made") : Status();
}

Bytes RollupState::Place(const codec::RollupLevel& level) const {
  Bytes out = level.table + '\0';
  out += Number(level.interval.interval_s) + Number(static_cast<uint32_t>(level.interval.unit)) +
         Number(static_cast<uint32_t>(level.interval.span_count));
  for (const uint8_t id : {making_.ids.sum, making_.ids.count, making_.ids.min, making_.ids.max})
    out.push_back(static_cast<char>(id));
  return out;
}

Bytes RollupState::Made(const codec::RollupLevel& level) const {
  Bytes out = Place(level);
  const ReconcileOptions& reconcile = making_.reconcile;
  for (const bool option :
       {reconcile.fix_duplicates, reconcile.use_max_value, reconcile.use_otsdb_timestamp})
    out.push_back(option ? 1 : 0);
  return out;
}

Status RollupState::Take(const Row& row) {
  if (row.cells.empty()) return {};
  if (row.key == kComplete) complete_ = true;
  if (row.key == kStart) {
    ASSIGN_OR_RETURN(start_, ReadNumber(row, row.cells[0]));
  } else if (const auto filled = Behind(row.key, kFilled)) {
    filled_.emplace(*filled);
  } else if (const auto kept = Behind(row.key, kKept)) {
    Kept& of_metric = kept_[Bytes(*kept)];
    for (const Cell& cell : row.cells) {
      ASSIGN_OR_RETURN(const uint32_t number, ReadNumber(row, cell));
      if (cell.qualifier == "k") of_metric.before = number;
      if (const auto place = Behind(cell.qualifier, "l")) of_metric.begins[Bytes(*place)] = number;
    }
  } else if (const auto level = Behind(row.key, kLevel)) {
    for (const Cell& cell : row.cells) {
      if (cell.qualifier != "w") continue;
      ASSIGN_OR_RETURN(whole_[std::string(*level)], ReadNumber(row, cell));
    }
  } else if (const auto mark = Behind(row.key, kMark); mark && mark->size() > 4) {
    const Bytes metric(mark->substr(0, mark->size() - 4));
    for (const Cell& cell : row.cells) {
      if (cell.qualifier.size() != 4) continue;
      marks_[{metric, ReadBig32(cell.qualifier.data())}].state = Mark::State::kThere;
    }
  }
  return {};
}

// Writes that are under way under a mark are so without one then.
void RollupState::Forget() {
  start_.reset();
  complete_ = false;
  horizon_ = 0;
  whole_.clear();
  filled_.clear();
  for (const auto& [key, mark] : marks_)
    if (mark.writers > 0) unmarked_[key] += mark.writers;
  marks_.clear();
  odd_marks_ = 0;
  ++times_forgotten_;
  settled_.notify_all();
}

// The start goes first: without it nothing counts.
Status RollupState::Clean() {
  std::vector<Bytes> keys = {Bytes(kStart), Bytes(kComplete)};
  ScanSpec spec;
  spec.table = table_;
  spec.keys_only = true;
  RETURN_IF_ERROR(ForEachRow(store_, spec, [&](const Row& row) {
    if (Behind(row.key, kFilled) || Behind(row.key, kLevel) || Behind(row.key, kMark))
      keys.push_back(row.key);
    return Status();
  }));
  for (const Bytes& key : keys) RETURN_IF_ERROR(store_.DeleteRow(table_, key));
  return {};
}

Status RollupState::Put(const Bytes& key, const Bytes& qualifier, Bytes value) {
  return store_.Mutate(table_, {{key, {PutCell("t", qualifier, std::move(value))}}});
}

Bytes RollupState::MarkKey(const Key& key) const {
  return Bytes(kMark) + key.first + Number(key.second - key.second % kDay);
}

Status RollupState::PutMark(const Key& key) {
  return Put(MarkKey(key), Number(key.second), Bytes(1, 1));
}

// A mark that comes back is no harm, and changes of its hour wait for this on network loops.
Status RollupState::DropMark(const Key& key) {
  const CommitLater later;
  return store_.Mutate(table_, {{MarkKey(key), {DeleteColumn("t", Number(key.second))}}});
}

uint32_t RollupState::KeptLocked(ByteView metric) const {
  const auto kept = kept_.find(metric);
  return kept != kept_.end() ? kept->second.before : 0;
}

uint32_t RollupState::KeptFrom(ByteView metric, const codec::RollupLevel& level) const {
  const auto kept = kept_.find(metric);
  if (kept == kept_.end()) return 0;
  const auto begin = kept->second.begins.find(Place(level));
  return begin != kept->second.begins.end() ? begin->second : kept->second.before;
}

void RollupState::SetOdd(Mark* mark, bool odd) {
  if (odd && !mark->odd) ++odd_marks_;
  if (!odd && mark->odd) --odd_marks_;
  mark->odd = odd;
}

Result<RollupState::Mark*> RollupState::Leave(std::unique_lock<std::mutex>* lock, const Key& key,
                                              bool of_change) {
  for (;;) {
    const auto [at, is_new] = marks_.try_emplace(key);
    if (is_new) break;
    if (at->second.state == Mark::State::kThere) return &at->second;
    settled_.wait(*lock);
    if (horizon_ == 0) return nullptr;
  }
  // Those of odd hours would be as many when all was made anew.
  const bool too_many = of_change && marks_.size() - odd_marks_ > marks_max_;
  const uint64_t times_forgotten = times_forgotten_;
  lock->unlock();
  const CommitLater later;  // what it is for comes behind it in the log
  const Status put = too_many ? TellMissed(store_, table_) : PutMark(key);
  lock->lock();
  if (put.ok() && too_many) Forget();
  if (times_forgotten_ != times_forgotten) {  // a mark of this key is another's by now
    RETURN_IF_ERROR(put);
    return nullptr;
  }
  const auto at = marks_.find(key);
  if (put.ok()) {
    at->second.state = Mark::State::kThere;
  } else {
    marks_.erase(at);
  }
  settled_.notify_all();
  RETURN_IF_ERROR(put);
  return &at->second;
}

Status RollupState::BeforeChange(const ChangedRows& rows) {
  const Key key(rows.metric, rows.base);
  std::unique_lock lock(mutex_);
  if (rows.base < KeptLocked(rows.metric)) return {};
  // All may be forgotten while the mark is put, and begun anew already: then that waits for this
  // change no more (RaiseHorizon).
  while (rows.base < horizon_) {
    ASSIGN_OR_RETURN(Mark* const mark, Leave(&lock, key, true));
    if (mark == nullptr) continue;
    ++mark->writers;
    ++mark->changes;
    SetOdd(mark, false);
    return {};
  }
  ++unmarked_[key];
  return {};
}

// Where some writes began above the horizon and others below it, one may end in the name of
// another: the mark stays all the same until the last has ended.
void RollupState::AfterChange(const ChangedRows& rows) {
  const Key key(rows.metric, rows.base);
  const std::lock_guard lock(mutex_);
  if (const auto write = unmarked_.find(key); write != unmarked_.end()) {
    if (--write->second == 0) unmarked_.erase(write);
    settled_.notify_all();
    return;
  }
  const auto mark = marks_.find(key);
  if (mark == marks_.end() || mark->second.writers == 0) return;
  --mark->second.writers;
  ++mark->second.changes;
}

query::RolledHours RollupState::Of(ByteView metric, const RowRange& rows) {
  query::RolledHours out;
  const std::lock_guard lock(mutex_);
  out.kept_before_s = KeptLocked(metric);
  out.times_forgotten = times_forgotten_;
  const bool filled = complete_ || filled_.contains(metric);
  for (const codec::RollupLevel* level : levels_) {
    // What is kept stands, whatever is made anew.
    const uint32_t kept_from = KeptFrom(metric, *level);
    if (kept_from < out.kept_before_s && !(start_ && filled))
      out.levels.push_back({level, kept_from, out.kept_before_s});
    if (!start_) continue;
    const uint32_t begin = filled ? kept_from : *start_;
    const auto whole = whole_.find(level->name);
    if (whole != whole_.end() && whole->second > begin)
      out.levels.push_back({level, begin, whole->second});
  }
  auto mark = marks_.lower_bound(Key(metric, rows.begin));
  for (; mark != marks_.end() && mark->first.first == metric && mark->first.second < rows.end;
       ++mark)
    out.changed.push_back(mark->first.second);
  return out;
}

std::optional<uint32_t> RollupState::start() const {
  const std::lock_guard lock(mutex_);
  return start_;
}

// Until the last step the next process forgets all.
Status RollupState::Begin(uint32_t start) {
  RETURN_IF_ERROR(TellMissed(store_, table_));
  {
    const std::lock_guard lock(mutex_);
    Forget();
  }
  for (const codec::RollupLevel* level : levels_)
    RETURN_IF_ERROR(Put(Bytes(kTable) + level->table, "i", Number(level->interval.interval_s)));
  RETURN_IF_ERROR(Clean());
  RaiseHorizon(start);
  for (const codec::RollupLevel* level : levels_) {
    const RowMutation row{Bytes(kLevel) + level->name,
                          {PutCell("t", "i", Made(*level)), PutCell("t", "w", Number(start))}};
    RETURN_IF_ERROR(store_.Mutate(table_, {row}));
  }
  RETURN_IF_ERROR(Put(Bytes(kStart), "s", Number(start)));
  RETURN_IF_ERROR(store_.DeleteRow(table_, Bytes(kMissed)));
  const std::lock_guard lock(mutex_);
  for (const codec::RollupLevel* level : levels_) whole_[level->name] = start;
  start_ = start;
  return {};
}

uint32_t RollupState::WholeUpTo(const codec::RollupLevel& level) const {
  const std::lock_guard lock(mutex_);
  const auto whole = whole_.find(level.name);
  return whole != whole_.end() ? whole->second : 0;
}

uint32_t RollupState::horizon() const {
  const std::lock_guard lock(mutex_);
  return horizon_;
}

void RollupState::RaiseHorizon(uint32_t base) {
  std::unique_lock lock(mutex_);
  horizon_ = std::max(horizon_, base);
  settled_.wait(lock, [this] {
    return std::none_of(unmarked_.begin(), unmarked_.end(),
                        [this](const auto& write) { return write.first.second < horizon_; });
  });
}

Status RollupState::Advance(const std::vector<const codec::RollupLevel*>& levels, uint32_t to) {
  for (const codec::RollupLevel* level : levels)
    RETURN_IF_ERROR(Put(Bytes(kLevel) + level->name, "w", Number(to)));
  const std::lock_guard lock(mutex_);
  for (const codec::RollupLevel* level : levels) whole_[level->name] = to;
  return {};
}

Status RollupState::MarkOdd(const Bytes& metric, uint32_t base) {
  std::unique_lock lock(mutex_);
  const bool is_new = !marks_.contains({metric, base});
  ASSIGN_OR_RETURN(Mark* const mark, Leave(&lock, {metric, base}, false));
  if (mark != nullptr && is_new) SetOdd(mark, mark->changes == 0);
  return {};
}

bool RollupState::complete() const {
  const std::lock_guard lock(mutex_);
  return complete_;
}

bool RollupState::Filled(const Bytes& metric) const {
  const std::lock_guard lock(mutex_);
  return complete_ || filled_.contains(metric);
}

Status RollupState::SetFilled(const Bytes& metric) {
  RETURN_IF_ERROR(Put(Bytes(kFilled) + metric, "f", Bytes(1, 1)));
  const std::lock_guard lock(mutex_);
  filled_.insert(metric);
  return {};
}

Status RollupState::SetComplete() {
  RETURN_IF_ERROR(Put(Bytes(kComplete), "c", Bytes(1, 1)));
  const std::lock_guard lock(mutex_);
  complete_ = true;
  return {};
}

std::vector<RollupState::Marked> RollupState::Repairable(size_t most) const {
  std::vector<Marked> out;
  const std::lock_guard lock(mutex_);
  uint32_t whole = 0;
  for (const auto& [name, to] : whole_) whole = std::max(whole, to);
  for (auto it = marks_.begin(); it != marks_.end() && out.size() < most; ++it) {
    const auto& [key, mark] = *it;
    if (mark.odd || mark.writers > 0 || mark.state != Mark::State::kThere || key.second >= whole)
      continue;
    out.push_back({key.first, key.second, mark.changes});
  }
  return out;
}

Result<bool> RollupState::Unmark(const Marked& mark) {
  const Key key(mark.metric, mark.base);
  std::unique_lock lock(mutex_);
  auto at = marks_.find(key);
  if (at == marks_.end()) return true;
  if (at->second.writers > 0 || at->second.changes != mark.changes) return false;
  at->second.state = Mark::State::kRemoving;
  lock.unlock();
  const Status dropped = DropMark(key);
  lock.lock();
  at = marks_.find(key);
  if (at != marks_.end() && dropped.ok()) {
    SetOdd(&at->second, false);
    marks_.erase(at);
    at = marks_.end();
  }
  if (at != marks_.end() && !dropped.ok()) at->second.state = Mark::State::kThere;
  settled_.notify_all();
  RETURN_IF_ERROR(dropped);
  return true;
}

void RollupState::GiveUp(const Marked& mark) {
  const std::lock_guard lock(mutex_);
  const auto at = marks_.find({mark.metric, mark.base});
  if (at != marks_.end() && at->second.changes == mark.changes) SetOdd(&at->second, true);
}

size_t RollupState::marks() const {
  const std::lock_guard lock(mutex_);
  return marks_.size();
}

uint32_t RollupState::KeptBefore(const Bytes& metric) const {
  const std::lock_guard lock(mutex_);
  return KeptLocked(metric);
}

// Days are whole in any level, or not at all.
Result<uint32_t> RollupState::KeepBefore(const Bytes& metric, uint32_t wanted) {
  std::unique_lock lock(mutex_);
  const uint32_t kept = KeptLocked(metric);
  if (!start_ || !(complete_ || filled_.contains(metric))) return std::min(kept, wanted);
  uint32_t bound = wanted;
  for (const codec::RollupLevel* level : levels_) bound = std::min(bound, whole_[level->name]);
  const auto mark = marks_.lower_bound(Key(metric, kept));
  if (mark != marks_.end() && mark->first.first == metric)
    bound = std::min(bound, mark->first.second);
  bound -= bound % kDay;
  if (bound <= kept) return std::min(kept, wanted);
  const auto old = kept_.find(metric);
  const Kept before = old != kept_.end() ? old->second : Kept();
  Kept after{bound, {}};
  RowMutation row{Bytes(kKept) + metric, {PutCell("t", "k", Number(bound))}};
  for (const codec::RollupLevel* level : levels_) {
    const uint32_t from = after.begins[Place(*level)] = KeptFrom(metric, *level);
    row.changes.push_back(PutCell("t", "l" + Place(*level), Number(from)));
  }
  // A level that is not made any more lacks what is kept from here on.
  for (const auto& [place, from] : before.begins)
    if (!after.begins.contains(place)) row.changes.push_back(DeleteColumn("t", "l" + place));
  kept_[metric] = std::move(after);  // no mark comes from here on
  lock.unlock();
  const Status put = store_.Mutate(table_, {row});
  if (!put.ok()) {
    lock.lock();
    kept_[metric] = before;
    return put;
  }
  return bound;
}

}  // namespace hg::tsd
