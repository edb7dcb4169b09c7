// Limits of one metric on both paths of writing.

#include "tsd/ingest/metric_limits.h"

#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "http/access/client_limits.h"
#include "http/telnet/lines.h"
#include "storage/base/rate_limit.h"
#include "tests/http/edge_fixture.h"
#include "tests/support/fake_watch.h"

namespace hg::tsd {
namespace {

using http::EdgeFixture;

std::string Point(const std::string& metric, int64_t time, const std::string& host) {
  return R"({"metric":")" + metric + R"(","timestamp":)" + std::to_string(time) +
         R"(,"value":1,"tags":{"host":")" + host + "\"}}";
}

MetricLimitOptions Limits(uint64_t points_per_s, uint64_t series_max) {
  return {.points_per_s = points_per_s, .series_max = series_max};
}

TEST_CASE("a rate allows a burst of one second, and the average from then on") {
  RateLimit limit(10);
  int64_t now_ns = 1'000'000'000'000;
  int taken = 0;
  for (int millis = 0; millis < 10'000; ++millis, now_ns += 1'000'000) {
    if (!limit.Open(now_ns)) continue;
    limit.Take(1, now_ns);
    ++taken;
  }
  CHECK(taken >= 110);
  CHECK(taken <= 112);
  RateLimit large(10);
  CHECK(large.Open(now_ns));
  large.Take(100, now_ns);
  CHECK_FALSE(large.Open(now_ns + 8'900'000'000));
  CHECK(large.Open(now_ns + 9'000'000'000));
}

TEST_CASE("a metric over its rate is named, and a batch is accepted or refused as a whole") {
  EdgeFixture edge(EdgeFixture::AllAutomatic(), Limits(2, 0));
  const auto put = [&edge](const std::string& body) { return edge.Post("/api/put", body); };
  const auto three = [](const std::string& metric, int64_t time) {
    return "[" + Point(metric, time, "a") + "," + Point(metric, time + 1, "a") + "," +
           Point(metric, time + 2, "a") + "]";
  };
  CHECK(put(three("busy", 1700000000)).status == 204);
  const auto refused = put(three("busy", 1700000010));
  CHECK(refused.status == 429);
  CHECK(refused.Header("Retry-After") != nullptr);
  CHECK(refused.body.find("the metric busy takes no more than 2 points a second") !=
        std::string::npos);
  CHECK(put(three("idle", 1700000000)).status == 204);
  CHECK(edge.Cells().size() == 6);
  CHECK(put("[" + Point("calm", 1700000000, "a") + "," + Point("busy", 1700000020, "a") + "]")
            .status == 429);
  CHECK(edge.Cells().size() == 6);
  // The series of the metric over its rate is new here: its tag value has no id yet.
  const std::string with_new =
      "[" + Point("idle", 1700000003, "a") + "," + Point("busy", 1700000020, "new") + "]";
  for (const char* target : {"/api/put", "/api/put?details"}) {
    CHECK(edge.Post(target, with_new).status == 429);
    CHECK(edge.Cells().size() == 6);
  }
  edge.clock.AdvanceMs(600);
  CHECK(put(three("busy", 1700000010)).status == 204);
  CHECK(edge.metric_limits.refused_points() == 9);
}

TEST_CASE("telnet lines of a metric over its rate are not processed, and must be sent again") {
  EdgeFixture edge(EdgeFixture::AllAutomatic(), Limits(1, 0));
  const std::string lines = "put m 1700000000 1 host=a\nput m 1700000001 1 host=a\n";
  CHECK(http::RunTelnetLines(lines, edge.services).used == lines.size());
  const http::LinesResult busy = http::RunTelnetLines("put m 1700000002 1 host=b\n", edge.services);
  CHECK(busy.busy);
  CHECK(busy.used == 0);
  CHECK(busy.text.empty());
}

TEST_CASE(
    "a series above the limit is refused before its names get ids, and existing ones continue") {
  EdgeFixture edge(EdgeFixture::AllAutomatic(), Limits(0, 2));
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "a")).status == 204);
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "b")).status == 204);
  const size_t ids = edge.Ids().size();
  const auto refused = edge.Post("/api/put?details", "[" + Point("m", 1700000001, "a") + "," +
                                                         Point("m", 1700000001, "c") + "]");
  CHECK(refused.status == 400);
  CHECK(refused.body.find("the metric m already has its maximum of 2 series") != std::string::npos);
  CHECK(refused.body.find("\"success\":1,\"failed\":1") != std::string::npos);
  CHECK(edge.Ids().size() == ids);
  CHECK(edge.Cells().size() == 3);
  CHECK(edge.Post("/api/put", Point("other", 1700000000, "c")).status == 204);
  const http::LinesResult said =
      http::RunTelnetLines("put m 1700000002 1 host=d\nput m 1700000002 1 host=b\n", edge.services);
  CHECK(said.text == "put: illegal argument: the metric m already has its maximum of 2 series\n");
  CHECK(edge.Cells().size() == 5);
  CHECK(edge.metric_limits.refused_series() >= 2);
}

