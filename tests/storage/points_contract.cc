#include "tests/storage/points_contract.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "storage/codec/row_key.h"
#include "storage/points/points.h"
#include "tests/support/commit_and_wait.h"
#include "tests/support/fake_watch.h"

namespace hg {
namespace {

constexpr uint32_t kBase = 1356998400;
const ByteView kMetric{"\0\0\1", 3};

Bytes Hex(ByteView hex) {
  Bytes bytes;
  REQUIRE(FromHex(hex, &bytes));
  return bytes;
}

// Series "1=1" has tag key 000001 with value 000001. Further pairs follow after a blank.
Bytes Tsuid(const std::string& tags, int metric = 1) {
  Bytes name;
  AppendBig(&name, static_cast<uint64_t>(metric), 3);
  std::vector<Bytes> pairs;
  for (size_t at = 0; at < tags.size(); at += 4) {
    Bytes pair;
    AppendBig(&pair, static_cast<uint64_t>(tags[at] - '0'), 3);
    AppendBig(&pair, static_cast<uint64_t>(tags[at + 2] - '0'), 3);
    pairs.push_back(pair);
  }
  return codec::MakeTsuid(name, pairs);
}

Bytes Id(int id) {
  Bytes bytes;
  AppendBig(&bytes, static_cast<uint64_t>(id), 3);
  return bytes;
}

class Driver {
 public:
  explicit Driver(std::unique_ptr<PointsSubject> subject) : subject_(std::move(subject)) {}

  Points& points() { return subject_->points(); }
  Store& cells() { return subject_->cells(); }
  void Disturb() { subject_->Disturb(); }

  SeriesNumber Series(const Bytes& tsuid) {
    auto number = points().Register(tsuid);
    REQUIRE(number.ok());
    return *number;
  }

  // Writes one batch and commits it. Later batches have later times.
  void Write(const std::vector<PointEntry>& batch) {
    subject_->clock().AdvanceMs(10);
    auto position = points().Append(batch);
    REQUIRE(position.ok());
    REQUIRE(CommitAndWait(points(), *position).ok());
  }
  void Write(const Bytes& tsuid, int64_t time, PointValue value) {
    Write({MakePointEntry(Series(tsuid), Timestamp{time}, value)});
  }

  // Writes cells of one row in one mutation.
  void Put(const Bytes& key, const std::vector<std::pair<const char*, const char*>>& cells) {
    subject_->clock().AdvanceMs(10);
    RowMutation row{key, {}};
    for (const auto& [qualifier, value] : cells) {
      row.changes.push_back(PutCell("t", Hex(qualifier), Hex(value)));
    }
    REQUIRE(this->cells().Mutate("tsdb", {row}).ok());
  }

  Bytes Key(const Bytes& tsuid, uint32_t base = kBase) {
    return codec::MakeRowKey(points().layout(), tsuid, base);
  }

