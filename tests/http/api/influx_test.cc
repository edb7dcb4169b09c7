#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "http/request/influx_target.h"
#include "http/routes/router.h"
#include "http/wire/influx_lines.h"
#include "tests/http/running_server.h"

namespace hg::http {
namespace {

/// Returns every stored point as queries see it: "metric tag=value… time value".
std::vector<std::string> Stored(EdgeFixture& edge) {
  std::vector<std::string> lines;
  const auto name = [&](UidKind kind, ByteView id) { return *edge.names.NameOf(kind, id); };
  const auto metrics = edge.names.Suggest(UidKind::kMetric, "", 1000, nullptr);
  REQUIRE(metrics.ok());
  for (const std::string& metric : *metrics) {
    PointScanSpec spec;
    spec.metric = *edge.names.Find(UidKind::kMetric, metric);
    const auto scan = edge.points.Scan(spec, {});
    REQUIRE(scan.ok());
    for (RowHour row;;) {
      const auto more = (*scan)->Next(&row);
      REQUIRE(more.ok());
      if (!*more) break;
      std::string series = metric;
      for (size_t at = 3; at < row.tsuid.size(); at += 6)
        series += " " + name(UidKind::kTagk, row.tsuid.substr(at, 3)) + "=" +
                  name(UidKind::kTagv, row.tsuid.substr(at + 3, 3));
      for (size_t i = 0; i < row.value.size(); ++i) {
        const uint64_t bits = row.value[i];
        lines.push_back(series + " " +
                        std::to_string(uint64_t{row.base} * 1000 + row.offset_ms[i]) + " " +
                        (row.double_at(i) ? std::to_string(std::bit_cast<double>(bits)) + "f"
                                          : std::to_string(static_cast<int64_t>(bits))));
      }
    }
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a long body is stored like short ones, wherever it is cut into slices") {
  std::string body;
  size_t points = 0, lines = 0;
  const auto add = [&](const std::string& line, size_t of_it) {
    body += line + "\n";
    points += of_it;
    lines += 1 + static_cast<size_t>(std::count(line.begin(), line.end(), '\n'));
  };
  const std::string text = "t=\"" + std::string(200, 'x') + "\ncpu,host=a busy=7 1\n\"";
  for (int i = 0; body.size() < 3'500'000; ++i) {
    const std::string time = " " + std::to_string(1700000000 + i);
    // Long texts with line ends from the second megabyte on, so that cuts fall into them.
    if (body.size() > 1'500'000 && i % 2 == 0) {
      add("cpu,host=a busy=1," + text + time, 1);
    } else if (i % 10000 == 5000) {
      add("cpu,host=new" + std::to_string(i) + " busy=2" + time, 1);
    } else {
      add("cpu,host=a busy=3" + time, 1);
    }
  }
  EdgeFixture edge;
  for (int round = 0; round < 2; ++round) {  // in the second round all series are known
    CHECK(edge.Post("/write?precision=s", body).status == 204);
    CHECK(Stored(edge).size() == points);
    CHECK(edge.counters.points_added.load() == points * (round + 1));
  }
  const BufferResponse reply = edge.Post("/write?precision=s", body + "cpu,host=a busy=x 1");
  CHECK(reply.status == 400);
  CHECK(reply.body.find("line " + std::to_string(lines + 1) + ":") != std::string::npos);
}

TEST_CASE("each numeric field becomes a point of MEASUREMENT.FIELD with the tags of the line") {
  EdgeFixture edge;
  const BufferResponse reply =
      edge.Post("/write?db=telegraf&precision=s",
                "cpu,host=a,core=1 user=1i,idle=2.5 1700000000\nload,host=a value=3i 1700000001\n");
  CHECK(reply.status == 204);
  CHECK(reply.body.empty());
  CHECK(Stored(edge) == Lines{"cpu.idle host=a core=1 1700000000000 2.500000f",
                              "cpu.user host=a core=1 1700000000000 1",
                              "load host=a 1700000001000 3"});
}

TEST_CASE("lines are stored through the write path of InfluxDB 2") {
  EdgeFixture edge;
  CHECK(edge.Post("/api/v2/write?org=o&bucket=b&precision=ms", "m,h=a v=t 1700000000123").status ==
        204);
  CHECK(Stored(edge) == Lines{"m.v h=a 1700000000123 1"});
}

TEST_CASE("a line without time gets the current time, and one without tags the default tag") {
  EdgeFixture edge;
  edge.options.default_tag_key = "via";
  edge.options.default_tag_value = "lines";
  CHECK(edge.Post("/write", "m v=1i\n# comment\n\n").status == 204);
  CHECK(Stored(edge) == Lines{"m.v via=lines 1700010000000 1"});
}

TEST_CASE("a series with the default tag as its only tag differs from a series without tags") {
  EdgeFixture edge;
  CHECK(edge.Post("/write?precision=s",
                  "m v=1i 1\nm,source=unknown v=2i 1\nm,source=x v=3i 1\n"
                  "m,h=a,source=unknown v=4i 1")
            .status == 204);
  Lines stored = Stored(edge);
  std::sort(stored.begin(), stored.end());
  CHECK(stored == Lines{"m.v _x0073_ource=unknown 1000 2", "m.v source=unknown 1000 1",
                        "m.v source=unknown h=a 1000 4", "m.v source=x 1000 3"});
}

TEST_CASE("characters that names must not contain are escaped") {
  EdgeFixture edge;
  CHECK(edge.Post("/write?precision=s", "disk\\ io,drive=C: read\\,kb=1i 1").status == 204);
  CHECK(Stored(edge) == Lines{"disk_x0020_io.read_x002C_kb drive=C_x003A_ 1000 1"});
}

TEST_CASE("text fields are skipped and counted, and the other fields of the line are stored") {
  EdgeFixture edge;
  CHECK(edge.Post("/write?precision=s", "sys,h=a up=\"1, 2\",n=5i 1\nsys,h=a up=\"x\" 1").status ==
        204);
  CHECK(Stored(edge) == Lines{"sys.n h=a 1000 5"});
  CHECK(edge.counters.text_fields.load() == 2);
}

TEST_CASE("text fields of a request that is sent again are counted once, on both paths") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  const std::string request = Post("/write?precision=s", "sys,h=a up=\"x\",n=5i 1");
  for (const uint64_t counted : {1, 2}) {
    edge.points.RefuseAppends(1);
    client.Send(request);
    CHECK(client.ReadResponse().status() == 503);
    CHECK(edge.counters.text_fields.load() == counted - 1);
    client.Send(request);
    CHECK(client.ReadResponse().status() == 204);
    CHECK(edge.counters.text_fields.load() == counted);
  }
  edge.server.Stop();
  // The first refusal came from the slow path, which made the series known. The second came from
  // the fast path.
  CHECK(edge.counters.all_requests.Count() == 1);
}

TEST_CASE("valid lines are stored, and invalid ones are reported with their number and reason") {
  tsd::IngestOptions few_tags = EdgeFixture::AllAutomatic();
  few_tags.foreign_max_tags = 8;
  EdgeFixture edge(few_tags);
  const std::string body =
      "m,h=a v=1i 1\nm,h=a v=x 2\n\nm,h=a v=3i 3\nm,h=a v=4i -4\nm,a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,"
      "i=1 v=5i 5";
  BufferResponse reply = edge.Post("/write?precision=s", body);
  CHECK(reply.status == 400);
  const std::string text =
      "partial write: 3 of 5 lines not stored whole: line 2: the field \\\"v\\\": \\\"x\\\" is "
      "neither a number nor true, false or a text in quotes; line 5: the time -4 cannot be stored: "
      "times go from 1970-01-01T00:00:01Z to 2106-02-07T06:28:15.999Z, until 1970-02-19T17:02:47Z "
      "in whole seconds; line 6: Too many tags: 9 maximum allowed: 8 (setting "
      "tsd.ingest.max_tags), tags: {a=1, b=1, c=1, d=1, e=1, f=1, g=1, h=1, i=1}";
  CHECK(reply.body == "{\"error\":\"" + text + "\"}");
  CHECK(Stored(edge) == Lines{"m.v h=a 1000 1", "m.v h=a 3000 3"});
  reply = edge.Post("/api/v2/write?precision=s", body);
  CHECK(reply.status == 400);
  CHECK(reply.body == R"({"code":"invalid","message":")" + text + "\"}");
}

TEST_CASE("only the first of many invalid lines are described, the others are counted") {
  EdgeFixture edge;
  std::string body;
  for (int i = 0; i < 100; ++i) body += "m\n";
  const BufferResponse reply = edge.Post("/write", body);
  CHECK(reply.body.starts_with(
      "{\"error\":\"partial write: 100 of 100 lines not stored whole: line 1: the line has no "));
  CHECK(reply.body.ends_with("line 20: the line has no fields; and 80 more\"}"));
}

TEST_CASE("the error names a metric that must not be created") {
  EdgeFixture edge{tsd::IngestOptions()};
  const BufferResponse reply = edge.Post("/write", "m,h=a v=1i,w=2i 1000000000");
  CHECK(reply.status == 400);
  CHECK(reply.body.find("line 1: No such name for 'metrics': 'm.v'") != std::string::npos);
}

TEST_CASE("a name that is no UTF-8 is refused") {
  EdgeFixture edge;
  const BufferResponse reply = edge.Post("/write", "m,h=\xFF v=1i 1000000000");
  CHECK(reply.status == 400);
  CHECK(reply.body.find("the tag value \\\"\xEF\xBF\xBD\\\" is no UTF-8") != std::string::npos);
  CHECK(edge.Cells().empty());
}

TEST_CASE("an unknown precision is refused before any line is parsed") {
  EdgeFixture edge;
  const BufferResponse reply = edge.Post("/write?precision=d", "m,h=a v=1i 1");
  CHECK(reply.status == 400);
  CHECK(reply.body == R"({"error":"invalid precision \"d\": n, ns, u, us, ms, s, m or h"})");
}

