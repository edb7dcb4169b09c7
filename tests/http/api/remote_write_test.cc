#include <doctest/doctest.h>
#include <prometheus.pb.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "http/telnet/lines.h"
#include "http/wire/snappy_block.h"
#include "tests/http/post_with.h"

namespace hg::http {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

const Headers kHeaders = {{"content-type", "application/x-protobuf"},
                          {"content-encoding", "snappy"},
                          {"x-prometheus-remote-write-version", "0.1.0"}};
constexpr int64_t kTime = 1700000000123;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kStale = std::bit_cast<double>(UINT64_C(0x7ff0000000000002));

class RemoteWrite : public EdgeFixture {
 public:
  RemoteWrite() = default;
  explicit RemoteWrite(tsd::IngestOptions options, tsd::MetricLimitOptions limits = {})
      : EdgeFixture(std::move(options), limits) {}

  prometheus::WriteRequest message;

  prometheus::TimeSeries* Add(const Labels& labels) {
    prometheus::TimeSeries* series = message.add_timeseries();
    for (const auto& [name, value] : labels) {
      prometheus::Label* label = series->add_labels();
      label->set_name(name);
      label->set_value(value);
    }
    return series;
  }
  void Add(const Labels& labels, double value, int64_t time_ms = kTime) {
    prometheus::Sample* sample = Add(labels)->add_samples();
    sample->set_value(value);
    sample->set_timestamp(time_ms);
  }

  BufferResponse Post(std::string_view body, const Headers& headers) {
    return PostWith(*this, headers, "/api/v1/write", body);
  }
  BufferResponse Send(const Headers& headers = kHeaders) {
    return Post(PackSnappy(message.SerializeAsString()), headers);
  }

  /// Names of a kind in the order of their ids.
  std::vector<std::string> Names(UidKind kind) {
    std::vector<std::string> found;
    for (char id = 1;; ++id) {
      const auto name = names.NameOf(kind, Bytes("\0\0", 2) + id);
      if (!name.ok()) return found;
      found.push_back(*name);
    }
  }
};

std::string Message(const BufferResponse& reply) {
  constexpr std::string_view kBefore = "\"message\":\"";
  const size_t at = reply.body.find(kBefore);
  if (at == std::string::npos) return reply.body;
  return reply.body.substr(at + kBefore.size(), reply.body.size() - at - kBefore.size() - 3);
}

}  // namespace

TEST_CASE_FIXTURE(RemoteWrite, "a sample is a double under its metric and labels") {
  Add({{"__name__", "up"}, {"job", "node"}}, 1);
  const BufferResponse reply = Send();
  CHECK(reply.status == 204);
  CHECK(reply.body.empty());
  // Hour 1699999200, 800123 ms behind it.
  CHECK(Cells() ==
        std::vector<std::string>{"0000016553ede0000001000001 f30d5ecf 3ff0000000000000"});
  CHECK(Names(UidKind::kMetric) == std::vector<std::string>{"up"});
  CHECK(Names(UidKind::kTagk) == std::vector<std::string>{"job"});
  CHECK(Names(UidKind::kTagv) == std::vector<std::string>{"node"});
  CHECK(counters.points_added == 1);
}

TEST_CASE_FIXTURE(RemoteWrite, "a batch of known series is stored at one append") {
  for (int i = 0; i < 3; ++i) {
    message.Clear();
    Add({{"__name__", "up"}, {"job", "node"}}, i, kTime + i);
    Add({{"__name__", "up"}, {"job", "db"}}, i, kTime + i);
    CHECK(Send().status == 204);
  }
  CHECK(points.appends == 3);
  CHECK(Cells().size() == 6);
  CHECK(ingest.stats().spellings == 2);
}

TEST_CASE_FIXTURE(RemoteWrite, "what OpenTSDB does not allow in names is escaped") {
  Add({{"__name__", "job:up:sum"}, {"instance", "localhost:9090"}, {"path", "/a b"}}, 1);
  REQUIRE(Send().status == 204);
  CHECK(Names(UidKind::kMetric) == std::vector<std::string>{"job_x003A_up_x003A_sum"});
  std::vector<std::string> values = Names(UidKind::kTagv);
  std::sort(values.begin(), values.end());
  CHECK(values == std::vector<std::string>{"/a_x0020_b", "localhost_x003A_9090"});
}

TEST_CASE_FIXTURE(RemoteWrite, "a series without labels gets a tag that says so") {
  Add({{"__name__", "scalar"}}, 1);
  Add({{"__name__", "empty"}, {"job", ""}}, 1);  // a label without a value is none
  CHECK(Send().status == 204);
  CHECK(Names(UidKind::kTagk) == std::vector<std::string>{"source"});
  CHECK(Names(UidKind::kTagv) == std::vector<std::string>{"unknown"});
  message.Clear();
  Add({{"__name__", "scalar"}, {"source", "unknown"}}, 1);  // another series
  CHECK(Send().status == 204);
  CHECK(Names(UidKind::kTagk) == std::vector<std::string>{"source", "_x0073_ource"});
}