 private:
  std::unique_ptr<PointsSubject> subject_;
};

PointScanSpec Everything() {
  PointScanSpec spec;
  spec.metric = Bytes(kMetric);
  return spec;
}

struct Answer {
  std::string text;  // rows sorted as TSUID@base time=value …
  Status status;
  size_t objects = 0;
};

std::string Show(const RowHour& row, size_t i) {
  std::string text = std::to_string(row.offset_ms[i]) + "=";
  if (!row.double_at(i)) return text + std::to_string(static_cast<int64_t>(row.value[i]));
  char number[40];
  std::snprintf(number, sizeof number, "%.17gf", std::bit_cast<double>(row.value[i]));
  return text + number;
}

Answer Read(Driver& d, const PointScanSpec& spec, const ReconcileOptions& options = {}) {
  Answer answer;
  auto scan = d.points().Scan(spec, options);
  if (!scan.ok()) {
    answer.status = scan.status();
    return answer;
  }
  std::map<std::pair<Bytes, uint32_t>, std::string> rows;
  std::map<Bytes, uint32_t> last_base;
  RowHour row;
  while (true) {
    auto more = (*scan)->Next(&row);
    if (!more.ok()) answer.status = more.status();
    if (!more.ok() || !*more) break;
    const Bytes tsuid(row.tsuid);
    CHECK(codec::TsuidOf(d.points().layout(), row.key).ok());
    auto [last, fresh] = last_base.try_emplace(tsuid, row.base);
    if (!fresh) CHECK_MESSAGE(row.base > last->second, "hours of a series ascend");
    last->second = row.base;
    CHECK(row.stored_cells > 0);
    CHECK(row.value.size() == row.offset_ms.size());
    CHECK((row.is_double.empty() || row.is_double.size() == row.value.size()));
    std::string& text = rows[{tsuid, row.base}];
    CHECK_MESSAGE(text.empty(), "a row is given once");
    text = ToHex(tsuid) + "@" + std::to_string(row.base - kBase);
    for (size_t i = 0; i < row.offset_ms.size(); ++i) {
      if (i > 0) CHECK(row.offset_ms[i - 1] < row.offset_ms[i]);
      text += " " + Show(row, i);
    }
    for (const Cell& cell : row.objects) text += " " + ToHex(cell.qualifier) + ":" + cell.value;
    answer.objects += row.objects.size();
  }
  for (const auto& [key, text] : rows) answer.text += text + "\n";
  return answer;
}

std::string RowText(const std::string& tags, const std::string& points, int hour = 0) {
  return ToHex(Tsuid(tags)) + "@" + std::to_string(hour * 3600) + " " + points + "\n";
}

void PointsComeBackInOrderWithTheirClass(Driver& d) {
  const Bytes series = Tsuid("1=1");
  d.Write(series, kBase + 2, PointValue::Int(-129));
  d.Write(series, kBase, PointValue::Int(42));
  CHECK(Read(d, Everything()).text == RowText("1=1", "0=42 2000=-129"));
  d.Write(series, int64_t{kBase} * 1000 + 500, PointValue::Float(42.5F));
  d.Write(series, kBase + 3599, PointValue::Double(0.1));
  const std::string mixed = RowText("1=1", "0=42 500=42.5f 2000=-129 3599000=0.10000000000000001f");
  CHECK(Read(d, Everything()).text == mixed);
  d.Disturb();
  CHECK(Read(d, Everything()).text == mixed);
}

void ValuesKeepTheirBits(Driver& d) {
  const Bytes series = Tsuid("1=1");
  const std::vector<PointValue> values = {
      PointValue::Int(INT64_MIN), PointValue::Int(INT64_MAX),
      PointValue::Int(-1),        PointValue::Double(-0.0),
      PointValue::Float(-0.0F),   PointValue{0x7FF8000000000123, kFloat64},  // a NaN with a payload
      PointValue{5, kInt64}};                                                // wider than necessary
  for (size_t i = 0; i < values.size(); ++i)
    d.Write(series, kBase + static_cast<int64_t>(i), values[i]);
  d.Disturb();
  auto scan = d.points().Scan(Everything(), {});
  REQUIRE(scan.ok());
  RowHour row;
  REQUIRE(*(*scan)->Next(&row));
  REQUIRE(row.value.size() == values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t expected = values[i].flags == kFloat32
                                  ? std::bit_cast<uint64_t>(values[i].as_double())
                                  : values[i].bits;
    CHECK(row.value[i] == expected);
    CHECK(row.double_at(i) == values[i].is_float());
  }
}

void TheSamePointAgainOverwritesAndAnotherFormOfItsInstantStandsBesideIt(Driver& d) {
  const Bytes series = Tsuid("1=1");
  const ReconcileOptions fix{.fix_duplicates = true};
  d.Write(series, kBase, PointValue::Int(1));
  d.Write(series, kBase, PointValue::Int(2));
  CHECK(Read(d, Everything()).text == RowText("1=1", "0=2"));
  d.Disturb();
  d.Write(series, kBase, PointValue::Int(3));
  CHECK(Read(d, Everything()).text == RowText("1=1", "0=3"));

  d.Write(series, kBase, PointValue::Int(300));  // two bytes: another qualifier
  for (int i = 0; i < 2; ++i) {
    Answer refused = Read(d, Everything());
    CHECK(refused.status.code() == StatusCode::kInvalidArgument);
    CHECK_MESSAGE(
        refused.status.message().find(ToHexUpper(d.Key(series))) != std::string_view::npos,
        refused.status.message());
    CHECK(Read(d, Everything(), fix).text == RowText("1=1", "0=300"));
    d.Disturb();
  }
  d.Write(series, kBase, PointValue::Int(4));
  CHECK(Read(d, Everything(), fix).text == RowText("1=1", "0=4"));
  d.Disturb();
  CHECK(Read(d, Everything(), fix).text == RowText("1=1", "0=4"));
  // With use_otsdb_timestamp the largest value is read, not the newest one.
  CHECK(Read(d, Everything(), {.use_otsdb_timestamp = true}).text == RowText("1=1", "0=300"));
  CHECK(Read(d, Everything(), {.use_otsdb_timestamp = true, .use_max_value = false}).text ==
        RowText("1=1", "0=4"));
}

void OfCellsWrittenTogetherTheSmallerQualifierStays(Driver& d) {
  d.Put(d.Key(Tsuid("1=1")), {{"0071", "012C"}, {"0070", "05"}, {"F006D600", "06"}});
  for (int i = 0; i < 2; ++i) {
    CHECK(Read(d, Everything(), {.fix_duplicates = true}).text == RowText("1=1", "7000=5"));
    d.Disturb();
  }
}

void EqualValuesAtOneInstantAreOne(Driver& d) {
  const Bytes series = Tsuid("1=1");
  d.Write(series, kBase, PointValue::Int(5));
  d.Write(series, int64_t{kBase} * 1000, PointValue::Int(5));
  d.Disturb();
  CHECK(Read(d, Everything()).text == RowText("1=1", "0=5"));
}

void RowsAreChosenByBaseAndMetric(Driver& d) {
  for (int hour = 0; hour < 4; ++hour) {
    d.Write(Tsuid("1=1"), kBase + hour * 3600, PointValue::Int(hour));
    d.Write(Tsuid("1=2"), kBase + hour * 3600 + 3599, PointValue::Int(hour));
  }
  d.Write(Tsuid("1=1", 2), kBase, PointValue::Int(99));
  d.Write(Tsuid("1=1", 0), kBase, PointValue::Int(98));
  d.Disturb();
  PointScanSpec spec = Everything();
  spec.rows = {kBase + 3600, kBase + 3 * 3600};
  CHECK(Read(d, spec).text == RowText("1=1", "0=1", 1) + RowText("1=1", "0=2", 2) +
                                  RowText("1=2", "3599000=1", 1) + RowText("1=2", "3599000=2", 2));
  spec.batch_rows = 1;
  CHECK(Read(d, spec).text.size() > 0);
  spec.rows = {kBase + 1, kBase + 3600};
  CHECK(Read(d, spec).text.empty());
  spec.metric = Id(2);
  spec.rows = RowRange();
  CHECK(Read(d, spec).text.find("=99") != std::string::npos);
  spec.metric = Id(7);
  CHECK(Read(d, spec).text.empty());
}

void MatchersChooseSeries(Driver& d) {
  for (const char* tags : {"1=1", "1=2", "1=1 2=1", "1=2 2=2", "2=1", "2=1 3=1"}) {
    d.Write(Tsuid(tags), kBase, PointValue::Int(1));
  }
  d.Disturb();
  using Kind = TagClause::Kind;
  auto read = [&](std::vector<TagClause> clauses, bool exact = false) {
    PointScanSpec spec = Everything();
    spec.matcher.clauses = std::move(clauses);
    spec.matcher.exact_tags = exact;
    return Read(d, spec).text;
  };
  auto rows = [](const std::vector<std::string>& tags) {
    std::string text;
    for (const auto& t : tags) text += RowText(t, "0=1");
    return text;
  };
  CHECK(read({{Id(1), Kind::kAny, {}}}) == rows({"1=1", "1=1 2=1", "1=2", "1=2 2=2"}));
  CHECK(read({{Id(1), Kind::kOneOf, {Id(2), Id(9)}}}) == rows({"1=2", "1=2 2=2"}));
  CHECK(read({{Id(1), Kind::kOneOf, {}}}).empty());
  CHECK(read({{Id(1), Kind::kAbsent, {}}}) == rows({"2=1", "2=1 3=1"}));
  CHECK(read({{Id(1), Kind::kAny, {}}, {Id(2), Kind::kAbsent, {}}}) == rows({"1=1", "1=2"}));
  CHECK(read({{Id(1), Kind::kAny, {}}, {Id(1), Kind::kOneOf, {Id(1)}}}) ==
        rows({"1=1", "1=1 2=1"}));
  CHECK(read({{Id(2), Kind::kOneOf, {Id(1)}}}, true) == rows({"2=1"}));
  CHECK(read({{Id(1), Kind::kAny, {}}, {Id(2), Kind::kAny, {}}}, true) ==
        rows({"1=1 2=1", "1=2 2=2"}));
  CHECK(read({{Id(9), Kind::kAny, {}}}).empty());
  PointScanSpec listed = Everything();
  listed.matcher.tsuids = {Tsuid("1=1 2=1"), Tsuid("1=9"), Tsuid("2=1")};
  std::sort(listed.matcher.tsuids.begin(), listed.matcher.tsuids.end());
  CHECK(Read(d, listed).text == rows({"1=1 2=1", "2=1"}));
}

void KeysThatDoNotFitEndAScanAfterTheRowsThatDo(Driver& d) {
  d.Write(Tsuid("1=1"), kBase, PointValue::Int(1));
  Bytes cut = d.Key(Tsuid("1=1"));
  cut.pop_back();
  d.Put(cut, {{"0000", "07"}});
  Bytes untagged = cut.substr(0, static_cast<size_t>(d.points().layout().prefix_width()));
  d.Put(untagged, {{"0000", "07"}});
  d.Disturb();
  Answer answer = Read(d, Everything());
  CHECK(answer.text == RowText("1=1", "0=1"));
  CHECK(answer.status.code() == StatusCode::kInvalidArgument);
  // With a condition on a tag such rows are not selected.
  PointScanSpec any = Everything();
  any.matcher.clauses = {{Id(1), TagClause::Kind::kAny, {}}};
  answer = Read(d, any);
  CHECK(answer.status.ok());
  CHECK(answer.text == RowText("1=1", "0=1"));
}

void OddBasesAndUnsortedPairsAreReadAsTheyStand(Driver& d) {
  const Bytes series = Tsuid("1=1");
  d.Put(d.Key(series, kBase + 60), {{"0010", "07"}});
  const Bytes unsorted = Bytes(kMetric) + Id(2) + Id(1) + Id(1) + Id(1);
  d.Put(d.Key(unsorted), {{"0010", "08"}});
  d.Disturb();
  CHECK(Read(d, Everything()).text ==
        ToHex(series) + "@60 1000=7\n" + ToHex(unsorted) + "@0 1000=8\n");
}

void CellsOfOtherWritersAreReadAsPoints(Driver& d) {
  d.Put(d.Key(Tsuid("1=1")), {{"F0000FC10010002B", "012C184228000001"}});
  d.Put(d.Key(Tsuid("1=2")), {{"00000020", "0A0B00"}, {"0010", "18"}, {"0030", "19"}});
  d.Put(d.Key(Tsuid("1=3")), {{"050000", "00201800002A002019"}});
  d.Put(d.Key(Tsuid("1=4")), {{"001B", "0000000040866666"}, {"0003", "0000000000000004"}});
  d.Put(d.Key(Tsuid("1=5")), {{"002000000010", "03010200"}, {"07", "00"}});
  const std::string expected =
      RowText("1=1", "63=300 1000=24 2000=42f") + RowText("1=2", "0=10 1000=24 2000=11 3000=25") +
      RowText("1=3", "0=42 2000=25") + RowText("1=4", "0=4 1000=4.1999998092651367f") +
      RowText("1=5", "0=1 1000=2 2000=3");
  CHECK(Read(d, Everything()).text == expected);
  d.Disturb();
  CHECK(Read(d, Everything()).text == expected);
  // These points are written after the compacted cell.
  d.Write(Tsuid("1=1"), kBase + 3, PointValue::Int(1));
  PointScanSpec first = Everything();
  first.matcher.tsuids = {Tsuid("1=1")};
  CHECK(Read(d, first).text == RowText("1=1", "63=300 1000=24 2000=42f 3000=1"));
  d.Disturb();
  CHECK(Read(d, first).text == RowText("1=1", "63=300 1000=24 2000=42f 3000=1"));
}

// The times 1, 2 and 3 s of a few rows are written again and again, as points of both resolutions
// and in compacted cells.
void UnderFixDuplicatesTheLaterOfPointsAndCellsStays(Driver& d) {
  std::mt19937 random(11);
  const std::vector<std::string> series = {"1=1", "1=2", "1=3"};
  std::map<std::string, std::map<int, std::string>> expected;  // by series and second
  for (int step = 1; step <= 120; ++step) {
    CAPTURE(step);
    const std::string& tags = series[random() % series.size()];
    const Bytes tsuid = Tsuid(tags);
    const int value = step % 100;
    const std::string integer = std::to_string(value);
    std::string twice;
    auto set = [&](std::initializer_list<int> seconds, const std::string& text) {
      for (const int second : seconds) expected[tags][second] = text;
    };
    Bytes byte(1, static_cast<char>(value));
    Bytes single;
    AppendBig(&single, std::bit_cast<uint32_t>(static_cast<float>(value)), 4);
    const int kind = static_cast<int>(random() % 6);
    CAPTURE(kind);
    switch (kind) {
      case 0:
        twice = ToHex(byte + byte) + "00";
        d.Put(d.Key(tsuid), {{"00100020", twice.c_str()}});
        set({1, 2}, integer);
        break;
      case 1:
        twice = ToHex(byte + byte) + "00";
        d.Put(d.Key(tsuid), {{"00200030", twice.c_str()}});
        set({2, 3}, integer);
        break;
      case 2:
        twice = ToHex(single + single) + "00";
        d.Put(d.Key(tsuid), {{"001B002B", twice.c_str()}});
        set({1, 2}, integer + "f");
        break;
      case 3:
        d.Write(tsuid, kBase + 2, PointValue::Int(value));
        set({2}, integer);
        break;
      case 4:
        d.Write(tsuid, (int64_t{kBase} + 2) * 1000, PointValue::Int(value));
        set({2}, integer);
        break;
      default:
        d.Write(tsuid, kBase + 3, PointValue::Float(static_cast<float>(value)));
        set({3}, integer + "f");
    }
    if (random() % 3 == 0) d.Disturb();
    std::string text;
    for (const auto& [name, points] : expected) {
      std::string row;
      for (const auto& [second, shown] : points) {
        row += (row.empty() ? "" : " ") + std::to_string(second * 1000) + "=" + shown;
      }
      text += RowText(name, row);
    }
    ReconcileOptions later_wins;
    later_wins.fix_duplicates = true;
    REQUIRE(Read(d, Everything(), later_wins).text == text);
    // Sometimes a row is started again, so that short histories occur too.
    if (random() % 10 == 0) {
      REQUIRE(d.cells().DeleteRow("tsdb", d.Key(tsuid)).ok());
      expected.erase(tags);
    }
  }
}

void ReadersMeanwhileSeeWholeBatchesOfARow(Driver& d) {
  const SeriesNumber series = d.Series(Tsuid("1=1"));
  constexpr int kBatches = 200;
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int batch = 0; batch < kBatches; ++batch) {
      std::vector<PointEntry> entries;
      for (int i = 0; i < 10; ++i) {
        entries.push_back(MakePointEntry(series, {kBase + batch * 10 + i}, PointValue::Int(1)));
      }
      (void)d.points().Append(entries);
    }
    done = true;
  });
  size_t seen = 0;
  bool last = false;
  while (!last) {
    last = done;
    auto scan = d.points().Scan(Everything(), {});
    REQUIRE(scan.ok());
    RowHour row;
    auto more = (*scan)->Next(&row);
    if (!more.ok()) FAIL_CHECK(more.status().ToString());
    if (!more.ok() || !*more) continue;
    CHECK(row.value.size() % 10 == 0);
    CHECK(row.value.size() >= seen);
    seen = row.value.size();
    CHECK(row.offset_ms.back() == (seen - 1) * 1000);
  }
  writer.join();
  CHECK(seen == kBatches * 10);
}