TEST_CASE("a store over its budget answers 503 and Retry-After") {
  EdgeFixture edge;
  edge.points.RefuseAppends(1);
  const BufferResponse reply = edge.Post("/write", "m,h=a v=1i");
  CHECK(reply.status == 503);
  CHECK(reply.body.starts_with("{\"error\":\""));
  REQUIRE(reply.Header("Retry-After") != nullptr);
}

// The name of 30,000 bytes is repeated for each of 600 fields: 18 MB in all.
TEST_CASE("the fields of a line with a long name are stored in parts") {
  const std::string name(30'000, 'm');
  std::string line = name + ",h=a f0=1i";
  for (int i = 1; i < 600; ++i) line += ",f" + std::to_string(i) + "=1i";
  EdgeFixture edge;
  CHECK(edge.Post("/write?precision=s", line + " 1").status == 204);
  CHECK(edge.Cells().size() == 600);
  CHECK(edge.points.appends.load() == 9);  // names of at most 2 MiB each
  // An invalid field after the first part still refuses the whole line.
  EdgeFixture bad;
  const BufferResponse reply = bad.Post("/write?precision=s", line + ",\xFF=1i 1");
  CHECK(reply.status == 400);
  CHECK(reply.body.find("the field \\\"\xEF\xBF\xBD\\\" is no UTF-8") != std::string::npos);
  CHECK(bad.Cells().empty());
  // After a store refuses a part, the next part is not offered.
  EdgeFixture busy;
  busy.points.RefuseAppends(1);
  CHECK(busy.Post("/write?precision=s", line + " 1").status == 503);
  CHECK(busy.points.appends.load() <= 1);
}

TEST_CASE("requests that InfluxDB clients make before they write are answered") {
  EdgeFixture edge;
  const auto ask = [&](const char* method, const char* target, std::string_view body = {}) {
    BufferResponse reply;
    Request request = MakeRequest(method, target, body);
    Dispatch(request, edge.services, reply);
    return reply;
  };
  for (const char* method : {"GET", "HEAD"}) {
    CHECK(ask(method, "/ping").status == 204);
    REQUIRE(ask(method, "/ping").Header("X-Influxdb-Version") != nullptr);
  }
  CHECK(ask("GET", "/ping?verbose=true").body == R"({"version":"1.8.0"})");
  CHECK(ask("GET", "/health").body.find(R"("status":"pass")") != std::string::npos);
  const std::string done = R"({"results":[{"statement_id":0}]})";
  const char* const show = "/query?q=SHOW%20DATABASES";
  CHECK(ask("GET", show).body ==
        R"({"results":[{"statement_id":0,"series":[{"name":"databases","columns":["name"]}]}]})");
  CHECK(ask("POST", "/query", "q=CREATE+DATABASE+%22tele+%5C%22graf%22+WITH+NAME+x").body == done);
  CHECK(ask("GET", "/query?q=%20create%20database%20%20Xy;").body == done);
  CHECK(ask("GET", "/query?q=create%20database%20Xy").body == done);
  CHECK(ask("GET", show).body ==
        R"({"results":[{"statement_id":0,"series":[{"name":"databases","columns":["name"],)"
        R"("values":[["Xy"],["tele \"graf"]]}]}]})");
  const BufferResponse refused = ask("GET", "/query?q=SELECT%20*%20FROM%20cpu");
  CHECK(refused.status == 400);
  CHECK(refused.body.starts_with(R"({"error":"\"SELECT * FROM cpu\": of InfluxDB's)"));
  CHECK(ask("GET", "/query").status == 400);
  CHECK(ask("GET", "/write").status == 405);
  edge.options.mode = Mode::kReadOnly;
  for (const char* path : {"/write", "/api/v2/write", "/influx/api/v2/write"})
    CHECK(ask("POST", path, "m v=1").status == 404);
}

