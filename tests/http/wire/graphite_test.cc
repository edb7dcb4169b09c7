// Both formats of Graphite points. Python 3 created the pickles; the code is in the comments.

#include <doctest/doctest.h>

#include "http/wire/graphite_line.h"
#include "http/wire/pickle.h"
#include "tests/support/cpu_time.h"

namespace hg::http {
namespace {

constexpr Timestamp kNow{1700000099};

std::string Shown(const GraphitePoint& point) {
  GraphiteSeries series;
  const Status read = ReadGraphitePath(point.path, &series);
  if (!read.ok()) return std::string(read.message());
  std::string out = series.metric;
  for (const auto& [key, value] : series.tags) out += ";" + key + "=" + value;
  return out + " " + std::to_string(point.time.raw) + " " +
         (point.value.is_float() ? std::to_string(point.value.as_double()) + "f"
                                 : std::to_string(point.value.as_int()));
}

std::string Line(std::string_view line) {
  const Result<GraphitePoint> point = ParseGraphiteLine(line, kNow);
  return point.ok() ? Shown(*point) : std::string(point.status().message());
}

/// Returns the points and the errors of other elements, one per line.
std::string Pickle(std::string_view pickle) {
  Result<PickledPoints> points = PickledPoints::Parse(pickle, kNow);
  if (!points.ok()) return std::string(points.status().message());
  std::string out;
  while (const auto point = points->Next())
    out += (point->ok() ? Shown(**point) : std::string(point->status().message())) + "\n";
  return out;
}

std::string ShownBytes(std::string_view text) { return std::string(text); }

struct Case {
  const char* line;
  const char* outcome;
};

constexpr const char* kPoints = "a.b;h=x 1700000000 1.500000f\nc 1700000001 7\n";

}  // namespace

TEST_CASE("a Graphite line has a path with tags, a value and a time") {
  const Case cases[] = {
      {"servers.web1.load 1.5 1700000000", "servers.web1.load 1700000000 1.500000f"},
      {"a.b;host=x;dc=y 42 1700000000\r", "a.b;host=x;dc=y 1700000000 42"},
      {"  a \t -7   1700000000.25 ", "a 1700000000250 -7"},
      {"a 1e3 1700000000.123", "a 1700000000123 1000.000000f"},
      {"a 18446744073709551616 1700000000", "a 1700000000 18446744073709551616.000000f"},
      {"a 1 -1", "a 1700000099 1"},
      {"a 1 N", "a 1700000099 1"},
      {"a 1", "\"a 1\" is no PATH VALUE TIME"},
      {"a 1 2 3", "\"a 1 2 3\" is no PATH VALUE TIME"},
      {"a nan 1700000000", "the value \"nan\" is no finite number"},
      {"a 1x 1700000000", "the value \"1x\" is no finite number"},
      {"a 1 now", "the time \"now\" is no number"},
      {"a 1 -2",
       "the time -2.0 s cannot be stored: times go from 1970-01-01T00:00:01Z to "
       "2106-02-07T06:28:15.999Z, until 1970-02-19T17:02:47Z in whole seconds"},
      {"a 1 1700000000000",
       "the time 1.7E12 s cannot be stored: times go from 1970-01-01T00:00:01Z to "
       "2106-02-07T06:28:15.999Z, until 1970-02-19T17:02:47Z in whole seconds"},
      {";h=x 1 2", "the path \";h=x\" begins without a name"},
      {"a;h 1 2", "the tag \"h\" of the path \"a;h\" is no KEY=VALUE"},
      {"a;h= 1 2", "the tag \"h=\" of the path \"a;h=\" is no KEY=VALUE"},
      {"a;=x 1 2", "the tag \"=x\" of the path \"a;=x\" is no KEY=VALUE"},
      {"a; 1 2", "the path \"a;\" ends with ;"},
      {"a;h=1;h=2 1 2", "the tag \"h\" occurs twice in the path \"a;h=1;h=2\""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.line);
    CHECK(Line(c.line) == c.outcome);
  }
  CHECK(Line(std::string(9000, 'a') + " 1 2").find("is longer than 8192 bytes") !=
        std::string::npos);
}

TEST_CASE("the fast path parses plain lines like the slow path, and leaves other lines to it") {
  const char* const words[][8] = {
      {"a.b;host=x;dc=y", "c", "a:b;c=d", ";a=b", "a;", "a\tb", " a", ""},
      {" ", " ", " ", " ", "  ", "\t", "", " \t"},
      {"1", "-2.5", "1e3", "+1", "nan", "1.", "9223372036854775808", ""},
      {" ", " ", " ", " ", "  ", "\v", "", " \r"},
      {"1700000000", "1", "4294967295", "4294967296", "1700000000.5", "-1", "N", "0"},
      {"\n", "\r\n", "\n", "\n", " \n", "\r\r\n", "\r", ""}};
  int taken = 0;
  for (uint32_t round = 0; round < 1u << 18; ++round) {
    std::string line;
    for (size_t i = 0; i < 6; ++i) line += words[i][round >> 3 * i & 7];
    const std::string text = line + "next";
    std::string_view rest = text;
    GraphitePoint point;
    if (!TakePlainGraphiteLine(&rest, &point)) {
      if (rest.data() != text.data()) FAIL_CHECK(line);
      continue;
    }
    ++taken;
    const size_t lf = text.find('\n');
    const bool good = rest == text.substr(lf + 1) && Shown(point) == Line(text.substr(0, lf)) &&
                      GraphitePath(RawKeyOfGraphitePath(point.path)) == point.path;
    if (!good) FAIL_CHECK(line);
  }
  CHECK(taken > 1000);
  const std::string longest = std::string(kGraphitePathBytesMax, 'a');
  GraphitePoint point;
  for (const std::string& path : {longest, longest + "a"}) {
    const std::string line = path + " 1 2\n";
    std::string_view rest = line;
    CHECK(TakePlainGraphiteLine(&rest, &point) == (path == longest));
  }
}

TEST_CASE("the raw series key of a path consists of its metric and its tags") {
  CHECK(RawKeyOfGraphitePath("a.b;c=d;e=f").metric == "a.b");
  CHECK(RawKeyOfGraphitePath("a.b;c=d;e=f").tags == ";c=d;e=f");
  CHECK(RawKeyOfGraphitePath("a.b").metric == "a.b");
  CHECK(RawKeyOfGraphitePath("a.b").tags.empty());
}

// pickle.dumps([("é.😀", (1, 2.0)), ("a\\b\r€", (2, 3))], 0)
TEST_CASE("texts of protocol 0 are ISO-8859-1 with escapes of four and eight digits") {
  CHECK(Pickle("(lp0\n(V\xe9.\\U0001f600\np1\n(I1\nF2.0\ntp2\ntp3\na"
               "(Va\\u005cb\\u000d\\u20ac\np4\n(I2\nI3\ntp5\ntp6\na.") ==
        "é.😀 1 2.000000f\na\\b\r€ 2 3\n");
  // This is not a code point, so it is not an escape and stays unchanged.
  CHECK(Pickle("(l(V\\U00110000\n(I1\nI2\ntta(V\\U0001f60\n(I1\nI2\ntta.") ==
        "\\U00110000 1 2\n\\U0001f60 1 2\n");
}

// points = [("a.b;h=x", (1700000000, 1.5)), ("c", (1700000001, 7))]
TEST_CASE("points pickled by Python are parsed, in every pickle protocol") {
  // pickle.dumps(points, protocol=0)
  CHECK(Pickle("(lp0\n(Va.b;h=x\np1\n(I1700000000\nF1.5\ntp2\ntp3\na(Vc\np4\n(I1700000001\nI7\n"
               "tp5\ntp6\na.") == kPoints);
  // The same by Python 2, which writes texts in quotes.
  CHECK(Pickle("(lp0\n(S'a.b;h=x'\np1\n(I1700000000\nF1.5\ntp2\ntp3\na(S\"c\"\np4\n(L1700000001L\n"
               "I7\ntp5\ntp6\na.") == kPoints);
  using namespace std::string_view_literals;
  // protocol=1
  CHECK(Pickle("]q\x00((X\x07\x00\x00\x00\x61.b;h=xq\x01(J\x00\xf1Se"
               "G?\xf8\x00\x00\x00\x00\x00\x00tq\x02tq\x03(X\x01\x00\x00\x00"
               "cq\x04(J\x01\xf1SeK\x07tq\x05tq\x06"
               "e."sv) == kPoints);
  // protocol=2
  CHECK(Pickle("\x80\x02]q\x00(X\x07\x00\x00\x00\x61.b;h=xq\x01J\x00\xf1Se"
               "G?\xf8\x00\x00\x00\x00\x00\x00\x86q\x02\x86q\x03X\x01\x00\x00\x00"
               "cq\x04J\x01\xf1SeK\x07\x86q\x05\x86q\x06"
               "e."sv) == kPoints);
  // protocol=4
  CHECK(Pickle("\x80\x04\x95\x30\x00\x00\x00\x00\x00\x00\x00]\x94(\x8c\x07\x61.b;h=x\x94J\x00\xf1Se"
               "G?\xf8\x00\x00\x00\x00\x00\x00\x86\x94\x86\x94\x8c\x01"
               "c\x94J\x01\xf1SeK\x07"
               "\x86\x94\x86\x94"
               "e."sv) == kPoints);
}

TEST_CASE("a pickle may memoize objects under any numbers") {
  using namespace std::string_view_literals;
  // Python 2 numbers objects from 1 on. Each path except the first is a reference to the first one.
  std::string counted = "]q\x01(Va\nq\x02I1\nI5\n\x86\x86", shown = "a 1 5\n";
  for (int i = 3; i < 200; ++i) {
    counted += std::string("h\x02I1\nI5\n\x86q") + static_cast<char>(i) + "\x86";
    shown += "a 1 5\n";
  }
  CHECK(Pickle(counted + "e.") == shown);
  // The numbers are far apart, in between, or repeated.
  CHECK(Pickle("((Va\nr\x00\x0f\x00\x00p5\np1000\n(I1\nI2\ntt(j\x00\x0f\x00\x00(I3\nI4\ntt"
               "(g5\n(I5\nI6\ntt(Vb\np1000\n(I7\nI8\ntt(g1000\n(I9\nI10\ntp5\nt(Vc\ng5\ntt."sv) ==
        "a 1 2\na 3 4\na 5 6\nb 7 8\nb 9 10\nc 9 10\n");
  CHECK(Pickle("(g0\n."sv).find("offset 1 of the pickle") != std::string::npos);
  CHECK(Pickle("(Va\np9\ng8\n."sv).find("offset 7 of the pickle") != std::string::npos);
}

TEST_CASE("numbers of a pickle may be long, negative, or texts") {
  using namespace std::string_view_literals;
  CHECK(Pickle("(lp0\n(Va\n(F1700000000.25\nI-5\ntta.") == "a 1700000000250 -5\n");
  CHECK(Pickle("(l(Va\n(I-1\nV2.5\ntta.") == "a 1700000099 2.500000f\n");
  // LONG1 of two bytes, -256.
  CHECK(Pickle("(l(Va\n(I5\n\x8a\x02\x00\xfftta."sv) == "a 5 -256\n");
  CHECK(Pickle("(l(Va\n(I5\n\x88tta."sv) == "a 5 1\n");
}

TEST_CASE("elements of a pickle that are not points are refused, and the others are accepted") {
  CHECK(Pickle("(l(Va\n(I1\nI2\ntta(Vb\nI3\ntaI4\na(Vc\n(I1\nNtta(Vd\n(I1\nFnan\ntta.") ==
        "a 1 2\n"
        "an element of the pickle is no (path, (time, value))\n"
        "an element of the pickle is no (path, (time, value))\n"
        "c: the value is no finite number\n"
        "d: the value is no finite number\n");
}

TEST_CASE("a pickle that would execute something, or is invalid, is refused") {
  const auto wrong = [](const char* byte, int offset) {
    return "byte " + ShownBytes(byte) + " at offset " + std::to_string(offset) +
           " of the pickle does not belong to a list of (path, (time, value)) with texts and "
           "numbers";
  };
  using namespace std::string_view_literals;
  // GLOBAL, REDUCE: os.system("…")
  CHECK(Pickle("cos\nsystem\n(S'x'\ntR.") == wrong("0x63", 0));
  CHECK(Pickle("(lR.") == wrong("0x52", 2));
  // BUILD, INST, OBJ, NEWOBJ, STACK_GLOBAL, EXT1, PERSID, DICT
  for (const char opcode : "b\x69o\x81\x93\x82Pd"sv) {
    CAPTURE(opcode);
    CHECK(Pickle("(l" + std::string(1, opcode) + ".").find("offset 2 of the pickle") !=
          std::string::npos);
  }
  CHECK(Pickle("") == "the pickle ends before its end mark");
  CHECK(Pickle("(l") == "the pickle ends before its end mark");
  CHECK(Pickle(".") == wrong("0x2e", 0));
  CHECK(Pickle("(.") == wrong("0x2e", 1));
  CHECK(Pickle("t.") == wrong("0x74", 0));
  CHECK(Pickle("a.") == wrong("0x61", 0));
  CHECK(Pickle("X\xff\xff\xff\xffx.") == wrong("0x58", 0));
  CHECK(Pickle("h\x05."sv) == wrong("0x68", 0));
  CHECK(Pickle("I12") == wrong("0x49", 0));
  CHECK(Pickle("I1\n.") == "the pickle is no list");
  // A list that contains itself.
  CHECK(Pickle("]q\x01h\x01"
               "a."sv) == "an element of the pickle is no (path, (time, value))\n");
}

TEST_CASE("a pickle of very many objects is refused") {
  CHECK(Pickle(std::string(300000, ']') + ".").find("offset 262144 of the pickle") !=
        std::string::npos);
  // Objects that are pushed again (DUP, BINGET) or memoized (MEMOIZE), with one or two bytes each.
  CHECK(Pickle("](" + std::string(1'000'000, '2') + "e.").find("offset 262144 of the pickle") !=
        std::string::npos);
  std::string gets = "]q\x01(";
  for (int i = 0; i < 300'000; ++i) gets += "h\x01";
  CHECK(Pickle(gets + "e.").find("offset 524288 of the pickle") != std::string::npos);
  CHECK(Pickle("]" + std::string(300'000, '\x94') + ".").find("offset 262145 of the pickle") !=
        std::string::npos);
}

TEST_CASE("memo numbers in a pickle cannot cause slow hash collisions") {
  // 107897 is a possible size of std::unordered_map; a number and its multiples would fall into one
  // slot.
  std::string pickle = "((Va\nI1\n";
  for (uint64_t i = 1; i <= 100'000; ++i) {
    pickle += "r";
    const uint64_t number = i * 30011 % (uint64_t{1} << 32);
    for (int byte = 0; byte < 4; ++byte) pickle += static_cast<char>(number >> 8 * byte);
  }
  CHECK(CpuSecondsOf([&] { (void)Pickle(pickle + "tt."); }) < 3);
  // Uses multiples of each prime that is a size of the table while it grows.
  for (const uint64_t prime :
       {13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933}) {
    std::string multiples = "((Va\nI1\n";
    for (uint64_t i = 1; i <= 20'000; ++i) {
      multiples += "p" + std::to_string(i * prime * 1000) + "\n";
    }
    CHECK(CpuSecondsOf([&] { (void)Pickle(multiples + "tt."); }) < 2);
  }
}

TEST_CASE("a pickle cannot have one long text parsed once for each of very many references to it") {
  const auto point = [](const std::string& path, const std::string& time,
                        const std::string& value) {
    return "(V" + path + "\n(V" + time + "\nV" + value + "\ntt";
  };
  std::string tags = "a";
  for (int i = 0; tags.size() < 8000; ++i) tags += ";k" + std::to_string(i) + "=v";
  const std::string digits(500'000, '1'), references(250'000, '2');
  for (const std::string& one :
       {point("a", digits, "1"), point("a", "1", digits), point(digits, "1", "1"),
        point(digits, "x", "1"), point(tags, "x", "1"), point(tags, "1", "nan")}) {
    CAPTURE(one.substr(0, 20));
    std::string shown;
    CHECK(CpuSecondsOf([&] { shown = Pickle("(" + one + references + "t."); }) < 2);
    CHECK(shown.find("the texts of the points of a pickle have ") == 0);
  }
  // Backfill: very many points of one series, and the series has a long path.
  const std::string path = tags.substr(0, tags.rfind(';', 500));
  std::string shared = "(V" + path + "\np0\n0";
  for (int i = 0; i < 20'000; ++i) shared += "(g0\n(I1700000000\nI1\ntt";
  std::string expected;
  for (int i = 0; i < 20'000; ++i) expected += path + " 1700000000 1\n";
  CHECK(Pickle(shared + "t.") == expected);
}

TEST_CASE("a path with very many tags is parsed without comparing all pairs of tags") {
  std::string good = "a";
  for (int i = 0; good.size() < kGraphitePathBytesMax - 8; ++i)
    good += ";" + std::to_string(i) + "=v";
  GraphiteSeries series;
  CHECK(CpuSecondsOf([&] {
          for (int i = 0; i < 500; ++i) REQUIRE(ReadGraphitePath(good, &series).ok());
        }) < 1.5);
  CHECK_FALSE(ReadGraphitePath(good + ";0=v", &series).ok());
}

}  // namespace hg::http