TEST_CASE_FIXTURE(RemoteWrite, "what labels are spelled like means nothing in a telnet line") {
  REQUIRE(RunTelnetLines("put a_x0041_ 1700000000 1 host=x\n", services).text.empty());
  Add({{"__name__", "job:rate5m"}, {"host", "x"}}, 1);
  Add({{"__name__", "up"}}, 1);
  Add({{"__name__", "a_x0041_"}, {"host", "x"}}, 1);
  REQUIRE(Send().status == 204);
  CHECK(Names(UidKind::kMetric) ==
        std::vector<std::string>{"a_x0041_", "job_x003A_rate5m", "up", "a_x005F_x0041_"});
  CHECK(Cells().size() == 4);
  CHECK(RunTelnetLines("put job:rate5m 1700000000 1 host=x\n", services)
            .text.starts_with("put: illegal argument: Invalid metric name (\"job:rate5m\")"));
  CHECK(RunTelnetLines("put up 1700000000 1 \n", services)
            .text.starts_with("put: illegal argument: Need at least one tag (metric=up"));
  CHECK(Cells().size() == 4);
}

TEST_CASE_FIXTURE(RemoteWrite, "NaN is no value, and no error: stale markers and empty quantiles") {
  Add({{"__name__", "up"}, {"job", "a"}}, kStale);
  Add({{"__name__", "q"}, {"quantile", "0.9"}}, std::nan(""));
  Add({{"__name__", "up"}, {"job", "b"}}, 5);
  CHECK(Send().status == 204);
  CHECK(Cells().size() == 1);
}

TEST_CASE_FIXTURE(RemoteWrite, "what cannot be stored is refused with 400, the rest is stored") {
  struct Case {
    const char* reason;
    Labels labels;
    double value;
    int64_t time_ms;
  };
  const Case cases[] = {
      {"up{job=\\\"a\\\"}: an infinity", {{"__name__", "up"}, {"job", "a"}}, kInfinity, kTime},
      {"up{job=\\\"a\\\"}: an infinity", {{"__name__", "up"}, {"job", "a"}}, -kInfinity, kTime},
      {"the time 999 ms cannot", {{"__name__", "up"}, {"job", "a"}}, 1, 999},
      {"the time -1000 ms cannot", {{"__name__", "up"}, {"job", "a"}}, 1, -1000},
      {"has no name", {{"job", "a"}}, 1, kTime},
      {"has a label without a name", {{"__name__", "up"}, {"", "a"}}, 1, kTime},
      {"has the label job twice", {{"__name__", "up"}, {"job", "a"}, {"job", "b"}}, 1, kTime},
      {"has the label __name__ twice", {{"__name__", "up"}, {"__name__", "b"}}, 1, kTime},
  };
  for (const Case& c : cases) {
    CAPTURE(c.reason);
    RemoteWrite edge;
    edge.Add({{"__name__", "good"}, {"job", "a"}}, 1);
    edge.Add(c.labels, c.value, c.time_ms);
    edge.Add({{"__name__", "good"}, {"job", "b"}}, 1);
    const BufferResponse reply = edge.Send();
    CHECK(reply.status == 400);
    CHECK(Message(reply).find(c.reason) != std::string::npos);
    CHECK(Message(reply).starts_with("1 of 3 samples cannot be stored, the others are; "));
    CHECK(edge.Cells().size() == 2);
    CHECK(edge.counters.put_illegal_arguments == 1);
  }
}

TEST_CASE_FIXTURE(RemoteWrite, "more labels than tags are allowed: the limit is named") {
  Add({{"__name__", "up"},
       {"a", "1"},
       {"b", "1"},
       {"c", "1"},
       {"d", "1"},
       {"e", "1"},
       {"f", "1"},
       {"g", "1"},
       {"h", "1"},
       {"i", "1"}},
      1);
  Add({{"__name__", "up"}, {"a", "1"}}, 1);
  const BufferResponse reply = Send();
  CHECK(reply.status == 400);
  CHECK(Message(reply).find("Too many tags: 9 maximum allowed: 8") != std::string::npos);
  CHECK(Cells().size() == 1);
}

TEST_CASE_FIXTURE(RemoteWrite, "native histograms are refused, samples beside them stored") {
  prometheus::TimeSeries* series = Add({{"__name__", "h"}, {"job", "a"}});
  series->add_histograms("");
  series->add_histograms("");
  Add({{"__name__", "up"}, {"a", "1"}}, 1);
  const BufferResponse reply = Send();
  CHECK(reply.status == 400);
  CHECK(Message(reply).starts_with("2 of 3 samples"));
  CHECK(Message(reply).find("native histograms") != std::string::npos);
  CHECK(Cells().size() == 1);
}

TEST_CASE("where metrics are not made automatically unknown ones are refused for good") {
  RemoteWrite edge{tsd::IngestOptions()};
  edge.Add({{"__name__", "up"}, {"job", "a"}}, 1);
  const BufferResponse reply = edge.Send();
  CHECK(reply.status == 400);
  CHECK(Message(reply).find("No such name for 'metrics': 'up'") != std::string::npos);
  CHECK(edge.counters.put_unknown_metrics == 1);
}