void DamagedCellsFailTheScanAndNameTheirRow(Driver& d) {
  d.Put(d.Key(Tsuid("1=1")), {{"001B", "FFFFFFFF40866666"}});
  d.Disturb();
  Answer answer = Read(d, Everything());
  CHECK(answer.status.code() == StatusCode::kCorruption);
  CHECK(answer.status.message().find(ToHexUpper(d.Key(Tsuid("1=1")))) != std::string_view::npos);
}

void NotesAndHistogramsAreGivenIfAskedFor(Driver& d) {
  d.Write(Tsuid("1=1"), kBase, PointValue::Int(1));
  d.Put(d.Key(Tsuid("1=1")), {{"010000", "41"}, {"06000A", "42"}, {"0700", "43"}});
  d.Put(d.Key(Tsuid("1=2")), {{"010005", "44"}});
  d.Put(d.Key(Tsuid("1=3")), {{"020000", "45"}});
  d.Disturb();
  PointScanSpec spec = Everything();
  spec.matcher.tsuids = {Tsuid("1=2"), Tsuid("1=3")};
  CHECK(Read(d, spec).text.empty());
  spec.objects = true;
  CHECK(Read(d, spec).text == ToHex(Tsuid("1=2")) + "@0 010005:D\n");
  spec.matcher.tsuids = {Tsuid("1=1")};
  // 0700 is a point at +112 s.
  CHECK(Read(d, spec).text == RowText("1=1", "0=1 112000=67 010000:A 06000a:B"));
}