// Returns an annotation of the series with these tag values, with the metric and the tag key 1.
std::string AnnotationOf(const std::string& metric, std::initializer_list<const char*> values) {
  std::string tsuid = metric;
  for (const char* value : values) tsuid += std::string("000001") + value;
  return R"({"startTime":1700000000,"description":"x","tsuid":")" + tsuid + "\"}";
}

TEST_CASE("an annotation above a limit on series creates no series, and known series accept it") {
  bool bulk = false;
  SUBCASE("one annotation") {}
  SUBCASE("bulk") { bulk = true; }
  EdgeFixture edge(EdgeFixture::AllAutomatic(), Limits(0, 2));
  const auto write = [&](const std::string& annotation) {
    return bulk ? edge.Post("/api/annotation/bulk", "[" + annotation + "]")
                : edge.Post("/api/annotation", annotation);
  };
  REQUIRE(edge.Post("/api/put", Point("m", 1700000000, "a")).status == 204);
  REQUIRE(*edge.names.FindOrAssign(UidKind::kTagv, "b") == Bytes("\0\0\2", 3));
  CHECK(write(AnnotationOf("000001", {"000002"})).status == 200);
  const auto refused = write(AnnotationOf("000001", {"000003"}));
  CHECK(refused.status == 400);
  CHECK(refused.body.find("the metric m already has its maximum of 2 series") != std::string::npos);
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "b")).status == 204);
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "c")).status == 400);
  CHECK(write(AnnotationOf("000001", {"000001"})).status == 200);
  const auto nameless = write(AnnotationOf("000009", {"000001"}));
  CHECK(nameless.status == 400);
  CHECK(nameless.body.find("has no name") != std::string::npos);
  CHECK(write(R"({"startTime":1700000000,"description":"global"})").status == 200);
  CHECK(edge.Cells().size() == 5);
}

TEST_CASE("an annotation has no more tags than a point of any protocol") {
  IngestOptions options = EdgeFixture::AllAutomatic();
  SUBCASE("tsd.storage.max_tags") {
    std::tie(options.max_tags, options.foreign_max_tags) = std::pair(2, 1);
  }
  SUBCASE("tsd.ingest.max_tags") {
    std::tie(options.max_tags, options.foreign_max_tags) = std::pair(1, 2);
  }
  EdgeFixture edge(options);
  CHECK(edge.Post("/api/annotation", AnnotationOf("000001", {"000001", "000002"})).status == 200);
  const auto refused =
      edge.Post("/api/annotation", AnnotationOf("000001", {"000001", "000002", "000003"}));
  CHECK(refused.status == 400);
  CHECK(refused.body.find("Too many tags in the TSUID: 3 maximum allowed: 2") != std::string::npos);
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE("a series that an annotation creates counts for its client") {
  EdgeFixture edge;
  http::ClientLimits clients({.points_per_s = 0, .new_series_per_hour = 1}, edge.clock);
  REQUIRE(edge.names.FindOrAssign(UidKind::kMetric, "m").ok());
  const auto client = clients.OfUser("a");
  WriteContext context(RequestContext::Unlimited(), client.get());
  const Bytes first("\0\0\1\0\0\1\0\0\1", 9), second("\0\0\1\0\0\1\0\0\2", 9);
  CHECK(edge.ingest.AdmitSeries(first, context).ok());
  CHECK(edge.ingest.AdmitSeries(first, context).ok());
  CHECK(edge.ingest.AdmitSeries(second, context).message() ==
        "user a may make 1 new series an hour");
  CHECK(edge.ingest.AdmitSeries(second, WriteContext::Unlimited()).ok());
}

TEST_CASE("series from before a restart count towards the limit of series") {
  EdgeFixture edge(EdgeFixture::AllAutomatic(), Limits(0, 2));
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "a")).status == 204);
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "b")).status == 204);
  MetricLimits again(Limits(0, 2), edge.points, edge.clock);
  Ingest ingest(edge.points, edge.names, EdgeFixture::AllAutomatic(), &again);
  const TagText known{"host", "b"}, unknown{"host", "c"};
  std::vector<NamedPoint> points(2);
  points[0] = {"m", {&known, 1}, Timestamp{1700000001}, {}, {}};
  points[1] = {"m", {&unknown, 1}, Timestamp{1700000001}, {}, {}};
  std::vector<Status> verdicts;
  ingest.AppendNamed(points, WriteContext::Unlimited(), &verdicts);
  CHECK(verdicts[0].ok());
  CHECK(verdicts[1].code() == StatusCode::kInvalidArgument);
}