TEST_CASE("lines that are no lines of InfluxDB are counted as refused points") {
  EdgeFixture edge;
  CHECK(edge.Post("/write", "m,a=b v=1 1700000000000000000\nm v=abc\nm v=1 x\n").status == 400);
  CHECK(edge.counters.put_illegal_arguments.load() == 2);
}

TEST_CASE("the paths of InfluxDB may have the prefix /influx and a slash at the end") {
  EdgeFixture edge;
  const auto ask = [&](const char* method, const std::string& target, std::string_view body = {}) {
    BufferResponse reply;
    Request request = MakeRequest(method, target, body);
    Dispatch(request, edge.services, reply);
    return reply;
  };
  for (const char* path : {"/write", "/write/", "/api/v2/write", "/influx/write", "/influx/write/",
                           "/influx/api/v2/write"}) {
    CAPTURE(path);
    CHECK(ask("POST", std::string(path) + "?precision=s", "m,a=b v=1 1700000000").status == 204);
    CHECK(PlainInfluxUnit(std::string(path) + "?db=x&precision=s") == InfluxUnit::kSecond);
    const BufferResponse refused = ask("POST", std::string(path) + "?precision=s", "m v=x 1");
    CHECK(refused.status == 400);
    CHECK(refused.body.starts_with(std::string_view(path).find("v2") != std::string_view::npos
                                       ? R"({"code":"invalid")"
                                       : R"({"error":)"));
  }
  CHECK(ask("POST", "/influx/query", "q=CREATE+DATABASE+IF+NOT+EXISTS+old").body ==
        R"({"results":[{"statement_id":0}]})");
  CHECK(ask("GET", "/influx/query?q=SHOW+DATABASES").body.find(R"([["old"]])") !=
        std::string::npos);
  CHECK(InfluxCredentials("/influx/query?u=me&p=secret").name == "me");
  CHECK(ask("GET", "/influx/ping").status == 204);
  CHECK(ask("GET", "/influx/health").status == 200);
  for (const char* path : {"/influx", "/influx/", "/influx/api/query", "/influxwrite", "/writes"})
    CHECK(ask("POST", path, "m,a=b v=1").status == 404);
}

