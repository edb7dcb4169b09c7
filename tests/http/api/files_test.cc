#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "http/routes/router.h"
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

/// Makes further reads of the open file `path` fail.
void BreakReads(const std::filesystem::path& path) {
  const int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry.path(), error) == path)
      dup2(folder, std::stoi(entry.path().filename()));
  }
  close(folder);
}

/// A response that breaks reads of a file after the first piece of the file was written.
struct BreakingResponse : BufferResponse {
  explicit BreakingResponse(std::filesystem::path file) : path(std::move(file)) {}
  bool Write(std::string_view bytes) override {
    BreakReads(path);
    return BufferResponse::Write(bytes);
  }
  std::filesystem::path path;
};

TEST_CASE("a file that cannot be read is not sent as if it were complete") {
  ApiFixture f;
  f.options.static_root = "/proc/self";
  const BufferResponse unread = f.Ask("GET", "/s/mem");  // its first page cannot be read
  CHECK(unread.status == 500);
  CHECK(unread.Header("Cache-Control") == nullptr);

  TemporaryRoot root;
  std::ofstream(root.path / "app.js") << std::string(200'000, 'x');
  f.options.static_root = root.path.string();
  BreakingResponse broken(root.path / "app.js");
  Request request = MakeRequest("GET", "/s/app.js");
  Dispatch(request, f.services, broken);
  CHECK(broken.body.size() < 200'000);
  CHECK(broken.cut);
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