TEST_CASE("series that the store has forgotten stop counting towards the limit after a while") {
  EdgeFixture edge(EdgeFixture::AllAutomatic(), Limits(0, 2));
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "a")).status == 204);
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "b")).status == 204);
  PointScanSpec all;
  all.metric = *edge.names.Find(UidKind::kMetric, "m");
  all.rows = {0, UINT32_MAX};
  REQUIRE(edge.points.DeleteRows(all).ok());
  edge.points.ForgetSeries();
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "c")).status == 400);
  edge.clock.AdvanceMs(MetricLimits::kRecountNs / 1'000'000);
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "c")).status == 204);
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "d")).status == 204);
  edge.clock.AdvanceMs(MetricLimits::kRecountNs / 1'000'000);
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "e")).status == 400);
}

TEST_CASE(
    "a series with a name that must not be created does not count towards the limit of its "
    "metric") {
  IngestOptions options = EdgeFixture::AllAutomatic();
  options.auto_create_tagvs = false;
  EdgeFixture edge(options, Limits(0, 1));
  REQUIRE(edge.names.FindOrAssign(UidKind::kTagv, "a").ok());
  for (int i = 0; i < 3; ++i)
    CHECK(edge.Post("/api/put", Point("m", 1700000000, "nobody")).status == 400);
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "a")).status == 204);
}

TEST_CASE(
    "a series with a name that must not be created does not count for its client and is not "
    "remembered") {
  IngestOptions options = EdgeFixture::AllAutomatic();
  options.auto_create_metrics = false;
  EdgeFixture edge(options, Limits(0, 100));
  REQUIRE(edge.names.FindOrAssign(UidKind::kMetric, "m").ok());
  http::ClientLimits clients({.points_per_s = 0, .new_series_per_hour = 1}, edge.clock);
  const auto client = clients.OfUser("a");
  WriteContext context(RequestContext::Unlimited(), client.get());
  const TagText tag{"host", "a"};
  const auto append = [&](const std::string& metric) {
    const NamedPoint point = {metric, {&tag, 1}, Timestamp{1700000001}, {}, {}};
    std::vector<Status> verdicts;
    edge.ingest.AppendNamed({&point, 1}, context, &verdicts);
    return verdicts.at(0);
  };
  for (int i = 0; i < 20; ++i)
    CHECK(append("nosuch" + std::to_string(i)).code() == StatusCode::kNotFound);
  CHECK(edge.metric_limits.counted_metrics() == 0);
  CHECK(append("m").ok());
  CHECK(edge.metric_limits.counted_metrics() == 1);
}

TEST_CASE("a series that cannot be registered does not count towards the limit of its metric") {
  EdgeFixture edge(EdgeFixture::AllAutomatic(), Limits(0, 2));
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "a")).status == 204);
  edge.points.before_register = [] { return Status::Busy("no memory for it"); };
  for (int i = 0; i < 5; ++i)
    CHECK(edge.Post("/api/put", Point("m", 1700000000, "b")).status == 503);
  edge.points.before_register = nullptr;
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "b")).status == 204);
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "c")).status == 400);
}

TEST_CASE("a series that two threads create concurrently counts once") {
  EdgeFixture edge(EdgeFixture::AllAutomatic(), Limits(0, 2));
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "a")).status == 204);
  const auto put = [&edge](int64_t time) {
    return edge.Post("/api/put", Point("m", time, "b")).status;
  };
  int other_status = 0;
  std::optional<std::thread> other;
  // The first thread has counted the series, which does not exist yet. So the other thread looks
  // for it, too.
  std::atomic_flag first = ATOMIC_FLAG_INIT;
  edge.points.before_register = [&] {
    if (first.test_and_set()) return Status();
    const int looked = edge.points.lists;
    other.emplace([&] { other_status = put(1700000001); });
    while (edge.points.lists == looked) std::this_thread::yield();
    return Status();
  };
  CHECK(put(1700000000) == 204);
  REQUIRE(other);
  other->join();
  CHECK(other_status == 204);
  CHECK(edge.Cells().size() == 3);
  CHECK(edge.metric_limits.refused_series() == 0);
  CHECK(edge.Post("/api/put", Point("m", 1700000000, "c")).status == 400);
}