TEST_CASE_FIXTURE(RemoteWrite, "a name that is damaged in the store is refused for good") {
  const CellChange two_bytes_wide = PutCell("id", "metrics", Bytes("\0\1", 2));
  REQUIRE(store.Mutate("tsdb-uid", {{"bad", {two_bytes_wide}}}).ok());
  Add({{"__name__", "bad"}, {"job", "a"}}, 1);
  Add({{"__name__", "up"}, {"job", "a"}}, 1);
  const BufferResponse reply = Send();
  CHECK(reply.status == 400);
  CHECK(Message(reply).starts_with("1 of 2 samples cannot be stored, the others are; "));
  CHECK(Message(reply).find("bad{job=\\\"a\\\"}: Found id.length") != std::string::npos);
  CHECK(counters.put_storage_errors == 1);
  CHECK(Cells().size() == 1);
}

TEST_CASE_FIXTURE(RemoteWrite, "a store that takes nothing now is 503: the same is sent again") {
  Add({{"__name__", "up"}, {"job", "a"}}, 1);
  points.RefuseAppends(1);
  BufferResponse reply = Send();
  CHECK(reply.status == 503);
  CHECK(reply.Header("Retry-After") != nullptr);
  CHECK(counters.put_writes_blocked == 1);
  CHECK(Send().status == 204);
  points.RefuseAppends(1);  // of known series, too
  CHECK(Send().status == 503);
  CHECK(Cells().size() == 1);
}

TEST_CASE("samples over a metric's rate are 429, and none is taken for refused for good") {
  RemoteWrite edge(EdgeFixture::AllAutomatic(), {.points_per_s = 1, .series_max = 0});
  for (int i = 0; i < 3; ++i) edge.Add({{"__name__", "m"}, {"a", "b"}}, i, kTime + i);
  CHECK(edge.Send().status == 204);
  const BufferResponse refused = edge.Send();
  CHECK(refused.status == 429);
  CHECK(refused.Header("Retry-After") != nullptr);
  CHECK(refused.body.find("the metric m takes no more than 1 points a second") !=
        std::string::npos);
  CHECK(edge.counters.put_storage_errors.load() == 0);
  CHECK(edge.Cells().size() == 3);
}

TEST_CASE_FIXTURE(RemoteWrite, "samples beyond one batch, and series without any") {
  constexpr int kSamples = 20000;
  for (int s = 0; s < 3; ++s) {
    prometheus::TimeSeries* series = Add({{"__name__", "m"},
                                          {"s", s == 0   ? "0"
                                                : s == 1 ? "1"
                                                         : "2"}});
    for (int i = 0; i < kSamples; ++i) {
      series->add_samples()->set_timestamp(kTime + i);
      series->mutable_samples(i)->set_value(i);
    }
    for (int i = 0; i < 10; ++i) Add({{"__name__", "nothing"}});
  }
  CHECK(Send().status == 204);
  CHECK(counters.points_added == 3 * kSamples);
  CHECK(Names(UidKind::kMetric) == std::vector<std::string>{"m"});
}

TEST_CASE_FIXTURE(RemoteWrite, "other versions, codings and types are 415") {
  Add({{"__name__", "up"}, {"job", "a"}}, 1);
  const Headers refused[] = {
      {{"content-type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"},
       {"content-encoding", "snappy"},
       {"x-prometheus-remote-write-version", "2.0.0"}},
      {{"content-type", "application/json"}, {"content-encoding", "snappy"}},
      {{"content-encoding", "snappy"}},
      {{"content-type", "application/x-protobuf"}},
      {{"content-type", "application/x-protobuf"}, {"content-encoding", "gzip"}},
  };
  for (const Headers& headers : refused) CHECK(Send(headers).status == 415);
  CHECK(Send({{"content-type", "Application/X-Protobuf; proto=\"prometheus.WriteRequest\""},
              {"content-encoding", "snappy"}})
            .status == 204);
}

TEST_CASE_FIXTURE(RemoteWrite, "a body that is none is 400, one too large 413") {
  CHECK(Post("not snappy", kHeaders).status == 400);
  CHECK(Post(PackSnappy("not protobuf"), kHeaders).status == 400);
  CHECK(Post("", kHeaders).status == 400);
  options.body_bytes_max = 100;
  CHECK(Post(PackSnappy(std::string(101, '\0')), kHeaders).status == 413);
  message.add_timeseries()->add_labels()->set_name(std::string(4 << 20, 'x'));
  options.body_bytes_max = 64 << 20;
  CHECK(Message(Send()).find("is longer than 4194304") != std::string::npos);
}

TEST_CASE_FIXTURE(RemoteWrite, "only POST writes, and only a daemon that may") {
  BufferResponse reply;
  reply = Post(PackSnappy(""), kHeaders);
  CHECK(reply.status == 204);
  options.mode = Mode::kReadOnly;
  CHECK(Post(PackSnappy(""), kHeaders).status == 404);
}

}  // namespace hg::http
