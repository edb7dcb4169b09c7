#include <doctest/doctest.h>

#include <random>
#include <thread>

#include "http/wire/put_json.h"
#include "tests/http/edge_fixture.h"

namespace hg::http {
namespace {

/// "{…}" of one point with the given JSON tokens.
std::string Point(const std::string& time, const std::string& value) {
  return R"({"metric":"m","timestamp":)" + time + R"(,"value":)" + value +
         R"(,"tags":{"host":"a"}})";
}

/// Returns the flags and the value of the one cell that a body stores. If none is stored, returns
/// the error of the point, or the HTTP status of the refused body.
std::string Outcome(const std::string& body) {
  EdgeFixture edge;
  const BufferResponse reply = edge.Post("/api/put?details", body);
  const auto cells = edge.Cells();
  if (cells.size() == 1) {
    CHECK(reply.body == R"({"success":1,"failed":0,"errors":[]})");
    const std::string& cell = cells[0];
    const size_t first = cell.find(' '), second = cell.find(' ', first + 1);
    return cell.substr(second - 1, 1) + " " + cell.substr(second + 1);
  }
  CHECK(cells.empty());
  constexpr std::string_view kError = "\"error\":\"";
  const size_t at = reply.body.find(kError);
  if (at == std::string::npos) return std::to_string(reply.status);
  return reply.body.substr(at + kError.size(), reply.body.rfind('"') - at - kError.size());
}

struct Case {
  const char* token;
  const char* outcome;
};

constexpr const char* kNoNumber = "Unable to parse value to a number";

}  // namespace

TEST_CASE("a point with very many tags is refused quickly because of their number") {
  constexpr int kTags = 300000;
  std::string tags;
  for (int i = 0; i < kTags; ++i) tags += (i > 0 ? ",\"" : "\"") + std::to_string(i) + R"(":"v")";
  EdgeFixture edge;
  const std::string point =
      R"({"metric":"m","timestamp":1700000000,"value":1,"tags":{)" + tags + "}}";
  const BufferResponse reply = edge.Post("/api/put?details", point);
  CHECK(reply.status == 400);
  CHECK(reply.body.find("Too many tags: 300000 maximum allowed: 8") != std::string::npos);
  CHECK(edge.Cells().empty());
  CHECK(edge.Ids().empty());
}

TEST_CASE("the type of a stored value follows from its text") {
  const Case cases[] = {
      {"42", "0 2a"},
      {"\"42\"", "0 2a"},
      {"\"+42\"", "0 2a"},
      {"\"-7\"", "0 f9"},
      {"\"007\"", "0 07"},
      {"0", "0 00"},
      {"-0", "0 00"},
      {"32768", "3 00008000"},
      {"9223372036854775807", "7 7fffffffffffffff"},
      {"-9223372036854775808", "7 8000000000000000"},
      {"4.2", "f 4010cccccccccccd"},
      {"\"4.2\"", "f 4010cccccccccccd"},
      {"1.5", "f 3ff8000000000000"},
      {"1e3", "f 408f400000000000"},
      {"\"1.\"", "f 3ff0000000000000"},
      {"\".5\"", "f 3fe0000000000000"},
      {"\"1.5f\"", "f 3ff8000000000000"},
      {"\" 4.2\"", "f 4010cccccccccccd"},
      {"-0.0", "f 8000000000000000"},
      {"1e-400", "f 0000000000000000"},
      {"\"1,5\"", kNoNumber},
      {"\"abc\"", kNoNumber},
      {"\"1 2\"", kNoNumber},
      {"\" 42\"", kNoNumber},
      {"\"0x10\"", kNoNumber},
      {"\"NaN\"", kNoNumber},
      {"NaN", kNoNumber},
      {"-Infinity", kNoNumber},
      {"true", kNoNumber},
      {"9223372036854775808", kNoNumber},
      {"123456789012345678901", kNoNumber},
      {"1e400", "value is NaN or Infinite: Infinity for metric=m timestamp=1700000000"},
      {"-1e400", "value is NaN or Infinite: -Infinity for metric=m timestamp=1700000000"},
      {"null", "Empty value"},
      {"\"\"", "Empty value"},
      {"01", "400"},
      {"+1", "400"},
      {".5", "400"},
      {"5.", "400"},
      {"[1]", "400"},
      {"{}", "400"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.token);
    CHECK(Outcome(Point("1700000000", c.token)) == c.outcome);
  }
}

