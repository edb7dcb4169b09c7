#include "http/wire/series_labels.h"

#include <doctest/doctest.h>

namespace hg::http {
namespace {

/// Returns "metric key=value …", or the error.
std::string Named(std::string_view metric, std::vector<Label> labels,
                  const NameRules& rules = NameRules()) {
  const auto series = NameSeries(metric, labels, {rules, "source", "unknown"});
  if (!series.ok()) return std::string(series.status().message());
  std::string text = series->metric;
  for (const auto& [key, value] : series->tags) text += " " + key + "=" + value;
  return text;
}

}  // namespace

TEST_CASE("labels are decoded as they were encoded") {
  const std::string large(1000, 'x');
  const std::vector<Label> labels = {{"a", "b"}, {"", ""}, {large, std::string_view("\0\x80", 2)}};
  Bytes keyed;
  AppendLabels(labels, &keyed);
  CHECK(ReadLabels(keyed) == labels);
  Bytes by_one;
  for (const Label& label : labels) AppendLabels({&label, 1}, &by_one);
  CHECK(by_one == keyed);
  CHECK(ReadLabels("").empty());
  CHECK(ReadLabels(Bytes(100, '\xff')).size() == 1);  // no number
}

TEST_CASE("labels that are split differently have different raw series keys") {
  Bytes one, other;
  const Label first{"ab", "c"}, second{"a", "bc"};
  AppendLabels({&first, 1}, &one);
  AppendLabels({&second, 1}, &other);
  CHECK(one != other);
}

TEST_CASE("a series gets legal names, with tags in the order of their ids") {
  CHECK(Named("http_requests_total", {{"job", "api"}, {"code", "200"}}) ==
        "http_requests_total code=200 job=api");
  CHECK(Named("a:b", {{"le", "+Inf"}, {"x y", "é"}}) == "a_x003A_b le=_x002B_Inf x_x0020_y=é");
  CHECK(Named("a:b", {{"x", "y:z"}}, NameRules(":")) == "a:b x=y:z");
  CHECK(Named("m", {{"a", ""}, {"b", "c"}}) == "m b=c");
}

TEST_CASE("a series without labels gets the default tag, which no label can produce") {
  CHECK(Named("m", {}) == "m source=unknown");
  CHECK(Named("m", {{"a", ""}}) == "m source=unknown");
  CHECK(Named("m", {{"source", "unknown"}}) == "m _x0073_ource=unknown");
  CHECK(Named("m", {{"source", "x"}}) == "m source=x");
  CHECK(Named("m", {{"source", "unknown"}, {"a", "b"}}) == "m a=b source=unknown");
}

TEST_CASE("the error of a series that cannot be named has the reason") {
  CHECK(Named("", {{"a", "b"}}) == "has no name");
  CHECK(Named("m", {{"", "b"}}) == "has a label without a name");
  CHECK(Named("m", {{"a", "b"}, {"c", "d"}, {"a", "b"}}) == "has the label a twice");
  CHECK(Named("m", {{"__name__", "b"}}) == "has the label __name__ twice");
  CHECK(Named("m\xFF", {{"a", "b"}}) == "has text that is not UTF-8");
}

TEST_CASE("a text that makes a name of more than 65534 bytes is refused") {
  std::string longest;
  for (int i = 0; i < 32767; ++i) longest += "é";
  CHECK(Named(longest, {{longest, longest}}) == longest + " " + longest + "=" + longest);
  // An escaped blank has seven bytes.
  for (const size_t size : {size_t{9363}, size_t{65535}, size_t{4} << 20}) {
    const std::string large(size, ' ');
    const std::string error =
        "has a text of " + std::to_string(size) + " bytes, which is too long for a name";
    CHECK(Named(large, {{"a", "b"}}) == error);
    CHECK(Named("m", {{large, "b"}}) == error);
    CHECK(Named("m", {{"a", large}}) == error);
  }
  CHECK(Named("m", {{"a", std::string(9362, ' ')}}).size() == 4 + 7 * 9362);
}

TEST_CASE("a series is shown as a shortened text") {
  const std::vector<Label> labels = {{"a", "b"}, {"c", "d"}};
  CHECK(SeriesText("m", labels) == R"(m{a="b", c="d"})");
  CHECK(SeriesText("m", {}) == "m{}");
  const std::string large(10000, 'x');
  const std::vector<Label> many(1000, {"a", large});
  CHECK(SeriesText("m", many).size() < 510);
}

}  // namespace hg::http
