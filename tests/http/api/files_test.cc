#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

/// A directory that is removed at the end of the test.
struct TemporaryRoot {
  TemporaryRoot() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "hourglass-files-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~TemporaryRoot() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

TEST_CASE("files of the static root are sent with their type and age") {
  TemporaryRoot root;
  std::filesystem::create_directory(root.path / "js");
  std::string big(200000, 'x');
  std::ofstream(root.path / "js" / "app.js") << big;
  std::ofstream(root.path / "favicon.ico") << "icon";
  ApiFixture f;
  f.options.static_root = root.path.string();

  const BufferResponse script = f.Ask("GET", "/s/js/app.js");
  CHECK(script.status == 200);
  CHECK(script.content_type == "text/javascript");
  CHECK(script.body == big);
  REQUIRE(script.Header("Cache-Control") != nullptr);
  CHECK(*script.Header("Cache-Control") == "max-age=31536000");
  CHECK(*f.Ask("GET", "/s/js/app.js?nocache").Header("Cache-Control") == "max-age=0");

  CHECK(f.Ask("GET", "/favicon.ico").body == "icon");
  CHECK(f.Ask("GET", "/s/js").status == 404);
  CHECK(f.Ask("GET", "/s/js/../../etc").status == 400);
  f.options.static_root.clear();
  CHECK(f.Ask("GET", "/favicon.ico").status == 404);
}

TEST_CASE("the content type depends on the endpoint, not on the end of the path") {
  ApiFixture f;
  f.services.recent_log = [] { return std::vector<std::string>{"<script>alert(1)</script>"}; };
  const auto type = [&f](const char* target) { return f.Ask("GET", target).content_type; };
  CHECK(f.Ask("GET", "/none.png").status == 404);
  CHECK(type("/none.png?a=b.c") == "text/html; charset=UTF-8");
  CHECK(type("/none.gone?json") == "application/json");
  for (const std::string ending : {"", "/x.html", "/x.js", "/x.svg", "/x.png"}) {
    CAPTURE(ending);
    const auto of = [&](const std::string& path, const std::string& query = "") {
      return f.Ask("GET", path + ending + query).content_type;
    };
    CHECK(of("/aggregators") == "application/json");
    CHECK(of("/api/v0/config") == "application/json");
    CHECK(of("/api/config") == "application/json; charset=UTF-8");
    CHECK(of("/suggest", "?json&type=%3Cscript%3E") == "application/json");
    CHECK(of("/api/none") == "application/json; charset=UTF-8");
    CHECK(of("/logs") == "text/plain");
    CHECK(of("/logs", "?json") == "application/json");
    CHECK(of("/version") == "text/plain");
    CHECK(of("/stats") == "text/plain");
  }
}

}  // namespace
}  // namespace hg::http
