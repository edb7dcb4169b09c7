#include "http/api/page_files.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

std::string PathOf(std::string_view name) {
  return "/s/page-" + std::string(page::FilesSum()) + "/" + std::string(name);
}

TEST_CASE("the home page is the embedded one, and browsers request it each time") {
  ApiFixture f;
  const BufferResponse home = f.Ask("GET", "/");
  CHECK(home.status == 200);
  CHECK(home.content_type == "text/html; charset=UTF-8");
  CHECK(*home.Header("Cache-Control") == "no-cache");
  CHECK(home.body.find("@page@") == std::string::npos);
  CHECK(home.body.find(PathOf("main.js").substr(1)) != std::string::npos);
}

TEST_CASE("a browser that has the page of this build gets 304") {
  ApiFixture f;
  const std::string tag = *f.Ask("GET", "/").Header("ETag");
  const BufferResponse known = f.Ask("GET", "/", "", {{"if-none-match", tag}});
  CHECK(known.status == 304);
  CHECK(known.body.empty());
  CHECK(*known.Header("ETag") == tag);
  CHECK(f.Ask("GET", "/", "", {{"if-none-match", "W/\"0123\""}}).status == 200);
  CHECK(f.Ask("POST", "/", "", {{"if-none-match", tag}}).status == 200);
}

TEST_CASE("browsers cache the files of the page for ever, each with its type") {
  ApiFixture f;
  for (const page::File& file : page::Files()) {
    CAPTURE(file.name);
    const BufferResponse reply = f.Ask("GET", PathOf(file.name));
    CHECK(reply.status == 200);
    CHECK(reply.body == file.bytes);
    CHECK(!file.bytes.empty());
    CHECK(*reply.Header("Cache-Control") == "public, max-age=31536000, immutable");
  }
  CHECK(f.Ask("GET", PathOf("main.js")).content_type == "text/javascript; charset=UTF-8");
  CHECK(f.Ask("GET", PathOf("page.css")).content_type == "text/css; charset=UTF-8");
  CHECK(f.Ask("GET", PathOf("icon.svg")).content_type == "image/svg+xml");
}

TEST_CASE("files of other builds and unknown files get 404") {
  ApiFixture f;
  CHECK(f.Ask("GET", PathOf("none.js")).status == 404);
  CHECK(f.Ask("GET", "/s/page-0123456789abcdef/main.js").status == 404);
  CHECK(f.Ask("GET", "/s/page-" + std::string(page::FilesSum())).status == 404);
  CHECK(f.Ask("GET", "/s/main.js").status == 404);
}

TEST_CASE("the page may run and request only files of this server") {
  ApiFixture f;
  for (const std::string& path : {std::string("/"), PathOf("main.js"), PathOf("icon.svg")}) {
    const BufferResponse reply = f.Ask("GET", path);
    const std::string& policy = *reply.Header("Content-Security-Policy");
    CHECK(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
    CHECK(policy.find("unsafe") == std::string::npos);
    // A browser that kept the headers of an older build gets the new ones.
    const BufferResponse known = f.Ask("GET", path, "", {{"if-none-match", *reply.Header("ETag")}});
    REQUIRE(known.status == 304);
    REQUIRE(known.Header("Content-Security-Policy") != nullptr);
    CHECK(*known.Header("Content-Security-Policy") == policy);
  }
}

TEST_CASE("every file is embedded once, including the plotting library and its licence") {
  std::set<std::string_view> names;
  for (const page::File& file : page::Files()) CHECK(names.insert(file.name).second);
  for (const char* name :
       {"index.html", "main.js", "uPlot.iife.min.js", "uPlot.min.css", "LICENSE"})
    CHECK(names.contains(name));
}

TEST_CASE("the page is disabled together with the web page setting") {
  ApiFixture f;
  f.options.ui_enabled = false;
  CHECK(f.Ask("GET", "/").status == 404);
  CHECK(f.Ask("GET", PathOf("main.js")).status == 404);
}

}  // namespace
}  // namespace hg::http