void DeletingRowsTakesNotesTooAndNothingElse(Driver& d) {
  for (int hour = 0; hour < 3; ++hour) {
    d.Write(Tsuid("1=1"), kBase + hour * 3600, PointValue::Int(hour));
    d.Write(Tsuid("1=2"), kBase + hour * 3600, PointValue::Int(hour));
  }
  d.Put(d.Key(Tsuid("1=1"), kBase + 3600), {{"010000", "41"}});
  d.Disturb();
  PointScanSpec spec = Everything();
  spec.matcher.tsuids = {Tsuid("1=1")};
  spec.rows = {kBase + 3600, kBase + 7200};
  const std::string before = Read(d, spec).text;
  FakeWatch stopped;
  stopped.steps_max = 0;
  spec.watch = &stopped;
  CHECK(d.points().DeleteRows(spec).code() == StatusCode::kDeadlineExceeded);
  spec.watch = nullptr;
  CHECK(Read(d, spec).text == before);
  REQUIRE(d.points().DeleteRows(spec).ok());
  PointScanSpec all = Everything();
  all.objects = true;
  const std::string left = RowText("1=1", "0=0") + RowText("1=1", "0=2", 2) +
                           RowText("1=2", "0=0") + RowText("1=2", "0=1", 1) +
                           RowText("1=2", "0=2", 2);
  CHECK(Read(d, all).text == left);
  d.Disturb();
  CHECK(Read(d, all).text == left);
  CHECK(d.cells().Get("tsdb", d.Key(Tsuid("1=1"), kBase + 3600))->empty());
  d.Write(Tsuid("1=1"), kBase + 3600, PointValue::Int(7));
  CHECK(Read(d, spec).text == RowText("1=1", "0=7", 1));
  d.Disturb();
  CHECK(Read(d, spec).text == RowText("1=1", "0=7", 1));
}

