// The write path when the store has forgotten series whose raw keys or numbers a writer still uses.

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/engine/embedded_points.h"
#include "storage/engine/embedded_store.h"
#include "storage/engine/engine.h"
#include "tests/fault/faulty_file.h"
#include "tests/storage/engine/count_points.h"
#include "tests/support/manual_clock.h"
#include "tsd/ingest/ingest.h"
#include "tsd/ingest/metric_limits.h"

namespace hg::tsd {
namespace {

constexpr int64_t kBase = 1'700'002'800;
constexpr int64_t kTtl = 7200;

/// Calls a function before the next Append. The test decides whether Append may wait for a disk.
class InterruptedPoints : public engine::EmbeddedPoints {
 public:
  using EmbeddedPoints::EmbeddedPoints;
  Result<LogPosition> Append(std::span<const PointEntry> batch) override {
    if (before_append) std::exchange(before_append, nullptr)();
    return EmbeddedPoints::Append(batch);
  }
  [[nodiscard]] bool AppendMayWait(std::span<const PointEntry>) const override { return may_wait; }
  std::function<void()> before_append;
  bool may_wait = false;
};

/// A writer that may create `left` series.
class FewSeries : public Writer {
 public:
  explicit FewSeries(uint64_t left) : left_(left) {}
  Status AskForPoints(uint64_t) override { return {}; }
  void ChargePoints(uint64_t) override {}
  [[nodiscard]] bool limits_series() const override { return true; }
  Status TakeSeries() override {
    if (left_ == 0) return Status::InvalidArgument("too many series");
    --left_;
    return {};
  }
  void GiveBackSeries() override { ++left_; }
  [[nodiscard]] uint64_t left() const { return left_; }

 private:
  uint64_t left_;
};

struct Rig {
  explicit Rig(uint64_t series_max = 0) {
    EmbeddedOptions options;
    options.path = "d";
    options.background = false;
    auto opened = engine::Engine::Open(options, disk, clock);
    REQUIRE(opened.ok());
    engine = std::move(*opened);
    points = std::make_unique<InterruptedPoints>(*engine);
    cells = std::make_unique<engine::EmbeddedStore>(*engine);
    TableDescriptor table = *cells->DescribeTable("tsdb");
    table.families.front().ttl_s = kTtl;
    REQUIRE(cells->AlterTable(table).ok());
    names = std::make_unique<uid::Names>(*cells, uid::NamesOptions{});
    limits = std::make_unique<MetricLimits>(MetricLimitOptions{.series_max = series_max}, *points,
                                            clock);
    IngestOptions ingest_options;
    ingest_options.auto_create_metrics = true;
    ingest = std::make_unique<Ingest>(*points, *names, ingest_options, limits.get());
  }

  [[nodiscard]] KeyedPoint Keyed(const std::string& host) const {
    KeyedPoint point;
    point.series = {Dialect::kJson, "m", KeyOf(host)};
    point.time = Now();
    point.value = PointValue::Int(1);
    return point;
  }
  [[nodiscard]] Timestamp Now() const { return Timestamp{clock.NowMs() / 1000}; }
  /// The raw tags of a host.
  static std::string_view KeyOf(const std::string& host) {
    static std::map<std::string, std::string> keys;
    return keys.try_emplace(host, R"({"host":")" + host + "\"}").first->second;
  }
  [[nodiscard]] bool TakesFastPath(const std::vector<std::string>& hosts) const {
    std::vector<KeyedPoint> batch;
    for (const std::string& host : hosts) batch.push_back(Keyed(host));
    const auto appended = ingest->AppendKeyed(batch, WriteContext::Unlimited());
    REQUIRE(appended.ok());
    return appended->known;
  }
  /// Stores a point of each host by names, and returns the codes of the results.
  std::vector<StatusCode> Name(const std::vector<std::string>& hosts,
                               Dialect dialect = Dialect::kJson, Writer* writer = nullptr) const {
    std::vector<std::vector<TagText>> tags;
    for (const std::string& host : hosts) tags.push_back({{"host", host}});
    std::vector<NamedPoint> named;
    for (size_t i = 0; i < hosts.size(); ++i) {
      NamedPoint& point = named.emplace_back();
      point.metric = "m";
      point.tags = tags[i];
      point.time = Now();
      point.value = PointValue::Int(1);
      point.raw_key = {dialect, "m", KeyOf(hosts[i])};
    }
    WriteContext context(RequestContext::Unlimited(), writer);
    std::vector<Status> results;
    ingest->AppendNamed(named, context, &results);
    std::vector<StatusCode> codes;
    for (const Status& result : results) codes.push_back(result.code());
    return codes;
  }
  /// Lets all points expire. The store forgets the series that have no newer points.
  void ForgetAll() {
    clock.AdvanceMs(3 * kTtl * 1000);
    const uint32_t before = engine->registry().forgotten_count();
    REQUIRE(engine->Flush().ok());
    REQUIRE(engine->Compact().ok());
    REQUIRE(engine->registry().forgotten_count() > before);
    REQUIRE(engine->Stats().series == 0);
  }
  [[nodiscard]] uint64_t Stored() const { return CountPoints(*points, 1); }

