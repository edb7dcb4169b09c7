// Measures parsing points: the time for a request of 5,000 points, which are counted as items.

#include <benchmark/benchmark.h>

#include <string>
#include <string_view>
#include <vector>

#include "bench/load.h"
#include "http/wire/influx_lines.h"
#include "http/wire/put_json.h"
#include "http/wire/telnet_line.h"

namespace hg {
namespace {

constexpr uint32_t kPointsPerRequest = 5000;

bench::LoadShape OneRequest(bench::Wire wire, bool wide) {
  bench::LoadShape shape;
  shape.wire = wire;
  shape.hosts = kPointsPerRequest / shape.metrics;
  shape.steps = 1;
  shape.batch = kPointsPerRequest;
  shape.tags = wide ? 10 : 4;
  shape.decimals = wide ? 16 : 0;
  shape.milliseconds = wide;
  return shape;
}

void ParsePutJson(benchmark::State& state, bool wide) {
  const bench::Load load(OneRequest(bench::Wire::kPut, wide), "h");
  std::string body = load.requests()[0];
  body.erase(0, body.find("\r\n\r\n") + 4);
  const size_t size = body.size();
  body.append(http::kPutPadding, ' ');
  http::PutJsonParser parser;
  std::vector<KeyedPoint> points;
  for (auto _ : state) {
    if (!parser.Parse(std::string_view(body).substr(0, size), &points) ||
        points.size() != kPointsPerRequest) {
      return state.SkipWithError("the body is not plain");
    }
  }
  state.SetItemsProcessed(state.iterations() * kPointsPerRequest);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(size));
}
BENCHMARK_CAPTURE(ParsePutJson, four_tags_integers, false);
BENCHMARK_CAPTURE(ParsePutJson, ten_tags_doubles, true);

void ParseLines(benchmark::State& state) {
  const bench::Load load(OneRequest(bench::Wire::kTelnet, false), "h");
  const std::string& lines = load.requests()[0];
  std::vector<KeyedPoint> points;
  for (auto _ : state) {
    if (!http::ParsePutLines(lines, &points) || points.size() != kPointsPerRequest)
      return state.SkipWithError("a line is not plain");
  }
  state.SetItemsProcessed(state.iterations() * kPointsPerRequest);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(lines.size()));
}
BENCHMARK(ParseLines);

void ParseInflux(benchmark::State& state, bool wide) {
  bench::LoadShape shape = OneRequest(bench::Wire::kInflux, wide);
  shape.tags = 10;
  const bench::Load load(shape, "h");
  std::string body = load.requests()[0];
  body.erase(0, body.find("\r\n\r\n") + 4);
  http::InfluxPoints points;
  for (auto _ : state) {
    if (!http::ParseInfluxLines(body, http::InfluxUnit::kNanosecond, Timestamp{1}, &points) ||
        points.fields.size() != kPointsPerRequest) {
      return state.SkipWithError("the body is not plain");
    }
  }
  state.SetItemsProcessed(state.iterations() * kPointsPerRequest);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
BENCHMARK_CAPTURE(ParseInflux, ten_integers, false);
BENCHMARK_CAPTURE(ParseInflux, ten_doubles, true);

}  // namespace
}  // namespace hg
