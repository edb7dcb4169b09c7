#include "bench/load.h"

#include <doctest/doctest.h>
#include <libdeflate.h>
#include <otlp.pb.h>
#include <prometheus.pb.h>
#include <snappy.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "bench/pickled_points.h"
#include "http/wire/pickle.h"
#include "http/wire/protobuf_message.h"
#include "storage/base/bytes.h"

using hg::bench::Load;
using hg::bench::LoadShape;
using hg::bench::Wire;

namespace {

std::string BodyOf(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

/// Returns all matches of the pattern's first group, in order.
std::vector<std::string> All(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) {
    found.push_back((*it)[1]);
  }
  return found;
}

LoadShape Small(Wire wire) {
  LoadShape shape;
  shape.wire = wire;
  shape.hosts = 3;
  shape.metrics = 2;
  shape.steps = 4;
  shape.batch = 10;
  shape.start_s = 1'700'000'000;
  return shape;
}

}  // namespace

TEST_CASE("a load has each point of each series once, in requests of the wanted size") {
  const Load load(Small(Wire::kPut), "127.0.0.1:1");
  CHECK(load.points() == 24);
  REQUIRE(load.requests().size() == 3);
  std::multiset<std::string> points;
  for (const std::string& request : load.requests()) {
    const std::string body = BodyOf(request);
    CHECK(request.find("Content-Length: " + std::to_string(body.size())) != std::string::npos);
    CHECK(body.front() == '[');
    CHECK(body.substr(body.size() - 3) == "}}]");
    for (
        const std::string& point :
        All(body,
            R"re(\{("metric":"[a-z._]+","timestamp":\d{10},"value":[0-9.]+,"tags":\{"hostname":"host_\d"))re")) {
      points.insert(std::regex_replace(point, std::regex("\"value\":[0-9.]+,"), ""));
    }
  }
  CHECK(points.size() == 24);
  CHECK(std::set<std::string>(points.begin(), points.end()).size() == 24);
}

TEST_CASE("a load that was moved forward repeats the same requests at later times") {
  for (const Wire wire : {Wire::kPut, Wire::kTelnet, Wire::kInflux}) {
    const LoadShape shape = Small(wire);
    Load load(shape, "h");
    const auto before = load.requests();
    load.MoveOn();
    REQUIRE(load.requests().size() == before.size());
    const std::regex stamp(R"(\b17000000\d\d)");
    for (size_t r = 0; r < before.size(); ++r) {
      const auto old_stamps = All(before[r], R"(\b(17000000\d\d))");
      const auto new_stamps = All(load.requests()[r], R"(\b(17000000\d\d))");
      REQUIRE(!old_stamps.empty());
      REQUIRE(new_stamps.size() == old_stamps.size());
      for (size_t i = 0; i < old_stamps.size(); ++i) {
        CHECK(std::stol(new_stamps[i]) - std::stol(old_stamps[i]) == shape.steps * shape.step_s);
      }
      CHECK(std::regex_replace(load.requests()[r], stamp, "T") ==
            std::regex_replace(before[r], stamp, "T"));
    }
  }
}

TEST_CASE("an InfluxDB line of a host has the metrics of the host as fields") {
  LoadShape shape = Small(Wire::kInflux);
  shape.decimals = 0;
  const Load load(shape, "h");
  CHECK(load.points() == 24);
  const auto lines = All(
      BodyOf(load.requests()[0]),
      R"((cpu,hostname=host_\d,region=[a-z0-9-]+,datacenter=[a-z0-9-]+,rack=\d+ usage_user=\d+i,usage_system=\d+i \d{19}\n))");
  CHECK(lines.size() == 5);  // the first request: five lines of two points
}

TEST_CASE(
    "a remote write request has one series with one sample per point, and can be moved forward") {
  LoadShape shape = Small(Wire::kRemote);
  shape.decimals = 2;
  Load load(shape, "h");
  CHECK(load.points() == 24);
  for (uint32_t pass = 0; pass < 2; ++pass, load.MoveOn()) {
    std::multiset<int64_t> times;
    std::set<std::string> names;
    for (const std::string& request : load.requests()) {
      const std::string packed = BodyOf(request);
      std::string body;
      REQUIRE(snappy::Uncompress(packed.data(), packed.size(), &body));
      hg::prometheus::WriteRequest message;
      REQUIRE(message.ParseFromString(body));
      for (const auto& series : message.timeseries()) {
        REQUIRE(series.labels_size() == 5);
        REQUIRE(series.samples_size() == 1);
        names.insert(series.labels(0).value());
        CHECK(std::is_sorted(series.labels().begin(), series.labels().end(),
                             [](const auto& a, const auto& b) { return a.name() < b.name(); }));
        CHECK(series.samples(0).value() * 100 ==
              doctest::Approx(std::round(series.samples(0).value() * 100)));
        times.insert(series.samples(0).timestamp());
      }
    }
    CHECK(names == std::set<std::string>{"cpu_usage_user", "cpu_usage_system"});
    const uint32_t start_s = shape.start_s + pass * shape.steps * shape.step_s;
    for (uint32_t step = 0; step < shape.steps; ++step) {
      CHECK(times.count(int64_t{start_s + step * shape.step_s} * 1000) == 6);
    }
  }
}