void SeriesAreListedByTheirBytes(Driver& d) {
  for (const char* tags : {"2=1", "1=2", "1=1", "1=1 2=1"})
    d.Write(Tsuid(tags), kBase, PointValue::Int(1));
  d.Write(Tsuid("1=1"), kBase + 7200, PointValue::Int(1));
  d.Write(Tsuid("1=3", 2), kBase, PointValue::Int(1));
  d.Disturb();
  auto list = [&](ByteView metric, const SeriesMatcher& matcher, size_t most = 100) {
    std::vector<Bytes> found;
    REQUIRE(d.points()
                .ListSeries(metric, matcher, nullptr,
                            [&](ByteView tsuid) {
                              found.emplace_back(tsuid);
                              return found.size() < most;
                            })
                .ok());
    return found;
  };
  CHECK(list(kMetric, {}) ==
        std::vector{Tsuid("1=1"), Tsuid("1=1 2=1"), Tsuid("1=2"), Tsuid("2=1")});
  CHECK(list("", {}).size() == 5);
  CHECK(list("", {}).back() == Tsuid("1=3", 2));
  CHECK(list(kMetric, {}, 2).size() == 2);
  SeriesMatcher matcher;
  matcher.clauses = {{Id(2), TagClause::Kind::kAny, {}}};
  CHECK(list(kMetric, matcher) == std::vector{Tsuid("1=1 2=1"), Tsuid("2=1")});
  CHECK(list(Id(9), {}).empty());
  CHECK(*d.points().CountSeries(kMetric, nullptr) == 4);
  CHECK(*d.points().CountSeries(Id(9), nullptr) == 0);
  CHECK(*d.points().ListMetrics(nullptr) == std::vector{Bytes(kMetric), Id(2)});
}

