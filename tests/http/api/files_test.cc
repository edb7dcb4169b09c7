#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

/// A directory that goes with the test.
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

TEST_CASE("files come from the static root, with their type and age") {
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

TEST_CASE("outside of /api the ending of a path says the type, of errors too") {
  ApiFixture f;
  CHECK(f.Ask("GET", "/none.png").status == 404);
  CHECK(f.Ask("GET", "/none.png?a=b.c").content_type == "image/png");
  CHECK(f.Ask("GET", "/none.gone").content_type == "text/html; charset=UTF-8");
  CHECK(f.Ask("GET", "/none.gone?json").content_type == "application/json");
  CHECK(f.Ask("GET", "/aggregators/x.js").content_type == "text/javascript");
  CHECK(f.Ask("GET", "/api/none.png").content_type == "application/json; charset=UTF-8");
}

}  // namespace
}  // namespace hg::http
