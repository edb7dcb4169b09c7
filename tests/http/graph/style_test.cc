#include "http/graph/style.h"

#include <doctest/doctest.h>

#include <string>

namespace hg::http::graph {
namespace {

Result<Style> Read(std::initializer_list<std::pair<const char*, const char*>> given) {
  Parameters parameters;
  for (const auto& [name, value] : given) parameters.Add(name, value);
  return ReadStyle(parameters);
}

bool Refused(const char* name, const std::string& value) {
  const Status status = Read({{name, value.c_str()}}).status();
  return status.code() == StatusCode::kInvalidArgument &&
         status.message().find(name) != std::string_view::npos;
}

TEST_CASE("a plot without parameters has OpenTSDB's size, a white background and a legend") {
  const auto style = Read({});
  REQUIRE(style.ok());
  CHECK(style->width == 1024);
  CHECK(style->height == 768);
  CHECK(style->background == Color{255, 255, 255});
  CHECK(style->legend.shown);
  CHECK(style->legend.across == Place::kEnd);
  CHECK(style->form == LineForm::kLines);
}

TEST_CASE("every parameter is read") {
  const auto style = Read({{"wxh", "640x480"},
                           {"yrange", "[0:1.5e3]"},
                           {"y2range", "[:7]"},
                           {"ylabel", "left"},
                           {"y2label", "right"},
                           {"yformat", "%5.2f ms"},
                           {"y2format", "%.1s%cB"},
                           {"ylog", ""},
                           {"title", "T"},
                           {"bgcolor", "x102030"},
                           {"fgcolor", "xFFeeDD"},
                           {"key", "out center bottom horiz box"},
                           {"smooth", "csplines"},
                           {"style", "linespoint"}});
  REQUIRE_MESSAGE(style.ok(), style.status().message());
  CHECK(style->width == 640);
  CHECK(style->left.low == 0.0);
  CHECK(style->left.high == 1500.0);
  CHECK_FALSE(style->right.low.has_value());
  CHECK(style->right.high == 7.0);
  CHECK(style->left.label == "left");
  CHECK(style->right.label == "right");
  CHECK(style->left.format == "%5.2f ms");
  CHECK(style->left.logarithmic);
  CHECK_FALSE(style->right.logarithmic);
  CHECK(style->title == "T");
  CHECK(style->background == Color{0x10, 0x20, 0x30});
  CHECK(style->foreground == Color{0xFF, 0xEE, 0xDD});
  CHECK(style->legend.outside);
  CHECK(style->legend.horizontal);
  CHECK(style->legend.box);
  CHECK(style->legend.across == Place::kCenter);
  CHECK(style->legend.along == Place::kEnd);
  CHECK(style->smoothing == Smoothing::kCurve);
  CHECK(style->form == LineForm::kLinesAndPoints);
  CHECK_FALSE(Read({{"nokey", ""}})->legend.shown);
  CHECK_FALSE(Read({{"bgcolor", "transparent"}})->background.has_value());
}

TEST_CASE("invalid values are refused, and the error names the parameter") {
  for (const char* size : {"100", "x100", "99x100", "100x99", "100x100x", "-100x100", "9000x100",
                           "8000x8000", "100x1e3", "4294967396x100"})
    CHECK_MESSAGE(Refused("wxh", size), size);
  for (const char* range : {"0:1", "[0]", "[1:0]", "[1:1]", "[a:1]", "[0:1", "[NaN:1]", "[0:1e999]",
                            "[0:1]; system \"x\""})
    CHECK_MESSAGE(Refused("yrange", range), range);
  for (const char* format :
       {"%n", "%s%s%s", "%.999f", "%d", "%", "%*f", "%lf", "a\nb", "%hhn", "%99999999f"})
    CHECK_MESSAGE(Refused("yformat", format), format);
  for (const char* color : {"red", "x12345", "x1234567", "xGGGGGG", "transparent"})
    CHECK_MESSAGE(Refused("fgcolor", color), color);
  CHECK(Refused("key", "out `reboot`"));
  CHECK(Refused("smooth", "no"));
  CHECK(Refused("style", "lines; !"));
  CHECK(Refused("title", std::string(513, 'x')));
}

TEST_CASE("empty parameters count as absent") {
  CHECK(Read({{"wxh", ""}, {"yrange", ""}, {"key", ""}, {"style", ""}, {"yformat", ""}}).ok());
}

}  // namespace
}  // namespace hg::http::graph