TEST_CASE("times are seconds or milliseconds by their size, and whole numbers") {
  const Case cases[] = {
      {"1700000000", "0 01"},
      {"\"1700000000\"", "0 01"},
      {"\"+1700000000\"", "0 01"},
      {"\" 1700000000 \"", "0 01"},
      {"1700000000.9", "0 01"},
      {"1.7e9", "0 01"},
      {"1700000000123", "0 01"},
      {"4294967296", "0 01"},
      {"0", "Invalid timestamp"},
      {"-5", "Invalid timestamp"},
      {"0.9", "Invalid timestamp"},
      {"null", "Invalid timestamp"},
      {"\"\"", "Invalid timestamp"},
      {"\" \"", "Invalid timestamp"},
      {"99999999999999",
       "bad timestamp=99999999999999 when trying to add value=[1]/0 to metric=m, tags={host=a}"},
      {"9223372036854775808", "400"},
      {"\"1700000000.5\"", "400"},
      {"\"1.7e9\"", "400"},
      {"\"now\"", "400"},
      {"true", "400"},
      {"[1]", "400"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.token);
    CHECK(Outcome(Point(c.token, "1")) == c.outcome);
  }
}

TEST_CASE("the errors of a point are found in OpenTSDB's order") {
  const Case cases[] = {
      {R"([null])", "Unexpected null datapoint encountered in set."},
      {R"({"timestamp":0})", "Metric name was empty"},
      {R"({"metric":"m m","timestamp":0,"tags":{}})", "Invalid timestamp"},
      {R"({"metric":"m m","timestamp":1,"tags":{}})", "Empty value"},
      {R"({"metric":"m m","timestamp":1,"value":"x","tags":{}})", "Missing tags"},
      {R"({"metric":"m m","timestamp":1,"value":"x","tags":{"a b":"c"}})", kNoNumber},
      {R"({"metric":"m!","timestamp":1,"value":1,"tags":{"a!":"c"}})",
       R"(Invalid metric name (\"m!\"): illegal character: !)"},
      {R"({"metric":"m","timestamp":1,"value":1,"tags":{"a!":"c!"}})",
       R"(Invalid tag name with value [c!] (\"a!\"): illegal character: !)"},
      {R"({"metric":"m","timestamp":1,"value":1,"tags":{"a":"c!"}})",
       R"(Invalid tag value with key [a] (\"c!\"): illegal character: !)"},
      {R"({"metric":"m","timestamp":1,"value":1,"tags":{"a":""}})",
       "Invalid tag value with key [a]: empty string"},
      {R"({"metric":"m","timestamp":1,"value":1,"tags":{"a":null}})",
       "Invalid tag value with key [a]: null"},
      {R"({"metric":"m","timestamp":1,"value":1,"tags":{"a":[]}})", "400"},
      {R"({"metric":"m","timestamp":1,"value":1,"tags":"a"})", "400"},
      {R"([1])", "400"},
      {R"([])", "400"},
      {R"(x)", "400"},
      {R"( )", "500"},
      {R"({"metric":)", "400"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.token);
    CHECK(Outcome(c.token) == c.outcome);
  }
}

TEST_CASE("valid points are stored next to invalid ones, and the response has the requested form") {
  const std::string body =
      "[" + Point("1700000000", "1") + "," + Point("1700000001", "\"x\"") + "]";
  EdgeFixture edge;
  BufferResponse reply = edge.Post("/api/put", body);
  CHECK(reply.status == 400);
  CHECK(
      reply.body ==
      R"({"error":{"code":400,"message":"One or more data points had errors","details":"Please see the TSD logs or append \"details\" to the put request"}})");
  CHECK(edge.Cells().size() == 1);
  CHECK(edge.Post("/api/put?summary=false", body).body == R"({"success":1,"failed":1})");
  CHECK(edge.Post("/api/put?sync&sync_timeout=9&summary", body).body ==
        R"({"success":1,"timeouts":0,"failed":1})");
  CHECK(edge.Post("/api/put?sync_timeout=x", body).status == 500);
  reply = edge.Post("/api/put", Point("1700000002", "1"));
  CHECK(reply.status == 204);
  CHECK(reply.body.empty());
}

TEST_CASE("points before an unusual one are stored together, and each is counted once") {
  EdgeFixture edge;
  const auto point = [](const std::string& host) {
    return R"({"metric":"m","timestamp":1700000000,"value":1,"tags":{"host":")" + host + "\"}}";
  };
  const std::string body = "[" + point("a") + "," + point("b") + "," + point("c!") + "," +
                           point("d") + "," + point("\\u0065") + "]";
  const BufferResponse reply = edge.Post("/api/put?details", body);
  CHECK(reply.status == 400);
  CHECK(reply.body.starts_with(R"({"success":4,"failed":1,)"));
  CHECK(reply.body.find(R"("host":"c!")") != std::string::npos);
  CHECK(edge.points.appends == 2);
  CHECK(edge.Cells().size() == 4);
  CHECK(edge.counters.points_added.load() == 4);
  CHECK(edge.counters.put_illegal_arguments.load() == 1);
}