// Stores may round the range to days (UTC).
void SeriesAreListedByTime(Driver& d) {
  constexpr uint32_t kDay = 86'400;
  constexpr uint32_t kMidnight = kBase / kDay * kDay;
  d.Write(Tsuid("1=1"), kMidnight, PointValue::Int(1));
  d.Write(Tsuid("1=2"), kMidnight + kDay - 1, PointValue::Int(1));
  d.Write(Tsuid("1=3"), kMidnight + kDay, PointValue::Int(1));
  d.Write(Tsuid("1=1"), kMidnight + 9 * kDay, PointValue::Int(1));
  d.Write(Tsuid("1=4", 2), kMidnight + 9 * kDay, PointValue::Int(1));
  d.Disturb();
  const auto list = [&](ByteView metric, uint32_t begin_day, uint32_t end_day,
                        const SeriesMatcher& matcher, size_t most) {
    std::vector<Bytes> found;
    const RowRange rows{kMidnight + begin_day * kDay, kMidnight + end_day * kDay};
    REQUIRE(d.points()
                .ListSeriesWithin(metric, matcher, rows, nullptr,
                                  [&](ByteView tsuid) {
                                    found.emplace_back(tsuid);
                                    return found.size() < most;
                                  })
                .ok());
    return found;
  };
  CHECK(list(kMetric, 0, 1, {}, 9) == std::vector{Tsuid("1=1"), Tsuid("1=2")});
  CHECK(list(kMetric, 0, 1, {}, 1) == std::vector{Tsuid("1=1")});
  CHECK(list(kMetric, 1, 2, {}, 9) == std::vector{Tsuid("1=3")});
  CHECK(list(kMetric, 2, 9, {}, 9).empty());
  CHECK(list(kMetric, 5, 5, {}, 9).empty());
  CHECK(list(kMetric, 9, 10, {}, 9) == std::vector{Tsuid("1=1")});
  CHECK(list("", 9, 10, {}, 9) == std::vector{Tsuid("1=1"), Tsuid("1=4", 2)});
  CHECK(list("", 0, 10, {}, 9).size() == 4);
  SeriesMatcher matcher;
  matcher.tsuids = {Tsuid("1=2"), Tsuid("1=3")};
  CHECK(list(kMetric, 0, 1, matcher, 9) == std::vector{Tsuid("1=2")});
}

