#pragma once
// Creates all objects that an HTTP handler may use, on a store in memory. Requests are passed to
// the table of endpoints, without a socket.

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "http/request/client_notes.h"
#include "http/request/services.h"
#include "query/engine.h"
#include "storage/model/point_sink.h"
#include "storage/points/points_over_cells.h"
#include "tests/support/buffer_response.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"

namespace hg::http {

/// A point store over a cell store. If `lists_from_index` is set, it claims to have an index of its
/// series.
class FixturePoints : public points::PointsOverCells {
 public:
  using PointsOverCells::PointsOverCells;
  [[nodiscard]] bool ListsFromIndex() const override { return lists_from_index; }
  bool lists_from_index = false;
};

/// A point sink that accepts no points, and counts the calls of ForgetRawKeys.
class IdleSink : public PointSink {
 public:
  int forgotten = 0;

  Result<Appended> AppendKeyed(std::span<const KeyedPoint>, WriteContext&) override {
    return Appended{};
  }
  Position AppendNamed(std::span<const NamedPoint> points, WriteContext&,
                       std::vector<Status>* results) override {
    results->assign(points.size(), Status::Unsupported("this sink takes no points"));
    return 0;
  }
  void Commit(Position, std::function<void(Status)> done) override { done({}); }
  void ForgetRawKeys() override { ++forgotten; }
};

class ApiFixture {
 public:
  explicit ApiFixture(query::Options query_options = UtcQueries());

  static query::Options UtcQueries();

  /// Passes a request to the table of endpoints and returns the reply. Example: Ask("GET",
  /// "/api/suggest?type=tagk").
  BufferResponse Ask(std::string_view method, std::string_view target, std::string_view body = {},
                     const std::vector<std::pair<std::string, std::string>>& headers = {});

  /// Assigns ids to the names of a series, and stores one point of the series. Example:
  /// AddSeries("room.temp", {{"host", "a"}}).
  void AddSeries(const std::string& metric,
                 const std::vector<std::pair<std::string, std::string>>& tags);

  Options options;
  std::map<std::string, std::string> settings;
  ManualClock clock{1700010000000};
  ModelStore store{clock};
  FixturePoints points;
  uid::Names names;
  uid::Annotations annotations;
  uid::Metadata metadata;
  query::Engine queries;
  IdleSink sink;
  Counters counters;
  ClientNotes notes{options};
  Services services;
};

/// Sends a request, and checks the status and the body of the reply.
inline void Check(ApiFixture& f, std::string_view method, std::string_view target,
                  std::string_view body, int status, std::string_view reply) {
  CAPTURE(method);
  CAPTURE(target);
  CAPTURE(body);
  const BufferResponse got = f.Ask(method, target, body);
  CHECK(got.status == status);
  CHECK(got.body == reply);
}

}  // namespace hg::http
