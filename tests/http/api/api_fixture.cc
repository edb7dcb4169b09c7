#include "tests/http/api/api_fixture.h"

#include <doctest/doctest.h>

#include <utility>

#include "http/routes/router.h"
#include "storage/codec/row_key.h"

namespace hg::http {

query::Options ApiFixture::UtcQueries() {
  query::Options options;
  options.timezone = "UTC";
  return options;
}

ApiFixture::ApiFixture(query::Options query_options)
    : points(&store, {}),
      names(store, {}),
      annotations(store, {}),
      metadata(store, names, {}),
      queries(points, names, store, clock, std::move(query_options)),
      services{options,  settings, clock, store,    points, names, annotations,
               metadata, queries,  sink,  counters, notes,  {}} {
  REQUIRE(store.CreateTable({"tsdb", {{"t"}}, true}).ok());
  REQUIRE(store.CreateTable({"tsdb-uid", {{"id"}, {"name"}}, false}).ok());
  REQUIRE(store.CreateTable({"tsdb-meta", {{"name"}}, false}).ok());
}

BufferResponse ApiFixture::Ask(std::string_view method, std::string_view target,
                               std::string_view body,
                               const std::vector<std::pair<std::string, std::string>>& headers) {
  BufferResponse reply;
  Request request = MakeRequest(method, target, body);
  request.headers = headers;
  Dispatch(request, services, reply);
  return reply;
}

void ApiFixture::AddSeries(const std::string& metric,
                           const std::vector<std::pair<std::string, std::string>>& tags) {
  const auto id = [&](UidKind kind, const std::string& name) {
    const Result<Bytes> bytes = names.FindOrAssign(kind, name);
    REQUIRE(bytes.ok());
    return *bytes;
  };
  const Bytes metric_id = id(UidKind::kMetric, metric);
  std::vector<Bytes> pairs;
  for (const auto& [key, value] : tags) {
    const Bytes key_id = id(UidKind::kTagk, key);
    pairs.push_back(key_id + id(UidKind::kTagv, value));
  }
  const Result<SeriesNumber> series =
      points.Register(codec::MakeTsuid(metric_id, std::move(pairs)));
  REQUIRE(series.ok());
  const PointEntry entry = MakePointEntry(*series, Timestamp{1700000000}, PointValue::Int(1));
  REQUIRE(points.Append({&entry, 1}).ok());
}

}  // namespace hg::http