void NumbersAreStableAndBadOnesRefused(Driver& d) {
  const SeriesNumber one = d.Series(Tsuid("1=1"));
  const SeriesNumber two = d.Series(Tsuid("1=2"));
  CHECK(one != two);
  CHECK(d.Series(Tsuid("1=1")) == one);
  const Bytes known = Tsuid("1=2"), a = Tsuid("1=3"), b = Tsuid("1=4");
  const std::vector<ByteView> several = {a, known, b, a, b, known};
  std::vector<SeriesNumber> numbers(several.size());
  REQUIRE(d.points().RegisterAll(several, numbers.data()).ok());
  const std::set<SeriesNumber> different(numbers.begin(), numbers.end());
  CHECK(different.size() == 3);
  for (size_t i = 0; i < several.size(); ++i) CHECK(d.Series(Bytes(several[i])) == numbers[i]);
  CHECK(numbers[1] == two);
  CHECK(d.points().RegisterAll({}, nullptr).ok());
  const std::vector<ByteView> with_a_bad_one = {known, kMetric};
  CHECK(d.points().RegisterAll(with_a_bad_one, numbers.data()).code() ==
        StatusCode::kInvalidArgument);
  const std::vector<ByteView> with_an_empty_one = {known, ByteView()};
  CHECK(d.points().RegisterAll(with_an_empty_one, numbers.data()).code() ==
        StatusCode::kInvalidArgument);
  CHECK(d.points().Register({}).status().code() == StatusCode::kInvalidArgument);
  CHECK(d.points().Register(kMetric).status().code() == StatusCode::kInvalidArgument);
  CHECK(d.points().Register(Tsuid("1=1") + "x").status().code() == StatusCode::kInvalidArgument);
  const std::vector<PointEntry> batch = {
      MakePointEntry(one, Timestamp{kBase}, PointValue::Int(1)),
      MakePointEntry(two + 1000, Timestamp{kBase}, PointValue::Int(1))};
  CHECK(d.points().Append(batch).status().code() == StatusCode::kInvalidArgument);
  CHECK(Read(d, Everything()).text.empty());
}

void PointsAreCellsOfTheDataTable(Driver& d) {
  const Bytes series = Tsuid("1=1");
  // The hour is in the future, so that no store compacts its cells.
  const uint32_t base = 4102444800;
  d.Write(series, base + 1, PointValue::Int(24));
  d.Write(series, base, PointValue::Double(0.5));
  d.Disturb();
  auto row = d.cells().Get("tsdb", d.Key(series, base));
  REQUIRE(row.ok());
  REQUIRE(row->cells.size() == 2);
  CHECK(ToHex(row->cells[0].qualifier) == "000f");
  CHECK(ToHex(row->cells[0].value) == "3fe0000000000000");
  CHECK(ToHex(row->cells[1].qualifier) == "0010");
  CHECK(ToHex(row->cells[1].value) == "18");
  REQUIRE(d.cells().Mutate("tsdb", {{d.Key(series, base), {DeleteColumn("t", Hex("0010"))}}}).ok());
  CHECK(Read(d, Everything()).text.find(" 1000=") == std::string::npos);
  d.Disturb();
  CHECK(d.cells().Get("tsdb", d.Key(series, base))->cells.size() == 1);
  REQUIRE(d.cells().DeleteRow("tsdb", d.Key(series, base)).ok());
  CHECK(Read(d, Everything()).text.empty());
}