TEST_CASE(
    "the configured separator joins measurement and field of all lines, also on the fast path") {
  RunningServer edge;
  edge.options.influx_separator = "_";
  ClientSocket client(edge.server.port());
  for (int i = 0; i < 2; ++i) {
    client.Send(Post("/write?precision=s", "cpu,h=a user=1i,value=2i " + std::to_string(9 + i)));
    CHECK(client.ReadResponse().status() == 204);
  }
  edge.server.Stop();
  CHECK(Stored(edge) ==
        Lines{"cpu h=a 9000 2", "cpu h=a 10000 2", "cpu_user h=a 9000 1", "cpu_user h=a 10000 1"});
}

TEST_CASE("lines of known series take the fast path over the socket, also in compressed bodies") {
  RunningServer edge;
  ClientSocket client(edge.server.port());
  for (int i = 0; i < 3; ++i) {
    const std::string time = std::to_string(1700000000 + i);
    client.Send(Post("/write?db=x&precision=s", "m,h=a v=1i,w=2.5 " + time + "\n"));
    const ClientSocket::Response reply = client.ReadResponse();
    CHECK(reply.status() == 204);
  }
  client.Send(Post("/write?precision=s", "m,h=a v=1i,v=2i 9\n"));
  CHECK(client.ReadResponse().status() == 400);
  edge.server.Stop();
  CHECK(Stored(edge).size() == 6);
  // The first request took the slow path and made the series known; so did the refused one.
  CHECK(edge.points.commits.load() == 3);
  CHECK(edge.counters.all_requests.Count() == 2);
  CHECK(edge.counters.points_added.load() == 6);
}