/// A store in which each metric has `stored` series. After a count has read this number, it calls
/// `meanwhile` once. Only CountSeries may be called.
class CountedPoints : public points::PointsOverCells {
 public:
  CountedPoints() : PointsOverCells(nullptr, {}) {}
  Result<uint64_t> CountSeries(ByteView, RequestContext* watch) override {
    const uint64_t count = stored;
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    RETURN_IF_ERROR(watch->Check());
    return count;
  }
  uint64_t stored = 0;
  std::function<void()> meanwhile;
};

struct CountedMetric {
  explicit CountedMetric(uint64_t series_max) : limits(Limits(0, series_max), points, clock) {}
  StatusCode Take(RequestContext& context = unlimited) {
    return limits.TakeNewSeries("m", "id", context).code();
  }
  void End(bool created) {
    points.stored += created ? 1 : 0;
    limits.EndNewSeries("m", created);
  }
  void AdvanceToRecount() { clock.AdvanceMs(MetricLimits::kRecountNs / 1'000'000); }

  CountedPoints points;
  ManualClock clock{0};
  MetricLimits limits;
};

constexpr StatusCode kAllowed = StatusCode::kOk, kFull = StatusCode::kInvalidArgument;

TEST_CASE("the memory of metrics with limits and of their series counts as memory of names") {
  CountedPoints points;
  const ManualClock clock{0};
  const auto bytes = std::make_shared<std::atomic<uint64_t>>(0);
  MetricLimits limits(Limits(1000, 1'000'000), points, clock, bytes);
  const std::string name(208, 'm');
  const auto take = [&] { return limits.TakeNewSeries(name, "id", unlimited).code(); };
  limits.Learn(999, "id", name);
  const uint64_t learned = *bytes;
  CHECK(learned >= 1000 * sizeof(void*) + sizeof(RateLimit) + name.size());
  limits.Learn(998, "id", name);
  limits.ChargeValue("id", name);
  CHECK(*bytes == learned);
  limits.ChargeValue("other", name);
  const uint64_t rates = *bytes;
  CHECK(rates >= learned + sizeof(RateLimit) + name.size());
  REQUIRE(take() == kAllowed);
  limits.EndNewSeries(name, true);
  const uint64_t counted = *bytes;
  CHECK(counted >= rates + name.size());
  REQUIRE(take() == kAllowed);
  limits.EndNewSeries(name, true);
  CHECK(*bytes == counted);
  limits.Forget();
  CHECK(*bytes == rates);
  REQUIRE(take() == kAllowed);
  limits.EndNewSeries(name, false);
  CHECK(*bytes == rates);
}

TEST_CASE("series that are created while another thread counts the metric count, too") {
  CountedMetric metric(3);
  metric.points.stored = 1;
  metric.points.meanwhile = [&metric] {
    CHECK(metric.Take() == kAllowed);
    metric.End(true);
  };
  CHECK(metric.Take() == kAllowed);
  CHECK(metric.Take() == kFull);
  metric.End(true);
  CHECK(metric.points.stored == 3);
  CHECK(metric.limits.refused_series() == 1);
}

TEST_CASE("a new count of series includes the series that are just being created") {
  CountedMetric metric(2);
  CHECK(metric.Take() == kAllowed);
  CHECK(metric.Take() == kAllowed);
  SUBCASE("after a while") { metric.AdvanceToRecount(); }
  SUBCASE("after a change of names") { metric.limits.Forget(); }
  SUBCASE("while one of them is created") {
    metric.AdvanceToRecount();
    metric.points.meanwhile = [&metric] { metric.End(true); };
    CHECK(metric.Take() == kFull);
    metric.End(false);
    CHECK(metric.Take() == kAllowed);
    CHECK(metric.Take() == kFull);
    return;
  }
  CHECK(metric.Take() == kFull);
  metric.End(false);
  CHECK(metric.Take() == kAllowed);
  CHECK(metric.Take() == kFull);
  metric.End(true);
  metric.End(true);
  CHECK(metric.points.stored == 2);
}

TEST_CASE("a count of series that a change of names interrupts is not used") {
  CountedMetric metric(2);
  metric.points.meanwhile = [&metric] { metric.limits.Forget(); };
  CHECK(metric.Take() == StatusCode::kBusy);
  CHECK(metric.limits.counted_metrics() == 0);
  CHECK(metric.Take() == kAllowed);
}

TEST_CASE("a request that must end stops the count of series of a metric") {
  CountedMetric metric(2);
  FakeWatch watch;
  watch.checks_max = 0;
  CHECK(metric.Take(watch) == StatusCode::kDeadlineExceeded);
  CHECK(metric.limits.counted_metrics() == 0);
  CHECK(metric.Take() == kAllowed);
}

}  // namespace
}  // namespace hg::tsd