TEST_CASE("an OpenTelemetry request has one gauge with one data point per point") {
  Wire wire = Wire::kOtlp;
  SUBCASE("in protobuf") {}
  SUBCASE("as JSON") { wire = Wire::kOtlpJson; }
  const LoadShape shape = Small(wire);
  Load load(shape, "h");
  load.MoveOn();
  std::set<uint64_t> times;
  size_t points = 0;
  for (const std::string& request : load.requests()) {
    CHECK(request.starts_with("POST /v1/metrics "));
    hg::otlp::ExportMetricsServiceRequest message;
    if (wire == Wire::kOtlpJson) {
      REQUIRE(hg::http::ParseJsonMessage(BodyOf(request), &message, nullptr).ok());
    } else {
      REQUIRE(message.ParseFromString(BodyOf(request)));
    }
    for (const auto& metric : message.resource_metrics(0).scope_metrics(0).metrics()) {
      const auto& point = metric.gauge().data_points(0);
      CHECK(metric.name().starts_with("cpu."));
      CHECK(point.has_as_double());
      CHECK(point.attributes_size() == 4);
      CHECK(point.attributes(0).value().string_value().starts_with("host_"));
      times.insert(point.time_unix_nano());
      ++points;
    }
  }
  CHECK(points == 24);
  CHECK(times.size() == shape.steps);
  CHECK(*times.begin() == (shape.start_s + shape.steps * shape.step_s) * 1'000'000'000ULL);
}

TEST_CASE("Graphite lines have their tags after the path") {
  const Load load(Small(Wire::kGraphite), "h");
  const auto lines = All(
      load.requests()[0],
      R"((cpu\.usage_[a-z]+;hostname=host_\d;region=[a-z0-9-]+;datacenter=[a-z0-9-]+;rack=\d+ [0-9.]+ 1700000\d\d\d\n))");
  CHECK(lines.size() == 10);
}

// pickle.dumps([("a.b;h=x", (1700000000.0, 1.5)), ("c", (1700000010.0, 7.0))], 2)
TEST_CASE("a Graphite frame is a length followed by the bytes that Python's pickle writes") {
  using namespace std::string_view_literals;
  std::string frame = hg::bench::PickleHead();
  size_t time = hg::bench::AppendPickledPoint("a.b;h=x", 1.5, 0, &frame);
  hg::bench::WritePickledTime(frame.data() + time, 1'700'000'000);
  time = hg::bench::AppendPickledPoint("c", 7, 1, &frame);
  hg::bench::WritePickledTime(frame.data() + time, 1'700'000'010);
  hg::bench::FinishPickle(&frame);
  CHECK(frame ==
        "\0\0\0\x4e\x80\x02]q\0(X\x07\0\0\0\x61.b;h=xq\x01"
        "G\x41\xd9\x54\xfc\x40\0\0\0G?\xf8\0\0\0\0\0\0\x86q\x02\x86q\x03"
        "X\x01\0\0\0\x63q\x04G\x41\xd9\x54\xfc\x42\x80\0\0G@\x1c\0\0\0\0\0\0"
        "\x86q\x05\x86q\x06\x65."sv);
}

TEST_CASE("pickled points equal the Graphite lines, and can be moved forward") {
  LoadShape shape = Small(Wire::kPickle);
  shape.hosts = 100;
  shape.batch = 500;
  Load load(shape, "h");
  load.MoveOn();
  std::set<int64_t> times;
  std::set<std::string> paths;
  size_t points = 0;
  for (const std::string& request : load.requests()) {
    REQUIRE(hg::ReadBig32(request.data()) == request.size() - 4);
    auto pickled = hg::http::PickledPoints::Parse(std::string_view(request).substr(4), {});
    REQUIRE(pickled.ok());
    while (const auto point = pickled->Next()) {
      REQUIRE(point->ok());
      CHECK((*point)->value.is_float());
      times.insert((*point)->time.raw);
      paths.insert(std::string((*point)->path));
      ++points;
    }
  }
  CHECK(points == 800);
  CHECK(paths.size() == 200);
  CHECK(paths.begin()->starts_with("cpu.usage_system;hostname=host_0;region=eu-west-1;"));
  CHECK(times.size() == shape.steps);
  CHECK(*times.begin() == shape.start_s + shape.steps * shape.step_s);
}

TEST_CASE("requests use the default path of their format, or the given path") {
  LoadShape shape = Small(Wire::kInflux);
  CHECK(Load(shape, "h").requests()[0].starts_with("POST /write?db=opentsdb HTTP/1.1\r\n"));
  shape.path = "/api/v2/write?bucket=b";
  shape.gzip = true;
  CHECK(Load(shape, "h").requests()[0].starts_with("POST /api/v2/write?bucket=b HTTP/1.1\r\n"));
}

TEST_CASE("compressed bodies contain the plain ones, and milliseconds have three more digits") {
  LoadShape shape = Small(Wire::kPut);
  shape.tags = 10;
  shape.milliseconds = true;
  const Load plain(shape, "h");
  shape.gzip = true;
  Load packed(shape, "h");
  const std::string body = BodyOf(plain.requests()[0]);
  CHECK(All(body, R"("timestamp":(\d{13}),)").size() == 10);
  CHECK(body.find("\"service_environment\"") != std::string::npos);
  const std::string small = BodyOf(packed.requests()[0]);
  std::string unpacked(body.size(), '\0');
  auto* decompressor = libdeflate_alloc_decompressor();
  CHECK(libdeflate_gzip_decompress(decompressor, small.data(), small.size(), unpacked.data(),
                                   unpacked.size(), nullptr) == LIBDEFLATE_SUCCESS);
  libdeflate_free_decompressor(decompressor);
  CHECK(unpacked == body);
}

TEST_CASE("loads with the same seed are equal, and with another seed they differ") {
  LoadShape shape = Small(Wire::kPut);
  const Load one(shape, "h");
  CHECK(Load(shape, "h").requests() == one.requests());
  shape.seed = 2;
  CHECK(Load(shape, "h").requests() != one.requests());
}
