#include "tests/fault/random_history.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "storage/base/invariant.h"
#include "storage/codec/row_key.h"
#include "storage/engine/embedded.h"
#include "storage/points/points_over_cells.h"
#include "tests/fault/faulty_file.h"
#include "tests/fault/workload.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"

namespace hg {
namespace {

constexpr uint64_t kCompareEvery = 2000;
constexpr int kShrinkRuns = 300;
constexpr uint64_t kSeries = 6;
constexpr uint64_t kHours = 3;
constexpr uint64_t kSeconds = 12;

// SplitMix64 is so cheap that each step gets its own generator.
class Random {
 public:
  Random(uint64_t seed, uint64_t step) : state_(seed * 0x9E3779B97F4A7C15ULL + step) { Next(); }
  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t n) { return Next() % n; }

 private:
  uint64_t state_;
};

enum class Kind {
  kAppend,
  kPut,
  kDeleteColumn,
  kDeleteRow,
  kDeleteFamily,
  kAppendCell,
  kIncrement,
  kCompareAndPut,
  kPutName,
  kDeleteName,
  kGet,
  kClock,
  kSplit,
  kJoin,
  kFlush,
  kCompact,
  kReopen,
  kAge,
};

// The share of each operation, in ten-thousandths.
constexpr std::pair<Kind, uint64_t> kShares[] = {
    {Kind::kAppend, 4500},      {Kind::kPut, 2000},
    {Kind::kDeleteColumn, 700}, {Kind::kDeleteRow, 150},
    {Kind::kDeleteFamily, 50},  {Kind::kAppendCell, 300},
    {Kind::kIncrement, 300},    {Kind::kCompareAndPut, 400},
    {Kind::kPutName, 500},      {Kind::kDeleteName, 250},
    {Kind::kGet, 300},          {Kind::kClock, 496},
    {Kind::kSplit, 8},          {Kind::kJoin, 8},
    {Kind::kFlush, 22},         {Kind::kCompact, 4},
    {Kind::kReopen, 4},         {Kind::kAge, 8},
};

Kind KindOf(Random* random) {
  uint64_t at = random->Below(10'000);
  for (const auto& [kind, share] : kShares) {
    if (at < share) return kind;
    at -= share;
  }
  INVARIANT(false);
  return Kind::kGet;
}

uint32_t BaseOf(Random* random) {
  return kWorkloadBase + static_cast<uint32_t>(random->Below(kHours)) * 3600;
}

PointValue ValueOf(Random* random) {
  const auto number = static_cast<int64_t>(random->Below(1000));
  switch (random->Below(6)) {
    case 0:
      return PointValue::Int(number * 100'000'007);
    case 1:
      return PointValue::Double(static_cast<double>(number) / 10);
    case 2:
      return PointValue::Float(static_cast<float>(number) / 4);
    default:
      return PointValue::Int(number);
  }
}

// Returns a random column of the data table: a point (with a fitting value or not), an annotation,
// an append cell or an unknown column. There are no compacted cells, because a merge may turn them
// into points.
std::pair<Bytes, Bytes> CellOf(Random* random) {
  const uint64_t second = random->Below(kSeconds);
  Bytes qualifier;
  Bytes value(1, static_cast<char>(random->Below(100)));
  switch (random->Below(7)) {
    case 0:
      return {Bytes("\1\0", 2) + static_cast<char>(second), "{note}"};
    case 1:
      return {Bytes("\5\0\0", 3), Bytes("\0\x10", 2) + value};
    case 2:
      AppendBig(&qualifier, second << 4, 2);
      return {qualifier, value + value + value};  // no value has these flags
    case 3:
      return {Bytes("\7", 1) + static_cast<char>(second), "odd"};
    case 4:
      AppendBig(&qualifier, 0xF0000000 | ((second * 1000 + 250) << 6), 4);
      return {qualifier, value};
    default:
      AppendBig(&qualifier, second << 4, 2);
      return {qualifier, value};
  }
}

// The cell store and the point store of one store.
struct Doors {
  Store& cells;
  Points& points;
};

// The part of an operation's result on which engine and model must agree.
std::string Answer(const Status& status) { return std::string(StatusCodeName(status.code())); }

std::string Text(const Row& row) {
  std::string text;
  for (const Cell& cell : row.cells) {
    text += cell.family + ' ' + ToHex(cell.qualifier) + ' ' + ToHex(cell.value) + '\n';
  }
  return text;
}

std::string AppendPoints(Random* random, Points& points) {
  const auto series = points.Register(WorkloadTsuid(random->Below(kSeries)));
  if (!series.ok()) return Answer(series.status());
  const uint32_t base = BaseOf(random);
  std::vector<PointEntry> batch;
  // The batch has at most one point per second. Of several points at one time, the engine and the
  // model would keep different ones.
  std::set<int64_t> seconds;
  for (uint64_t n = 1 + random->Below(4); n > 0; --n) {
    const auto second = static_cast<int64_t>(random->Below(kSeconds));
    const int64_t time =
        random->Below(4) == 0 ? (int64_t{base} + second) * 1000 + 250 : int64_t{base} + second;
    const PointEntry entry = MakePointEntry(*series, Timestamp{time}, ValueOf(random));
    if (seconds.insert(second).second) batch.push_back(entry);
  }
  const auto position = points.Append(batch);
  return Answer(position.status());
}

std::string ApplyToRow(Kind kind, Random* random, const Doors& doors) {
  const Bytes key = codec::MakeRowKey(doors.points.layout(), WorkloadTsuid(random->Below(kSeries)),
                                      BaseOf(random));
  switch (kind) {
    case Kind::kPut: {
      RowMutation mutation{key, {}};
      for (uint64_t n = 1 + random->Below(3); n > 0; --n) {
        auto [qualifier, value] = CellOf(random);
        mutation.changes.push_back(PutCell("t", std::move(qualifier), std::move(value)));
      }
      return Answer(doors.cells.Mutate("tsdb", {mutation}));
    }
    case Kind::kDeleteColumn:
      return Answer(doors.cells.Mutate("tsdb", {{key, {DeleteColumn("t", CellOf(random).first)}}}));
    case Kind::kDeleteRow:
      return Answer(doors.cells.DeleteRow("tsdb", key));
    case Kind::kDeleteFamily:
      return Answer(doors.cells.Mutate(
          "tsdb", {{key, {{CellChange::Kind::kDeleteFamily, "t", {}, {}, {}}}}}));
    case Kind::kAppendCell:
      return Answer(doors.cells.Append("tsdb", key, "t", Bytes("\5\0\0", 3),
                                       Bytes("\0\x20", 2) + static_cast<char>(random->Below(9))));
    default: {
      const auto row = doors.cells.Get("tsdb", key);
      return row.ok() ? Text(*row) : Answer(row.status());
    }
  }
}

std::string ApplyToNames(Kind kind, Random* random, Store& cells) {
  const Bytes key = "name" + std::to_string(random->Below(4));
  const Bytes family = random->Below(2) == 0 ? "id" : "name";
  const Bytes qualifier = random->Below(2) == 0 ? "metrics" : "tagk";
  const Bytes value = "v" + std::to_string(random->Below(5));
  switch (kind) {
    case Kind::kIncrement: {
      const auto sum = cells.Increment("tsdb-uid", Bytes(1, '\0'), "id", qualifier, 3);
      return sum.ok() ? std::to_string(*sum) : Answer(sum.status());
    }
    case Kind::kCompareAndPut: {
      const Expected expected =
          random->Below(2) == 0 ? Expected() : Expected("v" + std::to_string(random->Below(5)));
      const auto done = cells.CompareAndMutate(family, qualifier, expected, "tsdb-uid",
                                               {key, {PutCell(family, qualifier, value)}});
      return done.ok() ? (*done ? "done" : "not as expected") : Answer(done.status());
    }
    case Kind::kPutName:
      return Answer(cells.Mutate("tsdb-uid", {{key, {PutCell(family, qualifier, value)}}}));
    default:
      return Answer(random->Below(3) == 0
                        ? cells.DeleteRow("tsdb-uid", key)
                        : cells.Mutate("tsdb-uid", {{key, {DeleteColumn(family, qualifier)}}}));
  }
}

// Makes the first hours expire. Their number differs between the metrics.
std::string DeleteOld(Random* random, Points& points) {
  std::map<Bytes, uint32_t> ends;
  for (uint64_t metric = 1; metric <= 2; ++metric) {
    Bytes id;
    AppendBig(&id, metric, 3);
    ends[id] = kWorkloadBase + static_cast<uint32_t>(random->Below(kHours + 1)) * 3600;
  }
  const Status dropped = points.DropFiles([&](ByteView metric) { return ends.at(Bytes(metric)); });
  if (!dropped.ok()) return Answer(dropped);
  for (const auto& [metric, end] : ends) {
    PointScanSpec spec;
    spec.metric = metric;
    spec.rows.end = end;
    if (const Status deleted = points.DeleteRows(spec); !deleted.ok()) return Answer(deleted);
  }
  return Answer({});
}

std::string Apply(Kind kind, Random random, const Doors& doors) {
  switch (kind) {
    case Kind::kAppend:
      return AppendPoints(&random, doors.points);
    case Kind::kAge:
      return DeleteOld(&random, doors.points);
    case Kind::kIncrement:
    case Kind::kCompareAndPut:
    case Kind::kPutName:
    case Kind::kDeleteName:
      return ApplyToNames(kind, &random, doors.cells);
    default:
      return ApplyToRow(kind, &random, doors);
  }
}

// Returns the points as the point store shows them. It is not defined which rows come before a
// failing one.
std::string ShowPoints(Points& points) {
  std::string text;
  for (uint64_t metric = 1; metric <= 2; ++metric) {
    PointScanSpec spec;
    AppendBig(&spec.metric, metric, 3);
    ReconcileOptions options;
    options.fix_duplicates = true;
    auto scan = points.Scan(spec, options);
    if (!scan.ok()) return Answer(scan.status());
    std::vector<std::string> rows;
    RowHour row;
    for (;;) {
      const auto more = (*scan)->Next(&row);
      if (!more.ok()) rows = {Answer(more.status())};
      if (!more.ok() || !*more) break;
      std::string line = ToHex(row.tsuid) + "@" + std::to_string(row.base);
      for (size_t i = 0; i < row.offset_ms.size(); ++i) {
        line += " " + std::to_string(row.offset_ms[i]) + (row.double_at(i) ? "=f" : "=") +
                std::to_string(row.value[i]);
      }
      rows.push_back(std::move(line));
    }
    std::sort(rows.begin(), rows.end());
    for (const std::string& line : rows) text += line + "\n";
  }
  return text;
}

// Replays steps from the beginning on a new engine and a new model.
class Replay {
 public:
  explicit Replay(const HistoryOptions& options) : options_(options), disk_(options.seed) {
    engine_options_.path = "disk";
    engine_options_.background = false;
    engine_options_.enable_compaction = false;
    engine_options_.sync_interval_ms = 3'600'000;
    engine_options_.log_file_bytes = 256 << 10;
    for (const TableDescriptor& table : engine_options_.tables) {
      INVARIANT(model_.CreateTable(table).ok());
    }
    Open();
  }

  // Executes a step. Returns the difference between engine and model, or "" if there is none.
  std::string Step(uint64_t number) {
    Random random(options_.seed, number);
    const Kind kind = KindOf(&random);
    switch (kind) {
      case Kind::kClock: {
        const auto ms = static_cast<int64_t>(random.Below(5000));
        clock_.AdvanceMs(random.Below(8) == 0 ? -ms : ms);
        return "";
      }
      case Kind::kSplit: {
        const Bytes key =
            codec::MakeRowKey(KeyLayout(), WorkloadTsuid(random.Below(kSeries)), BaseOf(&random));
        return Asked(engine_->cells().Split("tsdb", key, key).status());
      }
      case Kind::kJoin: {
        const auto regions = engine_->cells().Regions("tsdb");
        if (!regions.ok() || regions->size() < 2) return Done(regions.status());
        const Bytes& start = (*regions)[1 + random.Below(regions->size() - 1)].start;
        return Asked(engine_->cells().MergeRegions("tsdb", start));
      }
      case Kind::kFlush:
        return Done(engine_->cells().Flush());
      case Kind::kCompact:
        return Done(engine_->cells().Compact());
      case Kind::kReopen: {
        const std::string closed = Done(engine_->Close());
        if (!closed.empty()) return closed;
        Open();
        return "";
      }
      default:
        break;
    }
    const std::string expected = Apply(kind, random, {model_, model_points_});
    if (kind == Kind::kDeleteRow && options_.forget_row_deletes) return "";
    const std::string found = Apply(kind, random, {engine_->cells(), engine_->points()});
    return found == expected ? "" : "the engine answers\n" + found + "\nthe model\n" + expected;
  }

  std::string Compare() {
    const std::string cells = DumpCells(engine_->cells());
    const std::string expected = DumpCells(model_);
    if (cells != expected) return "the engine's cells\n" + cells + "\nthe model's\n" + expected;
    const std::string points = ShowPoints(engine_->points());
    const std::string read = ShowPoints(model_points_);
    return points == read ? "" : "the engine's points\n" + points + "\nthe model's\n" + read;
  }

 private:
  void Open() {
    auto opened = Embedded::Open(engine_options_, disk_, clock_);
    INVARIANT(opened.ok());
    engine_ = std::move(*opened);
  }
  // The store refuses some splits in its current state. A refused split must have changed nothing.
  static std::string Asked(const Status& status) {
    const bool refused =
        status.code() == StatusCode::kConflict || status.code() == StatusCode::kInvalidArgument;
    return refused ? "" : Done(status);
  }
  static std::string Done(const Status& status) { return status.ok() ? "" : status.ToString(); }

  const HistoryOptions options_;
  FaultyFileSystem disk_;
  ManualClock clock_{1'700'000'000'000};
  EmbeddedOptions engine_options_;
  ModelStore model_{clock_};
  points::PointsOverCells model_points_{&model_, {}};
  std::unique_ptr<Embedded> engine_;
};

// The first difference of a history, and the step at which it was found.
struct Difference {
  std::string text;
  uint64_t step = 0;
};

std::optional<Difference> Run(const HistoryOptions& options, const std::vector<uint64_t>& steps) {
  Replay replay(options);
  for (size_t i = 0; i < steps.size(); ++i) {
    std::string difference = replay.Step(steps[i]);
    if (difference.empty() &&
        (steps[i] % kCompareEvery == kCompareEvery - 1 || i + 1 == steps.size())) {
      difference = replay.Compare();
    }
    if (!difference.empty()) return Difference{std::move(difference), steps[i]};
  }
  return {};
}

// Makes a failing history shorter: leaves out pieces, first large and then small ones. A piece
// stays left out if the rest of the history still fails.
std::vector<uint64_t> Shrink(const HistoryOptions& options, std::vector<uint64_t> steps) {
  int runs = 0;
  for (size_t piece = steps.size() / 2; piece > 0; piece /= 2) {
    for (size_t at = 0; at < steps.size() && runs < kShrinkRuns; ++runs) {
      std::vector<uint64_t> rest(steps.begin(), steps.begin() + static_cast<ptrdiff_t>(at));
      rest.insert(rest.end(),
                  steps.begin() + static_cast<ptrdiff_t>(std::min(at + piece, steps.size())),
                  steps.end());
      if (!rest.empty() && Run(options, rest)) {
        steps = std::move(rest);
      } else {
        at += piece;
      }
    }
  }
  return steps;
}

std::string Describe(const HistoryOptions& options, uint64_t step) {
  static const char* const kNames[] = {"append points",   "put cells",
                                       "delete a column", "delete a row",
                                       "delete a family", "append a cell",
                                       "increment",       "compare and put",
                                       "put a name",      "delete a name",
                                       "get a row",       "step the clock",
                                       "split",           "join",
                                       "flush",           "merge",
                                       "reopen",          "delete what is old"};
  Random random(options.seed, step);
  return std::to_string(step) + ": " + kNames[static_cast<size_t>(KindOf(&random))] + "\n";
}

}  // namespace

std::optional<HistoryFailure> RunHistory(const HistoryOptions& options) {
  std::vector<uint64_t> steps(options.steps);
  std::iota(steps.begin(), steps.end(), 0);
  const auto difference = Run(options, steps);
  if (!difference) return {};
  steps.resize(difference->step + 1);
  HistoryFailure failure;
  failure.steps = Shrink(options, std::move(steps));
  failure.text = "seed " + std::to_string(options.seed) + ", " +
                 std::to_string(failure.steps.size()) + " steps are needed:\n";
  for (const uint64_t step : failure.steps) failure.text += Describe(options, step);
  const auto shrunk = Run(options, failure.steps);
  failure.text += shrunk ? shrunk->text : difference->text + "\n(not the same twice)";
  return failure;
}

}  // namespace hg
