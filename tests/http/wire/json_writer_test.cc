#include "http/wire/json_writer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "http/request/response_writer.h"

namespace hg::http {
namespace {

/// Counts the pieces, and disconnects after `pieces_max` of them.
class PieceCounter : public ResponseWriter {
 public:
  int pieces = 0;
  int pieces_max = 1 << 30;
  std::string body;

  void SetStatus(int) override {}
  void SetContentType(std::string_view) override {}
  void AddHeader(std::string_view, std::string_view) override {}
  bool Write(std::string_view bytes) override {
    body += bytes;
    return ++pieces < pieces_max;
  }
  [[nodiscard]] bool Started() const override { return pieces > 0; }
  void Reset() override {}
  [[nodiscard]] bool Cancelled() const override { return false; }
  void TakesLong() override {}
  void Cut() override {}
};

TEST_CASE("half a surrogate pair is escaped, and similar bytes are not") {
  const auto written = [](std::string_view text) {
    std::string out;
    JsonWriter(&out).String(text);
    return out;
  };
  CHECK(written("\xED\xB0\x80") == R"("\uDC00")");
  CHECK(written("\xED\xE0\x80") == "\"\xED\xE0\x80\"");
  CHECK(written("\xED\xB0(") == "\"\xED\xB0(\"");
  CHECK(written("\xED\x95\x9C") == "\"\xED\x95\x9C\"");
}

TEST_CASE("commas are written between values only") {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Member("a", 1);
  json.Key("b");
  json.BeginArray();
  json.EndArray();
  json.Key("c");
  json.BeginArray();
  json.Null();
  json.BeginObject();
  json.EndObject();
  json.Bool(true);
  json.EndArray();
  json.Key(int64_t{1700000000});
  json.Raw("{\"x\":[]}");
  json.EndObject();
  CHECK(out == R"({"a":1,"b":[],"c":[null,{},true],"1700000000":{"x":[]}})");
}

TEST_CASE("only quotes, backslashes and control characters are escaped") {
  std::string out;
  JsonWriter json(&out);
  json.BeginArray();
  json.String("a\"b\\c/d");
  json.String("\b\f\n\r\t");
  json.String(std::string("\x00\x01\x1f\x7f", 4));
  json.String("é\u2028");
  json.EndArray();
  CHECK(out == "[\"a\\\"b\\\\c/d\",\"\\b\\f\\n\\r\\t\",\"\\u0000\\u0001\\u001F\x7f\",\"é\u2028\"]");
}

TEST_CASE("numbers have Java's format, and NaN and infinities are strings") {
  std::string out;
  JsonWriter json(&out);
  json.BeginArray();
  json.Double(21);
  json.Double(1e7);
  json.Double(0.001);
  json.Double(-0.0);
  json.Double(std::nan(""));
  json.Double(-HUGE_VAL);
  json.Float(0.1F);
  json.Int(INT64_MIN);
  json.EndArray();
  CHECK(out == R"([21.0,1.0E7,0.001,-0.0,"NaN","-Infinity",0.1,-9223372036854775808])");
}

TEST_CASE("a long document is passed on in pieces of limited size") {
  PieceCounter response;
  JsonWriter json(&response);
  std::string expected = "[";
  json.BeginArray();
  for (int i = 0; i < 20000; ++i) {
    json.Int(i);
    expected += (i > 0 ? "," : "") + std::to_string(i);
  }
  json.EndArray();
  CHECK(response.pieces >= 2);
  CHECK(json.Finish());
  CHECK(response.body == expected + "]");
}

TEST_CASE("a writer stops when the client has gone") {
  PieceCounter response;
  response.pieces_max = 1;
  JsonWriter json(&response);
  json.BeginArray();
  for (int i = 0; i < 20000; ++i) json.Int(i);
  CHECK_FALSE(json.alive());
  CHECK_FALSE(json.Finish());
  CHECK(response.pieces == 1);
}

}  // namespace
}  // namespace hg::http
