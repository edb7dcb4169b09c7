#include <doctest/doctest.h>
#include <prometheus.pb.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "http/telnet/lines.h"
#include "http/wire/snappy_block.h"
#include "storage/model/special_double.h"
#include "tests/http/post_with.h"

namespace hg::http {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

const Headers kWriteHeaders = {{"content-type", "application/x-protobuf"},
                               {"content-encoding", "snappy"},
                               {"x-prometheus-remote-write-version", "0.1.0"}};
constexpr int64_t kSampleMs = 1700000000123;
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
  void Add(const Labels& labels, double value, int64_t time_ms = kSampleMs) {
    prometheus::Sample* sample = Add(labels)->add_samples();
    sample->set_value(value);
    sample->set_timestamp(time_ms);
  }

  BufferResponse Post(std::string_view body, const Headers& headers) {
    return PostWith(*this, headers, "/api/v1/write", body);
  }
  BufferResponse Send(const Headers& headers = kWriteHeaders) {
    return Post(PackSnappy(message.SerializeAsString()), headers);
  }

  /// Returns the names of a kind in the order of their ids.
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
  // 800123 ms after the start of the hour 1699999200.
  CHECK(Cells() ==
        std::vector<std::string>{"0000016553ede0000001000001 f30d5ecf 3ff0000000000000"});
  CHECK(Names(UidKind::kMetric) == std::vector<std::string>{"up"});
  CHECK(Names(UidKind::kTagk) == std::vector<std::string>{"job"});
  CHECK(Names(UidKind::kTagv) == std::vector<std::string>{"node"});
  CHECK(counters.points_added == 1);
}

TEST_CASE_FIXTURE(RemoteWrite, "a batch of known series is stored by one append") {
  for (int i = 0; i < 3; ++i) {
    message.Clear();
    Add({{"__name__", "up"}, {"job", "node"}}, i, kSampleMs + i);
    Add({{"__name__", "up"}, {"job", "db"}}, i, kSampleMs + i);
    CHECK(Send().status == 204);
  }
  CHECK(points.appends == 3);
  CHECK(Cells().size() == 6);
  CHECK(ingest.stats().raw_keys == 2);
}

TEST_CASE_FIXTURE(RemoteWrite, "characters that OpenTSDB does not allow in names are escaped") {
  Add({{"__name__", "job:up:sum"}, {"instance", "localhost:9090"}, {"path", "/a b"}}, 1);
  REQUIRE(Send().status == 204);
  CHECK(Names(UidKind::kMetric) == std::vector<std::string>{"job_x003A_up_x003A_sum"});
  std::vector<std::string> values = Names(UidKind::kTagv);
  std::sort(values.begin(), values.end());
  CHECK(values == std::vector<std::string>{"/a_x0020_b", "localhost_x003A_9090"});
}

TEST_CASE_FIXTURE(RemoteWrite, "a series without labels gets the default tag") {
  Add({{"__name__", "scalar"}}, 1);
  Add({{"__name__", "empty"}, {"job", ""}}, 1);  // a label with an empty value counts as absent
  CHECK(Send().status == 204);
  CHECK(Names(UidKind::kTagk) == std::vector<std::string>{"source"});
  CHECK(Names(UidKind::kTagv) == std::vector<std::string>{"unknown"});
  message.Clear();
  Add({{"__name__", "scalar"}, {"source", "unknown"}}, 1);  // another series
  CHECK(Send().status == 204);
  CHECK(Names(UidKind::kTagk) == std::vector<std::string>{"source", "_x0073_ource"});
}