  FaultyFileSystem disk{1};
  ManualClock clock{kBase * 1000};
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<InterruptedPoints> points;
  std::unique_ptr<engine::EmbeddedStore> cells;
  std::unique_ptr<uid::Names> names;
  std::unique_ptr<MetricLimits> limits;
  std::unique_ptr<Ingest> ingest;
};

using Codes = std::vector<StatusCode>;
constexpr StatusCode kOk = StatusCode::kOk;
constexpr StatusCode kRefused = StatusCode::kInvalidArgument;

TEST_CASE("a raw key of a forgotten series is unknown until the next point of the series") {
  Rig rig;
  REQUIRE(rig.Name({"a", "b"}) == Codes{kOk, kOk});
  REQUIRE(rig.TakesFastPath({"a", "b"}));
  rig.ForgetAll();
  CHECK_FALSE(rig.TakesFastPath({"a"}));
  // A batch of raw keys is not learned, because the table still has the keys with their old
  // numbers.
  const KeyedPoint point = rig.Keyed("a");
  const auto learned = rig.ingest->AppendLearning({&point, 1}, WriteContext::Unlimited());
  CHECK(learned.stored == 0);
  CHECK(learned.refused.ok());
  CHECK(rig.Stored() == 0);
  CHECK(rig.Name({"a"}) == Codes{kOk});
  CHECK(rig.Stored() == 1);
  CHECK(rig.TakesFastPath({"a"}));
  CHECK_FALSE(rig.TakesFastPath({"a", "b"}));
  CHECK(rig.Name({"b", "a"}) == Codes{kOk, kOk});
  CHECK(rig.TakesFastPath({"a", "b"}));
  CHECK(rig.Stored() == 2);
  CHECK(rig.engine->Stats().series == 2);
}

TEST_CASE("a field of a line of a forgotten series is unknown until the next point of the series") {
  Rig rig;
  const auto fast = [&rig] {
    const KeyedLine line{Rig::KeyOf("a"), rig.Now(), 1};
    const KeyedField field{"m", PointValue::Int(1)};
    const auto appended =
        rig.ingest->AppendLines({&line, 1}, {&field, 1}, WriteContext::Unlimited());
    REQUIRE(appended.ok());
    return appended->known;
  };
  REQUIRE(rig.Name({"a"}, Dialect::kInflux) == Codes{kOk});
  REQUIRE(fast());
  rig.ForgetAll();
  CHECK_FALSE(fast());
  CHECK(rig.Name({"a"}, Dialect::kInflux) == Codes{kOk});
  CHECK(fast());
  CHECK(rig.Stored() == 1);
}

TEST_CASE("a batch for which the store would wait for a disk is left to functions that may wait") {
  Rig rig;
  REQUIRE(rig.Name({"a"}) == Codes{kOk});
  REQUIRE(rig.Name({"a"}, Dialect::kInflux) == Codes{kOk});
  rig.points->may_wait = true;
  bool appended = false;
  rig.points->before_append = [&appended] { appended = true; };
  CHECK_FALSE(rig.TakesFastPath({"a"}));
  const KeyedLine line{Rig::KeyOf("a"), rig.Now(), 1};
  const KeyedField field{"m", PointValue::Int(1)};
  const auto lines = rig.ingest->AppendLines({&line, 1}, {&field, 1}, WriteContext::Unlimited());
  REQUIRE(lines.ok());
  CHECK_FALSE(lines->known);
  CHECK_FALSE(appended);
  const KeyedPoint point = rig.Keyed("a");
  CHECK(rig.ingest->AppendLearning({&point, 1}, WriteContext::Unlimited()).stored == 1);
  CHECK(appended);
}

TEST_CASE("a forgotten series that comes back counts for the limits of new series") {
  Rig rig(2);
  REQUIRE(rig.Name({"a", "b"}) == Codes{kOk, kOk});
  REQUIRE(rig.Name({"c"}) == Codes{kRefused});
  rig.ForgetAll();
  REQUIRE(rig.Name({"c", "d"}) == Codes{kOk, kOk});
  CHECK_FALSE(rig.TakesFastPath({"a"}));
  CHECK(rig.Name({"a", "c", "b", "d"}) == Codes{kRefused, kOk, kRefused, kOk});
  CHECK(rig.Stored() == 2);

  Rig of_writer;
  FewSeries writer(3);
  REQUIRE(of_writer.Name({"a", "b"}, Dialect::kJson, &writer) == Codes{kOk, kOk});
  CHECK(writer.left() == 1);
  of_writer.ForgetAll();
  CHECK(of_writer.Name({"a", "b"}, Dialect::kJson, &writer) == Codes{kOk, kRefused});
  CHECK(of_writer.Stored() == 1);
}

TEST_CASE(
    "series that are forgotten between their registration and their append are registered again") {
  Rig rig;
  const auto sweep = [&rig] {
    REQUIRE(rig.engine->Flush().ok());
    REQUIRE(rig.engine->SweepSeries().ok());
    REQUIRE(rig.engine->registry().forgotten_count() >= 2);
  };
  rig.points->before_append = sweep;
  CHECK(rig.Name({"a", "b"}) == Codes{kOk, kOk});
  CHECK(rig.Stored() == 2);
  CHECK(rig.TakesFastPath({"a", "b"}));

  // If the number of new series is limited, only the allowed ones are registered again.
  FewSeries writer(3);
  rig.points->before_append = sweep;
  CHECK(rig.Name({"c", "a", "d"}, Dialect::kJson, &writer) == Codes{kOk, kOk, kRefused});
  CHECK(rig.Stored() == 3);
  CHECK(rig.TakesFastPath({"a", "b", "c"}));
}

}  // namespace
}  // namespace hg::tsd