void TimesBeyond32BitsWrapAsStored(Driver& d) {
  const Bytes series = Tsuid("1=1");
  d.Write(series, kTimestampMax, PointValue::Int(5));
  d.Write(series, 1, PointValue::Int(6));
  d.Disturb();
  CHECK(d.cells().Get("tsdb", d.Key(series, 0x540BD910))->cells.size() == 1);
  CHECK(d.cells().Get("tsdb", d.Key(series, 0))->cells.size() == 1);
}

// Random points of few series and times, compared with a map of the expected points.
void RandomPointsEqualAMap(const PointsFactory& make, const KeyLayout& layout) {
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Driver d(make(layout));
    const std::vector<Bytes> series = {Tsuid("1=1"), Tsuid("1=2"), Tsuid("1=1 2=1")};
    std::map<std::pair<Bytes, uint32_t>, std::map<uint32_t, PointValue>> expected;
    for (int batch = 0; batch < 40; ++batch) {
      std::vector<PointEntry> entries;
      for (size_t n = 1 + random() % 40; n > 0; --n) {
        const Bytes& tsuid = series[random() % series.size()];
        const uint32_t base = kBase + 3600 * (random() % 3);
        const bool millis = random() % 4 == 0;
        // Whole seconds have even values only, so that the two resolutions never have the same
        // time.
        const uint32_t offset_ms = millis ? 1 + 2 * (random() % 1000) : 10000 * (random() % 360);
        const int64_t ms = int64_t{base} * 1000 + offset_ms;
        // One width per time, so that a repeated point is the same one.
        const PointValue value = offset_ms % 3 == 0 ? PointValue::Int(static_cast<int8_t>(random()))
                                 : offset_ms % 3 == 1
                                     ? PointValue::Double((random() % 10000) / 100.0)
                                     : PointValue::Float(static_cast<float>(random()));
        entries.push_back(
            MakePointEntry(d.Series(tsuid), Timestamp{millis ? ms : ms / 1000}, value));
        expected[{tsuid, base}][offset_ms] = value;
      }
      d.Write(entries);
      if (random() % 6 == 0) d.Disturb();
      if (random() % 8 == 0) {
        PointScanSpec doomed = Everything();
        doomed.matcher.tsuids = {series[random() % series.size()]};
        const uint32_t base = kBase + 3600 * (random() % 3);
        doomed.rows = {base, base + 3600};
        REQUIRE(d.points().DeleteRows(doomed).ok());
        expected.erase({doomed.matcher.tsuids[0], base});
      }
      std::string text;
      for (const auto& [key, points] : expected) {
        text += ToHex(key.first) + "@" + std::to_string(key.second - kBase);
        for (const auto& [offset, value] : points) {
          const uint64_t bits =
              value.is_float() ? std::bit_cast<uint64_t>(value.as_double()) : value.bits;
          RowHour one;
          one.offset_ms = {&offset, 1};
          one.value = {&bits, 1};
          one.all_double = value.is_float();
          text += " " + Show(one, 0);
        }
        text += "\n";
      }
      REQUIRE(Read(d, Everything()).text == text);
    }
  }
}

}  // namespace

void CheckPointsContract(const PointsFactory& make) {
  using Check = void (*)(Driver&);
  KeyLayout salted;
  salted.salt_width = 1;
  for (const KeyLayout& layout : {KeyLayout(), salted}) {
    CAPTURE(layout.salt_width);
    for (Check check : {PointsComeBackInOrderWithTheirClass,
                        ValuesKeepTheirBits,
                        TheSamePointAgainOverwritesAndAnotherFormOfItsInstantStandsBesideIt,
                        OfCellsWrittenTogetherTheSmallerQualifierStays,
                        EqualValuesAtOneInstantAreOne,
                        RowsAreChosenByBaseAndMetric,
                        MatchersChooseSeries,
                        KeysThatDoNotFitEndAScanAfterTheRowsThatDo,
                        OddBasesAndUnsortedPairsAreReadAsTheyStand,
                        ReadersMeanwhileSeeWholeBatchesOfARow,
                        UnderFixDuplicatesTheLaterOfPointsAndCellsStays,
                        CellsOfOtherWritersAreReadAsPoints,
                        DamagedCellsFailTheScanAndNameTheirRow,
                        NotesAndHistogramsAreGivenIfAskedFor,
                        DeletingRowsTakesNotesTooAndNothingElse,
                        SeriesAreListedByTheirBytes,
                        SeriesAreListedByTime,
                        NumbersAreStableAndBadOnesRefused,
                        PointsAreCellsOfTheDataTable,
                        TimesBeyond32BitsWrapAsStored}) {
      Driver driver(make(layout));
      check(driver);
    }
    RandomPointsEqualAMap(make, layout);
  }
}

}  // namespace hg