TEST_CASE_FIXTURE(RemoteWrite, "the raw series key of labels means nothing in a telnet line") {
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

TEST_CASE_FIXTURE(
    RemoteWrite,
    "stale markers, NaN and infinities are stored with the bits that Prometheus uses") {
  Add({{"__name__", "m"}, {"job", "a"}}, kStale, kSampleMs);
  Add({{"__name__", "m"}, {"job", "a"}}, std::nan(""), kSampleMs + 1);
  Add({{"__name__", "m"}, {"job", "a"}}, kInfinity, kSampleMs + 2);
  Add({{"__name__", "m"}, {"job", "a"}}, -kInfinity, kSampleMs + 3);
  CHECK(Send().status == 204);
  CHECK(Cells() ==
        std::vector<std::string>{"0000016553ede0000001000001 f30d5ecf 7ff0000000000002",
                                 "0000016553ede0000001000001 f30d5f0f 7ff8000000000001",
                                 "0000016553ede0000001000001 f30d5f4f 7ff0000000000000",
                                 "0000016553ede0000001000001 f30d5f8f fff0000000000000"});
}

TEST_CASE_FIXTURE(RemoteWrite,
                  "samples that cannot be stored give 400, and the others are stored") {
  struct Case {
    const char* reason;
    Labels labels;
    double value;
    int64_t time_ms;
  };
  const Case cases[] = {
      {"the time 0 ms cannot", {{"__name__", "up"}, {"job", "a"}}, 1, 0},
      {"the time 4294967296000 ms cannot", {{"__name__", "up"}, {"job", "a"}}, 1, 4294967296000},
      {"the time 999 ms cannot", {{"__name__", "up"}, {"job", "a"}}, 1, 999},
      {"the time -1000 ms cannot", {{"__name__", "up"}, {"job", "a"}}, 1, -1000},
      {"has no name", {{"job", "a"}}, 1, kSampleMs},
      {"has a label without a name", {{"__name__", "up"}, {"", "a"}}, 1, kSampleMs},
      {"has the label job twice", {{"__name__", "up"}, {"job", "a"}, {"job", "b"}}, 1, kSampleMs},
      {"has the label __name__ twice", {{"__name__", "up"}, {"__name__", "b"}}, 1, kSampleMs},
      {"has text that is not UTF-8", {{"__name__", "up"}, {"job", "\xFF"}}, 1, kSampleMs},
      {"has text that is not UTF-8", {{"__name__", "up"}, {"\xC3(", "a"}}, 1, kSampleMs},
      {"has text that is not UTF-8", {{"__name__", "\xFF"}, {"job", "a"}}, 1, kSampleMs},
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

TEST_CASE_FIXTURE(RemoteWrite,
                  "if there are more labels than allowed tags, the error names the limit") {
  Labels labels = {{"__name__", "up"}};
  for (int i = 0; i < 40; ++i) labels.emplace_back("l" + std::to_string(i), "1");
  Add(labels, 1);
  labels.emplace_back("more", "1");
  Add(labels, 1);
  Add({{"__name__", "up"}, {"a", "1"}}, 1);
  const BufferResponse reply = Send();
  CHECK(reply.status == 400);
  CHECK(Message(reply).starts_with("1 of 3 samples cannot be stored, the others are; "));
  CHECK(
      Message(reply).find("Too many tags: 41 maximum allowed: 40 (setting tsd.ingest.max_tags)") !=
      std::string::npos);
  CHECK(Cells().size() == 2);
}

TEST_CASE_FIXTURE(RemoteWrite,
                  "native histograms are refused, and samples in the same request are stored") {
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

TEST_CASE(
    "if metrics are not created automatically, samples of unknown ones are refused permanently") {
  RemoteWrite edge{tsd::IngestOptions()};
  edge.Add({{"__name__", "up"}, {"job", "a"}}, 1);
  const BufferResponse reply = edge.Send();
  CHECK(reply.status == 400);
  CHECK(Message(reply).find("No such name for 'metrics': 'up'") != std::string::npos);
  CHECK(edge.counters.put_unknown_metrics == 1);
}

TEST_CASE_FIXTURE(RemoteWrite, "a name that is damaged in the store is refused permanently") {
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

TEST_CASE_FIXTURE(
    RemoteWrite, "a store that refuses writes gives 503, so that the client sends the same again") {
  Add({{"__name__", "up"}, {"job", "a"}}, 1);
  points.RefuseAppends(1);
  BufferResponse reply = Send();
  CHECK(reply.status == 503);
  CHECK(reply.Header("Retry-After") != nullptr);
  CHECK(counters.put_writes_blocked == 1);
  CHECK(Send().status == 204);
  points.RefuseAppends(1);  // refuses known series too
  CHECK(Send().status == 503);
  CHECK(Cells().size() == 1);
}

TEST_CASE(
    "samples over the rate of a metric give 429, and none of them counts as refused permanently") {
  RemoteWrite edge(EdgeFixture::AllAutomatic(), {.points_per_s = 1, .series_max = 0});
  for (int i = 0; i < 3; ++i) edge.Add({{"__name__", "m"}, {"a", "b"}}, i, kSampleMs + i);
  CHECK(edge.Send().status == 204);
  const BufferResponse refused = edge.Send();
  CHECK(refused.status == 429);
  CHECK(refused.Header("Retry-After") != nullptr);
  CHECK(refused.body.find("the metric m takes no more than 1 points a second") !=
        std::string::npos);
  CHECK(edge.counters.put_storage_errors.load() == 0);
  CHECK(edge.Cells().size() == 3);
}

TEST_CASE_FIXTURE(RemoteWrite,
                  "requests of several batches, and series without samples, are handled") {
  constexpr int kSamples = 20000;
  for (int s = 0; s < 3; ++s) {
    prometheus::TimeSeries* series = Add({{"__name__", "m"},
                                          {"s", s == 0   ? "0"
                                                : s == 1 ? "1"
                                                         : "2"}});
    for (int i = 0; i < kSamples; ++i) {
      series->add_samples()->set_timestamp(kSampleMs + i);
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
      {{"content-type", "application/x-protobuf;proto=io.prometheus.write.v3.Request"},
       {"content-encoding", "snappy"},
       {"x-prometheus-remote-write-version", "3.0.0"}},
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

TEST_CASE_FIXTURE(RemoteWrite, "an invalid body gives 400, and one that is too large 413") {
  CHECK(Post("not snappy", kWriteHeaders).status == 400);
  CHECK(Post(PackSnappy("not protobuf"), kWriteHeaders).status == 400);
  CHECK(Post("", kWriteHeaders).status == 400);
  options.body_bytes_max = 100;
  CHECK(Post(PackSnappy(std::string(101, '\0')), kWriteHeaders).status == 413);
  message.add_timeseries()->add_labels()->set_name(std::string(4 << 20, 'x'));
  options.body_bytes_max = 64 << 20;
  CHECK(Message(Send()).find("is longer than 4194304") != std::string::npos);
}

namespace {

const Headers kHeaders2 = {
    {"content-type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"},
    {"content-encoding", "snappy"},
    {"x-prometheus-remote-write-version", "2.0.0"}};

/// Requests of remote write 2.0.
class RemoteWrite2 : public RemoteWrite {
 public:
  prometheus::WriteRequest2 request;

  /// Adds a series with one sample.
  prometheus::TimeSeries2* Put(const Labels& labels, int64_t time_ms = kSampleMs) {
    prometheus::TimeSeries2* const series = request.add_timeseries();
    if (request.symbols_size() == 0) request.add_symbols("");
    for (const auto& [name, value] : labels) {
      for (const std::string& text : {name, value}) {
        series->add_labels_refs(static_cast<uint32_t>(request.symbols_size()));
        request.add_symbols(text);
      }
    }
    prometheus::Sample* const sample = series->add_samples();
    sample->set_value(1);
    sample->set_timestamp(time_ms);
    return series;
  }
  BufferResponse Send2() { return Post(PackSnappy(request.SerializeAsString()), kHeaders2); }
};

/// Returns the counts of samples, histograms and exemplars in the headers of a response.
std::string Written(const BufferResponse& reply) {
  std::string all;
  for (const char* what : {"Samples", "Histograms", "Exemplars"}) {
    const std::string name = "X-Prometheus-Remote-Write-" + std::string(what) + "-Written";
    const std::string* const value = reply.Header(name);
    all += (value == nullptr ? "none" : *value) + " ";
  }
  return all;
}

}  // namespace

TEST_CASE_FIXTURE(RemoteWrite2,
                  "remote write 2.0 stores the same cells as 1.0, and its response counts them") {
  Add({{"__name__", "up"}, {"job", "node:1"}}, 1);
  const BufferResponse first = Send();
  CHECK(first.status == 204);
  CHECK(Written(first) == "none none none ");
  const std::vector<std::string> cells = Cells();
  Put({{"__name__", "up"}, {"job", "node:1"}});
  CHECK(Send2().status == 204);
  CHECK(Cells() == cells);
  CHECK(ingest.stats().raw_keys == 1);
  Put({{"__name__", "up"}, {"job", "other"}});
  const BufferResponse second = Send2();
  CHECK(second.status == 204);
  CHECK(second.body.empty());
  CHECK(Written(second) == "2 0 0 ");
  CHECK(Cells().size() == 2);
  request.Clear();
  const BufferResponse nothing = Send2();
  CHECK(nothing.status == 204);
  CHECK(Written(nothing) == "0 0 0 ");
}

TEST_CASE_FIXTURE(RemoteWrite2, "a partial write of 2.0 is 400 with the count of what was stored") {
  Put({{"__name__", "up"}, {"job", "a"}});
  Put({{"__name__", "up"}, {"job", "b"}}, 0);
  Put({{"__name__", "up"}, {"job", "c"}})->set_labels_refs(1, 99);
  Put({{"__name__", "up"}, {"job", "d"}});
  Put({{"__name__", "up"}, {"job", "\xFF"}});
  prometheus::TimeSeries2* const histogram = Put({{"__name__", "native"}, {"job", "a"}});
  histogram->clear_samples();
  histogram->add_histograms("x");
  const BufferResponse reply = Send2();
  CHECK(reply.status == 400);
  CHECK(Written(reply) == "2 0 0 ");
  CHECK(Message(reply).starts_with("4 of 6 samples cannot be stored, the others are; the first: "));
  CHECK(Cells().size() == 2);
  CHECK(counters.put_illegal_arguments == 4);
}

TEST_CASE_FIXTURE(RemoteWrite2, "2.0: only series that refer to a very long symbol are refused") {
  Put({{"__name__", "up"}, {"job", "a"}});
  Put({{"__name__", "up"}, {"job", std::string(4'000'000, ' ')}});
  *request.add_timeseries() = request.timeseries(1);
  Put({{"__name__", "up"}, {"job", "b"}});
  const BufferResponse reply = Send2();
  CHECK(reply.status == 400);
  CHECK(Written(reply) == "2 0 0 ");
  CHECK(Message(reply).starts_with("2 of 4 samples cannot be stored, the others are; the first: "));
  CHECK(Message(reply).ends_with("has a text of 4000000 bytes, which is too long for a name"));
  CHECK(Cells().size() == 2);
}

TEST_CASE_FIXTURE(RemoteWrite2,
                  "2.0: wrong references and native histograms are named in the error") {
  prometheus::TimeSeries2* const series = Put({{"__name__", "up"}, {"job", "a"}});
  series->set_labels_refs(3, 99);
  BufferResponse reply = Send2();
  CHECK(reply.status == 400);
  CHECK(Message(reply).find("refers to the symbol 99 of a table of 5") != std::string::npos);
  series->set_labels_refs(3, 4);
  series->clear_samples();
  series->add_histograms("x");
  reply = Send2();
  CHECK(reply.status == 400);
  CHECK(Message(reply).find("native histograms cannot be stored") != std::string::npos);
  CHECK(Written(reply) == "0 0 0 ");
  CHECK(Cells().empty());
}

TEST_CASE_FIXTURE(RemoteWrite2,
                  "2.0: exemplars are ignored, and series without samples are no error") {
  prometheus::TimeSeries2* const series = Put({{"__name__", "up"}, {"job", "a"}});
  REQUIRE(series->MergeFromString(std::string("\x22\x02\x08\x01", 4)));  // an exemplar
  Put({{"__name__", "nothing"}})->clear_samples();
  const BufferResponse reply = Send2();
  CHECK(reply.status == 204);
  CHECK(Written(reply) == "1 0 0 ");
  CHECK(Names(UidKind::kMetric) == std::vector<std::string>{"up"});
}

TEST_CASE_FIXTURE(RemoteWrite2, "2.0: an invalid body is 400, labels that are too large are 413") {
  const BufferResponse invalid = Post(PackSnappy("not protobuf"), kHeaders2);
  CHECK(invalid.status == 400);
  CHECK(Written(invalid) == "0 0 0 ");
  options.body_bytes_max = 1000;
  Put({{"__name__", "up"}, {"job", std::string(300, 'x')}});
  for (int i = 0; i < 3; ++i) *request.add_timeseries() = request.timeseries(0);
  CHECK(Send2().status == 413);
}

TEST_CASE_FIXTURE(RemoteWrite2, "2.0: a store that refuses writes gives 503 and the count 0") {
  Put({{"__name__", "up"}, {"job", "a"}});
  points.RefuseAppends(1);
  const BufferResponse reply = Send2();
  CHECK(reply.status == 503);
  CHECK(reply.Header("Retry-After") != nullptr);
  CHECK(Written(reply) == "0 0 0 ");
}

TEST_CASE_FIXTURE(RemoteWrite, "only POST writes, and only if the mode allows writes") {
  BufferResponse reply;
  reply = Post(PackSnappy(""), kWriteHeaders);
  CHECK(reply.status == 204);
  options.mode = Mode::kReadOnly;
  CHECK(Post(PackSnappy(""), kWriteHeaders).status == 404);
}

}  // namespace hg::http