TEST_CASE("a metric that must not be created gives the error Unknown metric") {
  tsd::IngestOptions options;
  EdgeFixture edge(options);
  const BufferResponse reply = edge.Post("/api/put?details", Point("1700000000", "1"));
  CHECK(reply.status == 400);
  CHECK(reply.body.ends_with(R"("error":"Unknown metric"}]})"));
  CHECK(edge.Ids().empty());
}

TEST_CASE("a store over its budget answers 503 and Retry-After, in every form") {
  EdgeFixture edge;
  for (const char* target : {"/api/put", "/api/put?details", "/api/put?sync&summary"}) {
    edge.points.RefuseAppends(1);
    const BufferResponse reply = edge.Post(target, Point("1700000000", "1"));
    CHECK(reply.status == 503);
    REQUIRE(reply.Header("Retry-After") != nullptr);
  }
  CHECK(edge.Cells().empty());
}

TEST_CASE("a commit that fails is not acknowledged") {
  EdgeFixture edge;
  edge.points.Hold();
  std::thread writer([&] { CHECK(edge.Post("/api/put", Point("1700000000", "1")).status == 500); });
  while (edge.points.held() == 0) std::this_thread::yield();
  edge.points.Release(Status::IoError("the log is full"));
  writer.join();
}

TEST_CASE("a synchronous put that times out reports the number of late points") {
  EdgeFixture edge;
  edge.points.Hold();
  const BufferResponse reply =
      edge.Post("/api/put?sync&sync_timeout=1&details", Point("1700000000", "1"));
  edge.points.Release({});
  CHECK(reply.status == 400);
  CHECK(reply.body.starts_with(R"({"success":0,"timeouts":1,"failed":0,"errors":[{"datapoint":)"));
  CHECK(reply.body.ends_with(R"("error":"Write timedout"}]})"));
}

TEST_CASE("ids are assigned in the order of OpenTSDB's map") {
  EdgeFixture edge;
  CHECK(
      edge.Post(
              "/api/put",
              R"({"metric":"m","timestamp":1,"value":1,"tags":{"zeta":"v1","alpha":"v2","mid":"v3",)"
              R"("b":"v4","a":"v5","c":"v6"}})")
          .status == 204);
  const char* const order[] = {"zeta", "a", "b", "c", "alpha", "mid"};
  for (size_t i = 0; i < std::size(order); ++i) {
    const Result<Bytes> id = edge.names.Find(UidKind::kTagk, order[i]);
    REQUIRE(id.ok());
    CHECK(ReadBig(id->data(), 3) == i + 1);
  }
}

TEST_CASE(
    "without configuration, rollups and histograms get an error, after the errors of "
    "earlier checks") {
  EdgeFixture edge;
  const auto error = [&](const std::string& fields) {
    std::string body = Point("1700000000", "1");
    body.back() = ',';
    const std::string reply = edge.Post("/api/rollup?details", body + fields + "}").body;
    const size_t at = reply.rfind("\"error\":\"") + 9;
    return reply.substr(at, reply.rfind('"') - at);
  };
  CHECK(error(R"("interval":"1h","aggregator":"SUM")") ==
        "No rollup or aggregations were configured");
  // Without a configuration, the tag of a pre-aggregate has no key and cannot be shown.
  std::string grouped = Point("1700000000", "1");
  grouped.back() = ',';
  grouped += R"("groupByAggregator":"SUM"})";
  CHECK(edge.Post("/api/rollup?details", grouped).status == 500);
  CHECK(edge.Post("/api/rollup?summary", grouped).status == 400);
  CHECK(error(R"("aggregator":"SUM")") == "Missing interval");
  CHECK(error(R"("interval":"1h","aggregator":"")") == "Missing aggregator");
  CHECK(edge.Post("/api/histogram", "{}").status == 503);
  CHECK(edge.Cells().empty());
}

