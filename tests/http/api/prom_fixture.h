#pragma once
// A daemon's HTTP API with a few series, and the responses of Prometheus' HTTP API.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "storage/codec/row_key.h"
#include "storage/points/points.h"
#include "tests/http/api/api_fixture.h"

namespace hg::http {

/// Two series of one metric with points a minute apart from 1700000000 on, and a metric without
/// dots.
class PromFixture : public ApiFixture {
 public:
  PromFixture() {
    AddSeries("sys.cpu.user", {{"host", "a"}, {"cpu", "0"}});
    AddSeries("sys.cpu.user", {{"host", "b"}});
    AddSeries("up", {{"host", "a"}});
  }

  /// Stores one point of a series at this second.
  void AddSeriesAt(const std::string& metric,
                   const std::vector<std::pair<std::string, std::string>>& tags, int64_t second) {
    std::vector<Bytes> pairs;
    for (const auto& [key, value] : tags)
      pairs.push_back(Id(UidKind::kTagk, key) + Id(UidKind::kTagv, value));
    AddTsuidAt(codec::MakeTsuid(Id(UidKind::kMetric, metric), std::move(pairs)), second);
  }
  void AddTsuidAt(const Bytes& tsuid, int64_t second) {
    const Result<SeriesNumber> series = points.Register(tsuid);
    REQUIRE(series.ok());
    const PointEntry entry = MakePointEntry(*series, Timestamp{second}, PointValue::Int(1));
    REQUIRE(points.Append({&entry, 1}).ok());
  }

  /// Returns the body of a response, preceded by its status if that is not 200.
  std::string Get(const std::string& target) { return Text(Ask("GET", target)); }
  std::string Post(const std::string& target, const std::string& form) {
    return Text(Ask("POST", target, form, {{"content-type", "application/x-www-form-urlencoded"}}));
  }
  Bytes Id(UidKind kind, const std::string& name) {
    const Result<Bytes> id = names.FindOrAssign(kind, name);
    REQUIRE(id.ok());
    return *id;
  }

 private:
  static std::string Text(const BufferResponse& reply) {
    return (reply.status == 200 ? "" : std::to_string(reply.status) + " ") + reply.body;
  }
};

inline std::string Success(const std::string& data) {
  return R"({"status":"success","data":)" + data + "}";
}

inline std::string Truncated(const std::string& data) {
  return R"({"status":"success","data":)" + data +
         R"(,"warnings":["results truncated due to limit"]})";
}

inline std::string Failure(int status, const std::string& type, const std::string& message) {
  return std::to_string(status) + R"( {"status":"error","errorType":")" + type + R"(","error":")" +
         message + "\"}";
}

}  // namespace hg::http