// Random bodies of plain and irregular parts: the fast path must store what the slow path would
// store.
TEST_CASE("the fast path and the slow path agree on lines") {
  const std::vector<std::string> series = {
      "m,h=a",     "m,h=b", "n",       "m,h=a,dc=x", "m,dc=x,h=a", "m,h=a\\ b", "m,h=\"a", "m,h",
      "m,h=a,h=b", "",      "m\\,h=a", "a:b,h=c",    "#m,h=a",     "m,h=é",     "m,h=a\\", "\xFF"};
  const std::vector<std::string> names = {"x", "y", "value", "x\\ y", "", "x\"", "é", "y.z"};
  const std::vector<std::string> values = {"1i",
                                           "2.5",
                                           "7",
                                           "-3i",
                                           "t",
                                           "false",
                                           "\"a, b\"",
                                           "\"a\\\"b\"",
                                           "\"x\ny\"",
                                           "1u",
                                           "-1u",
                                           "1e3",
                                           "1e400",
                                           ".5",
                                           "5.",
                                           "-.5",
                                           "0.1",
                                           "-0",
                                           "-0i",
                                           "12345678901234567.25",
                                           "x",
                                           "",
                                           "1ii",
                                           "NaN",
                                           "inf",
                                           "1234567890123456789i",
                                           "99999999999999999999i",
                                           "1.7976931348623157e308",
                                           "4.9e-324",
                                           "1e-400",
                                           "\"open"};
  const std::vector<std::string> times = {" 1700000000000000000",
                                          "",
                                          " 1700000000123456789",
                                          " ",
                                          "  1700000003000000000  ",
                                          " -1",
                                          " 0",
                                          " 99999999999999999999",
                                          " 1500000000",
                                          " x",
                                          " 1 2"};
  const std::vector<std::string> ends = {"\n", "\n", "\n", "\r\n", "\n\n", "\n# c\n", "\n \n", ""};
  std::mt19937 random(20261122);
  const auto pick = [&random](const std::vector<std::string>& from) -> const std::string& {
    const bool plain = random() % 16 != 0;
    return from[random() % (plain ? 3 : from.size())];
  };
  EdgeFixture exact, fast;
  InfluxPoints points;
  int taken = 0, left = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string body;
    for (size_t lines = 1 + random() % 3; lines > 0; --lines) {
      body += pick(series) + (random() % 50 == 0 ? "  " : " ");
      for (size_t i = 0, fields = 1 + random() % 3; i < fields; ++i)
        body += (i > 0 ? "," : "") + (i == 0 || random() % 20 == 0 ? pick(names) : names[i]) + "=" +
                pick(values);
      body += pick(times) + pick(ends);
    }
    if (random() % 40 == 0) body.resize(random() % body.size());
    CAPTURE(body);
    const BufferResponse wanted = exact.Post("/write", body);
    bool done = false;
    if (ParseInfluxLines(body, InfluxUnit::kNanosecond, Timestamp{1700010000}, &points) &&
        !points.fields.empty()) {
      const auto appended =
          fast.ingest.AppendLines(points.lines, points.fields, WriteContext::Unlimited());
      REQUIRE(appended.ok());
      done = appended->known;
    }
    if (done) {
      ++taken;
      CHECK(wanted.status == 204);
    } else {
      ++left;
      const BufferResponse got = fast.Post("/write", body);
      CHECK(got.status == wanted.status);
      CHECK(got.body == wanted.body);
    }
  }
  CHECK(exact.Cells() == fast.Cells());
  CHECK(exact.Ids() == fast.Ids());
  // Both paths were taken.
  CHECK(taken > 600);
  CHECK(left > 600);
}

}  // namespace hg::http
