#include <doctest/doctest.h>

#include <random>
#include <thread>

#include "http/telnet/lines.h"
#include "http/wire/telnet_line.h"
#include "tests/http/edge_fixture.h"

namespace hg::http {
namespace {

std::string Say(EdgeFixture& edge, std::string_view lines) {
  const LinesResult result = RunTelnetLines(lines, edge.services);
  CHECK(result.used == lines.size());
  return result.text;
}

}  // namespace

TEST_CASE("a line with very many tags is refused quickly because of their number") {
  EdgeFixture edge;
  std::string line = "put m 1700000000 1";
  for (int i = 0; i < 300000; ++i) line += " " + std::to_string(i) + "=v";
  CHECK(Say(edge, line + "\n").find("Too many tags: 300000 maximum allowed: 8") !=
        std::string::npos);
}

TEST_CASE("each error of a put line has its text, and valid lines get no reply") {
  struct Case {
    const char* line;
    const char* reply;
  };
  const Case cases[] = {
      {"put m 1700000000 1 host=a", ""},
      {"put m 1700000000.123 1.5 host=a  dc=x ", ""},
      {"put m 1700000000 1 host=a host=a", ""},
      {"put", "put: illegal argument: not enough arguments (need least 4, got 0)\n"},
      {"put m 1700000000 1", "put: illegal argument: not enough arguments (need least 4, got 3)\n"},
      {"put  1700000000 1 host=a", "put: illegal argument: empty metric name\n"},
      {"put m  1 host=a", "put: invalid value: Empty string\n"},
      {"put m now 1 host=a", "put: invalid value: Invalid character 'n' in now\n"},
      {"put m 0 1 host=a", "put: illegal argument: invalid timestamp: 0\n"},
      {"put m 1700000000  host=a", "put: illegal argument: empty value\n"},
      {"put m 1700000000 1.2.3 host=a", "put: invalid value: multiple points\n"},
      {"put m 1700000000 1e400 host=a",
       "put: illegal argument: value is NaN or Infinite: Infinity for metric=m "
       "timestamp=1700000000\n"},
      {"put m 1700000000 x host", "put: illegal argument: invalid tag: host\n"},
      {"put m 1700000000 1 host=a host=b",
       "put: illegal argument: duplicate tag: host=b, tags={host=a}\n"},
      {"put m 1700000000 1 ", "put: illegal argument: Need at least one tag (metric=m, tags={})\n"},
      {"put m! 1700000000 1 host=a",
       "put: illegal argument: Invalid metric name (\"m!\"): illegal character: !\n"},
      {"put t.\xC3\xA9 1700000000 1 host=a",
       "put: illegal argument: Invalid metric name (\"t.\xC3\x83\xC2\xA9\"): illegal character: "
       "\xC2\xA9\n"},
      {" ", "unknown command: .  Try `help'.\n"},
      {"foo bar", "unknown command: foo.  Try `help'.\n"},
      {"dropcaches now", "Caches dropped.\n"},
  };
  EdgeFixture edge;
  for (const Case& c : cases) {
    CAPTURE(c.line);
    CHECK(Say(edge, std::string(c.line) + "\n") == c.reply);
    CHECK(Say(edge, std::string(c.line) + "\r\n") == c.reply);
  }
}

TEST_CASE("replies have the order of the lines, and nothing after exit is run") {
  EdgeFixture edge;
  const LinesResult result = RunTelnetLines(
      "put m 1 1 a=b\nput m x 1 a=b\nfoo\nput m 2 y a=b\nexit\nput m 3 1 a=b\n", edge.services);
  CHECK(result.text ==
        "put: invalid value: Invalid character 'x' in x\nunknown command: foo.  Try `help'.\n"
        "put: invalid value: Invalid character 'y' in y\n");
  CHECK(result.close);
  CHECK(result.used == 51);
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE("lines with long replies are run in parts") {
  EdgeFixture edge;
  for (const std::string line : {"stats\n", "help\n", "foo\n", "put\n", "put m 1 1 a!=b\n"}) {
    CAPTURE(line);
    constexpr size_t kLines = 10000;
    std::string lines;
    for (size_t i = 0; i < kLines; ++i) lines += line;
    const std::string once = Say(edge, line);
    const LinesResult result = RunTelnetLines(lines, edge.services);
    CHECK(result.text.size() < 32 * 1024);
    CHECK(result.used > 0);
    CHECK(result.used % line.size() == 0);
    CHECK(result.used / line.size() == result.text.size() / once.size());
  }
}

TEST_CASE("lines behind stats wait until its reply was sent") {
  EdgeFixture edge;
  const std::string lines = "put m 1 1 a=b\nstats\nput m 2 1 a=b\nstats\n";
  const LinesResult result = RunTelnetLines(lines, edge.services);
  CHECK(result.used == std::string("put m 1 1 a=b\nstats\n").size());
  CHECK(result.text.size() > 100);
  CHECK(edge.counters.points_added.load() == 1);
}

TEST_CASE("if the client does not read, lines are run without replies") {
  EdgeFixture edge;
  const std::string lines = "put m x 1 a=b\nstats\nput m 1 1 a=b\nfoo\nput m 2 1 a!=b\n";
  const LinesResult result = RunTelnetLines(lines, edge.services, {.muted = true});
  CHECK(result.text.empty());
  CHECK(result.used == lines.size());
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE("a read-only daemon does not know put") {
  EdgeFixture edge;
  edge.options.mode = Mode::kReadOnly;
  CHECK(Say(edge, "put m 1 1 a=b\n") == "unknown command: put.  Try `help'.\n");
  CHECK(edge.Cells().empty());
}

TEST_CASE(
    "RunTelnetLines does not wait for a busy store: the caller must pass refused lines again") {
  EdgeFixture edge;
  const std::string lines = "put m x 1 a=b\nfoo\nput m 1 1 a=b\nput m y 1 a=b\nput m 2 1 a=b\n";
  edge.points.RefuseAppends(2);
  LinesResult result = RunTelnetLines(lines, edge.services);
  CHECK(result.busy);
  CHECK(result.used == 18);
  CHECK(result.text ==
        "put: invalid value: Invalid character 'x' in x\nunknown command: foo.  Try `help'.\n");
  const std::string_view rest = std::string_view(lines).substr(result.used);
  result = RunTelnetLines(rest, edge.services, {.after_busy = true});
  CHECK(result.busy);
  CHECK(result.used == 0);
  CHECK(result.text.empty());
  result = RunTelnetLines(rest, edge.services, {.after_busy = true});
  CHECK_FALSE(result.busy);
  CHECK(result.used == rest.size());
  CHECK(result.text == "put: invalid value: Invalid character 'y' in y\n");
  CHECK(edge.Cells().size() == 2);
  CHECK(edge.counters.rpc_put.load() == 4);
  CHECK(edge.counters.points_added.load() == 2);
}

TEST_CASE("lines before an invalid one are stored together, and each line is run once") {
  EdgeFixture edge;
  const std::string lines = "put m 1 1 a=b\nput m 2 1 a=b!\nput m 3 1 a=c\n";
  edge.points.before_append = [&] {
    if (edge.points.appends == 2) edge.points.RefuseAppends(1);
  };
  LinesResult result = RunTelnetLines(lines, edge.services);
  CHECK(result.busy);
  CHECK(result.used == lines.find("put m 3"));
  CHECK(edge.Cells().size() == 1);
  result = RunTelnetLines(std::string_view(lines).substr(result.used), edge.services);
  CHECK_FALSE(result.busy);
  CHECK(edge.Cells().size() == 2);
  CHECK(edge.counters.rpc_put.load() == 3);
  CHECK(edge.counters.rpc_telnet.load() == 3);
  CHECK(edge.counters.points_added.load() == 2);
}

TEST_CASE("an unreachable store is treated like a busy one") {
  EdgeFixture edge;
  const std::string lines = "put m 1 1 a=b\nput m x 1 a=b\n";
  edge.points.RefuseAppends(1, Status::Unavailable("older writes wait for HBase"));
  const LinesResult result = RunTelnetLines(lines, edge.services);
  CHECK(result.busy);
  CHECK(result.used == 0);
  CHECK(result.text.empty());
  CHECK(Say(edge, lines) == "put: invalid value: Invalid character 'x' in x\n");
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE("lines whose commit fails count as not run") {
  EdgeFixture edge;
  const std::string lines = "put m 1 1 a=b\nput m x 1 a=b\nfoo\nexit\n";
  edge.points.Hold();
  std::thread log([&] {
    while (edge.points.held() == 0) std::this_thread::yield();
    edge.points.Release(Status::Unavailable("the log cannot be written to for now"));
  });
  LinesResult result = RunTelnetLines(lines, edge.services);
  log.join();
  CHECK(result.busy);
  CHECK_FALSE(result.close);
  CHECK(result.used == 0);
  CHECK(result.text.empty());
  result = RunTelnetLines(lines, edge.services, {.after_busy = true});
  CHECK_FALSE(result.busy);
  CHECK(result.close);
  CHECK(result.text ==
        "put: invalid value: Invalid character 'x' in x\nunknown command: foo.  Try `help'.\n");
  CHECK(edge.Cells().size() == 1);
}

TEST_CASE("without rollups, the earlier checks still report their errors first") {
  EdgeFixture edge;
  const auto say = [&](const std::string& line) { return Say(edge, "rollup " + line + "\n"); };
  CHECK(say("1h-sum m 1700000000 1 a=b") ==
        "rollup: illegal argument: No rollup or aggregations were configured\n");
  CHECK(say("1h-sum m x=y 1 a=b") == "rollup: invalid value: Invalid character 'x' in x=y\n");
  CHECK(
      say("t.f m 1700000000 1 a=b") ==
      "rollup: illegal argument: Invalid group by aggregator t.f with metric m {null=T.F, a=b}\n");
  CHECK(say("-sum m 1700000000 1 a=b") ==
        "rollup: HBase error: Interval cannot be null for a non-group by point\n");
  CHECK(say("sum m 1700000000 1 a=b") ==
        "rollup: illegal argument: Invalid tag name with value [SUM]: null\n");
}

TEST_CASE("the id of a histogram is a 32-bit integer, and any other word is its value") {
  EdgeFixture edge;
  GatedAggregates aggregates;
  edge.options.histogram_codec_id = 0;
  edge.services.histograms = &aggregates;
  CHECK(Say(edge, "histogram m 1700000000 2147483648 a=b\n").empty());
  CHECK(Say(edge, "histogram m 1700000000 2147483648 AA= a=b\n") ==
        "histogram: illegal argument: invalid tag: AA=\n");
  const std::pair<const char*, const char*> ids[] = {{"300", "300"}, {"+042", "42"}, {"-1", "-1"}};
  for (const auto& [id, shown] : ids) {
    CHECK(Say(edge, "histogram m 1700000000 " + std::string(id) + " AA= a=b\n") ==
          "histogram: HBase error: No codec found mapped to ID " + std::string(shown) + "\n");
  }
  CHECK(aggregates.taken.empty());
}

TEST_CASE("histograms and rollups wait for a busy store, like points") {
  EdgeFixture edge;
  GatedAggregates aggregates;
  edge.options.histogram_codec_id = 0;
  edge.services.histograms = &aggregates;
  edge.services.rollups = &aggregates;
  const std::string lines =
      "put m 1 1 a=b\nhistogram m 2 0,1=5 a=b\nrollup 1h-sum m 3 1 a=b\nput m 4 1 a=b\n";
  const std::string_view text = lines;
  aggregates.refusals = 1;
  LinesResult result = RunTelnetLines(text, edge.services);
  CHECK(result.busy);
  CHECK(result.text.empty());
  CHECK(result.used == text.find("histogram"));
  CHECK(edge.Cells().size() == 1);
  CHECK(Say(edge, text.substr(result.used, text.find("rollup") - result.used)).empty());
  aggregates.refusals = 1;
  result = RunTelnetLines(text.substr(text.find("rollup")), edge.services, {.after_busy = true});
  CHECK(result.busy);
  CHECK(result.used == 0);
  CHECK(Say(edge, text.substr(text.find("rollup"))).empty());
  CHECK(aggregates.taken == std::vector<std::string>{"histogram m 2", "rollup m 3"});
  CHECK(edge.Cells().size() == 2);
  CHECK(edge.counters.rpc_telnet.load() == 4);
}

TEST_CASE("refusals of the store are reported unless telnet_return_errors is off") {
  EdgeFixture edge;
  for (const bool said : {true, false}) {
    edge.options.telnet_return_errors = said;
    edge.points.Hold();
    std::thread log([&] {
      while (edge.points.held() == 0) std::this_thread::yield();
      edge.points.Release(Status::IoError("the log is full"));
    });
    CHECK(Say(edge, "put m 1 1 a=b\nput m x 1 a=b\nput m! 1 1 a=b\n") ==
          "put: invalid value: Invalid character 'x' in x\n"
          "put: illegal argument: Invalid metric name (\"m!\"): illegal character: !\n" +
              std::string(said ? "put: HBase error: the log is full\n" : ""));
    log.join();
  }
}

TEST_CASE("the fast path and the slow path of put lines agree") {
  const std::vector<std::string> words[] = {
      {"put", "put", "put", "put", "put", "Put"},
      {"m", "m", "n.x", "", "m!", "m\xE9"},
      {"1700000000", "1700000001", "1700000000123", "01700000000", "1700000000.5", "0", "x",
       "99999999999999"},
      {"1", "-2", "3.5", "1.1", "+4", "007", "1e2", "1e-400", "x", "", "5.", "-0", "-0.0"},
      {"host=a", "host=b", "host=a dc=x", "dc=x  host=a ", "host=a host=b", "host", "",
       "host=a b=a:c"}};
  std::mt19937 random(11);
  EdgeFixture exact, fast;
  int taken = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string line;
    for (const auto& choices : words) {
      const bool plain = random() % 6 != 0;
      line += (line.empty() ? "" : " ") + choices[random() % (plain ? 3 : choices.size())];
    }
    CAPTURE(line);
    const std::string wanted = Say(exact, line + "\n");
    std::vector<KeyedPoint> points;
    const std::string sent = line + "\n";  // the points borrow its bytes
    if (ParsePutLines(sent, &points)) {
      REQUIRE(points.size() == 1);
      const auto appended = fast.ingest.AppendKeyed(points, WriteContext::Unlimited());
      REQUIRE(appended.ok());
      if (appended->known) {
        ++taken;
        CHECK(wanted.empty());
        continue;
      }
    }
    CHECK(Say(fast, line + "\n") == wanted);
  }
  CHECK(exact.Cells() == fast.Cells());
  CHECK(exact.Ids() == fast.Ids());
  CHECK(taken > 1000);
}

TEST_CASE("put lines that are stored together are parsed like single ones") {
  const char* const starts[] = {"put m ", "put m ",  "put cpu.usage_user.of.the.host ",
                                "put  ",  "put m\t", "PUT m "};
  const char* const times[] = {"1700000000", "1700000000",  "1700000001",
                               "170000000",  "17000000001", "0"};
  const char* const ends[] = {"host=a dc=x", "host=a dc=x",   "host=a dc=xy",
                              "host=a dc=",  "host=a dc=x\r", "",
                              "\r",          "host=a\tdc=x"};
  std::mt19937 random(5);
  int taken = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string lines;
    std::vector<std::string> each;
    for (int i = 0; i < 4; ++i) {
      const size_t odd = random() % 30 == 0 ? 6 : 3;
      each.push_back(starts[random() % odd] + std::string(times[random() % odd]) + " 1." +
                     std::to_string(i) + " " + ends[random() % (odd + 2)] +
                     (random() % 4 == 0 ? "\r\n" : "\n"));
      lines += each.back();
    }
    CAPTURE(lines);
    std::vector<KeyedPoint> together, alone;
    bool all = true;
    for (const std::string& line : each) {
      std::vector<KeyedPoint> one;
      all = ParsePutLines(line, &one) && all;
      if (all) alone.push_back(one.at(0));
    }
    REQUIRE(ParsePutLines(lines, &together) == all);
    if (!all) continue;
    ++taken;
    REQUIRE(together.size() == alone.size());
    for (size_t i = 0; i < alone.size(); ++i) {
      const bool same = together[i].series.metric == alone[i].series.metric &&
                        together[i].series.tags == alone[i].series.tags &&
                        together[i].series.dialect == Dialect::kWords &&
                        together[i].time.raw == alone[i].time.raw &&
                        together[i].value == alone[i].value;
      CHECK(same);
    }
  }
  CHECK(taken > 10000);
}

TEST_CASE("the fast path does not accept a truncated put line") {
  const std::string line = "put m 1700000000 1 host=a\n";
  std::vector<KeyedPoint> points;
  for (size_t size = 1; size < line.size(); ++size)
    CHECK_FALSE(ParsePutLines(line.substr(0, size), &points));
  CHECK_FALSE(ParsePutLines(line + line.substr(0, line.size() - 1), &points));
  REQUIRE(ParsePutLines(line + line, &points));
  CHECK(points[0].series.tags.data() == points[1].series.tags.data());
}

TEST_CASE("a new series without memory is refused at once, and known series continue") {
  EdgeFixture edge;
  REQUIRE(Say(edge, "put m 1700000000 1 host=a\n").empty());
  edge.points.RefuseNewSeries(Status::Exhausted("no memory for series"));
  CHECK(Say(edge,
            "put m 1700000001 1 host=a\nput m 1700000001 1 host=new\n"
            "put m 1700000002 1 host=a\n") ==
        "put: Please throttle writes: no memory for series\n");
  CHECK(edge.Cells().size() == 3);
  CHECK(edge.counters.put_writes_blocked.load() == 1);
}

}  // namespace hg::http