// Random bodies of plain and irregular parts: the fast path must store what the slow path would
// store.
TEST_CASE("the fast path and the slow path of put agree") {
  const std::vector<std::string> metrics = {R"("m")",       R"("m.two")", R"("m m")", R"("")",
                                            R"("m\u0041")", R"("m\/x")",  "7",        "null",
                                            R"("mé")",      "[]"};
  const std::vector<std::string> times = {"1700000000",     "1700000001", "1700003600123",
                                          "\"1700000002\"", "0",          "1.7e9",
                                          "99999999999999", "true",       "01"};
  const std::vector<std::string> values = {"1",
                                           "2.5",
                                           "-3",
                                           "0",
                                           "\"4\"",
                                           "\"5.5\"",
                                           "\"007\"",
                                           "1e2",
                                           "1e400",
                                           "\"x\"",
                                           "NaN",
                                           "01",
                                           "5.",
                                           "null",
                                           "18446744073709551616",
                                           "123456789012345678",
                                           "1234567890123456789",
                                           "-0",
                                           "-0.0",
                                           "\" 1.5\"",
                                           "1.0 "};
  const std::vector<std::string> tags = {R"({"host":"a"})",
                                         R"({ "host" : "a" } )",
                                         R"({"host":"b","dc":"x"})",
                                         R"({"dc":"x","host":"b"})",
                                         R"({"host":"a","host":"b"})",
                                         "{}",
                                         "null",
                                         R"({"host":1})",
                                         R"({"host":"a b"})",
                                         R"({"h\u006fst":"a"})",
                                         R"({"host":{}})",
                                         R"({"host":"}"})"};
  const std::vector<std::string> extras = {
      "", "", "", "", "", R"(,"x":1)", R"(,"metric":"other")", R"(,"tsuid":"00")"};
  std::mt19937 random(20261121);
  // The first variants are chosen most often, so that many bodies are completely regular.
  const auto pick = [&random](const std::vector<std::string>& from) -> const std::string& {
    const bool plain = random() % 8 != 0;
    return from[random() % (plain ? 3 : from.size())];
  };
  const auto field = [&](std::string* point, const char* name, const std::string& token) {
    if (random() % 100 == 0) return;
    *point += (point->size() > 1 ? "," : "") + std::string(random() % 9 == 0 ? " \"" : "\"") +
              name + "\":" + token;
  };
  EdgeFixture exact, fast;
  PutJsonParser parser;
  std::vector<KeyedPoint> points;
  int taken = 0, left = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string body;
    const size_t count = 1 + random() % 3;
    for (size_t i = 0; i < count; ++i) {
      std::string point = "{";
      field(&point, "metric", pick(metrics));
      field(&point, "timestamp", pick(times));
      field(&point, "value", pick(values));
      field(&point, "tags", pick(tags));
      if (point.size() > 1) point += extras[random() % extras.size()];
      body += (i > 0 ? "," : "") + point + "}";
    }
    if (count > 1 || random() % 2 == 0) body = "[" + body + "]";
    if (random() % 40 == 0) body.resize(random() % body.size());
    if (random() % 40 == 0) body += random() % 2 == 0 ? " x" : "]";
    CAPTURE(body);

    const BufferResponse wanted = exact.Post("/api/put?details", body);
    std::string padded = body;
    padded.reserve(body.size() + kPutPadding);
    bool done = false;
    if (parser.Parse(padded, &points) && !points.empty()) {
      const auto appended = fast.ingest.AppendKeyed(points, WriteContext::Unlimited());
      REQUIRE(appended.ok());
      done = appended->known;
    }
    if (done) {
      ++taken;
      CHECK(wanted.body ==
            "{\"success\":" + std::to_string(points.size()) + R"(,"failed":0,"errors":[]})");
    } else {
      ++left;
      const BufferResponse got = fast.Post("/api/put?details", body);
      CHECK(got.status == wanted.status);
      CHECK(got.body == wanted.body);
    }
  }
  CHECK(exact.Cells() == fast.Cells());
  CHECK(exact.Ids() == fast.Ids());
  // Both paths were taken.
  CHECK(taken > 400);
  CHECK(left > 400);
}

TEST_CASE(
    "a busy store refuses histograms and rollups with 503, however the body asks for details") {
  EdgeFixture edge;
  GatedAggregates aggregates;
  edge.options.histogram_codec_id = 0;
  edge.services.histograms = &aggregates;
  edge.services.rollups = &aggregates;
  const std::pair<std::string, std::string> requests[] = {
      {"/api/histogram",
       R"([{"metric":"m","timestamp":1,"tags":{"a":"b"},"buckets":{"0,1":5}},
           {"metric":"m","timestamp":2,"tags":{"a":"b"},"buckets":{"0,1":5}}])"},
      {"/api/rollup",
       R"([{"metric":"m","timestamp":1,"value":1,"tags":{"a":"b"},"interval":"1h","aggregator":"sum"}])"}};
  for (const auto& [path, body] : requests) {
    for (const char* flags : {"", "?details", "?summary"}) {
      CAPTURE(path + flags);
      aggregates.refusals = 1;
      const BufferResponse refused = edge.Post(path + flags, body);
      CHECK(refused.status == 503);
      REQUIRE(refused.Header("Retry-After") != nullptr);
      CHECK(edge.Post(path + flags, body).status < 300);
    }
  }
  CHECK(edge.counters.put_writes_blocked.load() == 6);
}

}  // namespace hg::http
