#include "tsd/tools/query_graph.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/file_text.h"

namespace hg::tsd {
namespace {

http::graph::Plot TwoLines() {
  http::graph::Plot plot;
  plot.begin_ms = 1700000000000;
  plot.end_ms = 1700003600000;
  plot.style.width = 200;
  plot.style.height = 150;
  plot.lines = {{"m{host=a}", {{1700000000000, 1}, {1700000060000, 2.5}}, false},
                {"m{host=b}", {{1700000000000, -3}}, true}};
  return plot;
}

TEST_CASE("words with a plus sign are parameters of the plot") {
  const auto parameters = PlotWords({"1h-ago", "+wxh=200x100", "+title=a=b", "sum", "m"});
  REQUIRE(parameters.ok());
  CHECK(*parameters->Find("wxh") == "200x100");
  CHECK(*parameters->Find("title") == "a=b");
  CHECK(parameters->items().size() == 2);
  CHECK(PlotWords({"+nokey"}).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a plot consists of a data file per line, a script and an image") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("query_graph_test." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string base = (folder / "out").string();
  REQUIRE(WritePlotFiles(base, TwoLines()).ok());
  CHECK(TextOf(base + "_0.dat") == "1700000000 1.0\n1700000060 2.5\n");
  CHECK(TextOf(base + "_1.dat") == "1700000000 -3.0\n");
  CHECK(TextOf(base + ".gnuplot") == GnuplotScript(base, TwoLines()));
  CHECK(TextOf(base + ".png").starts_with("\x89PNG"));
  std::filesystem::remove_all(folder);
  const Status failed = WritePlotFiles(base, TwoLines());
  CHECK(failed.code() == StatusCode::kIoError);
  CHECK(failed.message().find(base) != std::string_view::npos);
}

TEST_CASE("the gnuplot script has the titles of the lines and their axis") {
  const std::string script = GnuplotScript("B", TwoLines());
  CHECK(script.find("plot 'B_0.dat' using 1:2 with lines title 'm{host=a}', \\\n"
                    "     'B_1.dat' using 1:2 with lines title 'm{host=b}' axes x1y2\n") !=
        std::string::npos);
  CHECK(script.find("set y2tics") != std::string::npos);
}

TEST_CASE("no text can end its quotes in the gnuplot script, so the script can only plot") {
  http::graph::Plot plot = TwoLines();
  const std::string hostile = "x' ; system \"reboot\"\n!reboot `reboot` $(reboot)\r";
  plot.style.title = plot.style.left.label = plot.style.right.label = hostile;
  plot.lines[0].title = hostile;
  const std::string script = GnuplotScript("it's", plot);
  CHECK(script.find("set title 'x'' ; system \"reboot\" !reboot `reboot` $(reboot) '\n") !=
        std::string::npos);
  CHECK(script.find("\n!") == std::string::npos);
  CHECK(script.find("'it''s_0.dat'") != std::string::npos);
}

}  // namespace
}  // namespace hg::tsd
