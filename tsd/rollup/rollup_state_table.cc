#include "tsd/rollup/rollup_state_table.h"

#include "storage/base/bytes.h"
#include "storage/for_each_row.h"
#include "storage/model/timestamp.h"

namespace hg::tsd {
namespace {

constexpr std::string_view kComplete = "complete", kFilled = "filled", kLevel = "level",
                           kMarker = "mark", kStart = "start", kKept = "kept", kMissed = "missed",
                           kTable = "table", kOdd = "odd";

Bytes Number(uint32_t n) {
  Bytes out;
  AppendBig(&out, n, 4);
  return out;
}

/// Returns the rest of the key after the word, if the key begins with the word.
std::optional<ByteView> Behind(ByteView key, std::string_view word) {
  if (!key.starts_with(word)) return {};
  return key.substr(word.size());
}

Result<uint32_t> ReadNumber(const Row& row, const Cell& cell) {
  if (cell.value.size() == 4) return ReadBig32(cell.value.data());
  return Status::Corruption("state of rollups: row " + ToHexUpper(row.key) + " has the value " +
                            ToHexUpper(cell.value) + ", not four bytes");
}

Status TakeLevel(const Row& row, const std::string& name, StoredRollupState* state) {
  for (const Cell& cell : row.cells) {
    if (cell.qualifier == "i") state->made[name] = cell.value;
    if (cell.qualifier != "w") continue;
    ASSIGN_OR_RETURN(state->whole[name], ReadNumber(row, cell));
  }
  return {};
}

Status TakeKept(const Row& row, KeptRollups* kept) {
  for (const Cell& cell : row.cells) {
    ASSIGN_OR_RETURN(const uint32_t number, ReadNumber(row, cell));
    if (cell.qualifier == "k") kept->before = number;
    if (const auto place = Behind(cell.qualifier, "l")) kept->begins[Bytes(*place)] = number;
  }
  return {};
}

Status TakeOdd(const Row& row, OddFrom* odd) {
  for (const Cell& cell : row.cells) {
    ASSIGN_OR_RETURN(const uint32_t day, ReadNumber(row, cell));
    if (cell.qualifier == "f") odd->day = day;
    if (cell.qualifier == "u") odd->unreadable_day = day;
  }
  return {};
}

Status Take(const Row& row, StoredRollupState* state) {
  if (row.cells.empty()) return {};
  if (row.key == kComplete) state->complete = true;
  if (row.key == kMissed) state->missed = true;
  if (row.key == kStart) {
    ASSIGN_OR_RETURN(state->start, ReadNumber(row, row.cells[0]));
  } else if (const auto filled = Behind(row.key, kFilled)) {
    state->filled.emplace(*filled);
  } else if (const auto kept = Behind(row.key, kKept)) {
    return TakeKept(row, &state->kept[Bytes(*kept)]);
  } else if (const auto odd = Behind(row.key, kOdd)) {
    return TakeOdd(row, &state->odd_from[Bytes(*odd)]);
  } else if (const auto level = Behind(row.key, kLevel)) {
    return TakeLevel(row, std::string(*level), state);
  } else if (const auto table = Behind(row.key, kTable)) {
    ASSIGN_OR_RETURN(state->tables[std::string(*table)], ReadNumber(row, row.cells[0]));
  } else if (const auto marker = Behind(row.key, kMarker); marker && marker->size() > 4) {
    const Bytes metric(marker->substr(0, marker->size() - 4));
    for (const Cell& cell : row.cells)
      if (cell.qualifier.size() == 4)
        state->markers.emplace(metric, ReadBig32(cell.qualifier.data()));
  }
  return {};
}

Bytes MarkerKey(const MetricHour& hour) {
  return Bytes(kMarker) + hour.first + Number(hour.second - hour.second % kDayS);
}

}  // namespace

uint32_t KeptRollups::BeginOf(const Bytes& place) const {
  const auto begin = begins.find(place);
  return begin != begins.end() ? begin->second : before;
}

KeptRollups KeptRollups::UpTo(uint32_t later, const std::vector<Bytes>& places) const {
  KeptRollups out{later, {}};
  for (const Bytes& place : places) out.begins[place] = BeginOf(place);
  return out;
}

Result<StoredRollupState> RollupStateRows::Load() const {
  StoredRollupState state;
  ScanSpec spec;
  spec.table = name_;
  RETURN_IF_ERROR(ForEachRow(store_, spec, [&state](const Row& row) { return Take(row, &state); }));
  // Removes markers of hours whose rollups are kept (KeepBefore). The process may have ended before
  // it removed them.
  std::erase_if(state.markers, [&state](const MetricHour& hour) {
    const auto kept = state.kept.find(hour.first);
    return kept != state.kept.end() && hour.second < kept->second.before;
  });
  return state;
}

Status RollupStateRows::Put(const Bytes& key, const Bytes& qualifier, Bytes value) {
  return store_.Mutate(name_, {{key, {PutCell("t", qualifier, std::move(value))}}});
}

Status RollupStateRows::TellMissed() { return Put(Bytes(kMissed), "m", Bytes(1, 1)); }

Status RollupStateRows::ForgetMissed() { return store_.DeleteRow(name_, kMissed); }

Status RollupStateRows::PutTable(const codec::RollupLevel& level) {
  return Put(Bytes(kTable) + level.table, "i", Number(level.interval.interval_s));
}

Status RollupStateRows::PutLevel(const codec::RollupLevel& level, const Bytes& made,
                                 uint32_t whole) {
  const RowMutation row{Bytes(kLevel) + level.name,
                        {PutCell("t", "i", made), PutCell("t", "w", Number(whole))}};
  return store_.Mutate(name_, {row});
}

Status RollupStateRows::PutWhole(const codec::RollupLevel& level, uint32_t to) {
  return Put(Bytes(kLevel) + level.name, "w", Number(to));
}

Status RollupStateRows::PutStart(uint32_t start) { return Put(Bytes(kStart), "s", Number(start)); }

Status RollupStateRows::PutFilled(const Bytes& metric) {
  return Put(Bytes(kFilled) + metric, "f", Bytes(1, 1));
}

Status RollupStateRows::PutComplete() { return Put(Bytes(kComplete), "c", Bytes(1, 1)); }

Status RollupStateRows::PutMarker(const MetricHour& hour) {
  return Put(MarkerKey(hour), Number(hour.second), Bytes(1, 1));
}

Status RollupStateRows::DropMarker(const MetricHour& hour) {
  return store_.Mutate(name_, {{MarkerKey(hour), {DeleteColumn("t", Number(hour.second))}}});
}

Status RollupStateRows::PutOddFrom(const Bytes& metric, const OddFrom& odd) {
  return store_.Mutate(
      name_,
      {{Bytes(kOdd) + metric,
        {PutCell("t", "f", Number(odd.day)), PutCell("t", "u", Number(odd.unreadable_day))}}});
}

Status RollupStateRows::PutKept(const Bytes& metric, const KeptRollups& old,
                                const KeptRollups& kept) {
  RowMutation row{Bytes(kKept) + metric, {PutCell("t", "k", Number(kept.before))}};
  for (const auto& [place, begin] : kept.begins)
    row.changes.push_back(PutCell("t", "l" + place, Number(begin)));
  for (const auto& [place, begin] : old.begins)
    if (!kept.begins.contains(place)) row.changes.push_back(DeleteColumn("t", "l" + place));
  return store_.Mutate(name_, {row});
}

// Deletes the rows of the state except kept rollups and tables. The start is deleted first, because
// the other rows have no meaning without it.
Status RollupStateRows::Clean() {
  std::vector<Bytes> keys = {Bytes(kStart), Bytes(kComplete)};
  ScanSpec spec;
  spec.table = name_;
  spec.keys_only = true;
  RETURN_IF_ERROR(ForEachRow(store_, spec, [&](const Row& row) {
    if (Behind(row.key, kFilled) || Behind(row.key, kLevel) || Behind(row.key, kMarker) ||
        Behind(row.key, kOdd))
      keys.push_back(row.key);
    return Status();
  }));
  for (const Bytes& key : keys) RETURN_IF_ERROR(store_.DeleteRow(name_, key));
  return {};
}

}  // namespace hg::tsd
