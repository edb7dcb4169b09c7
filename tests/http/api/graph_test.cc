#include <doctest/doctest.h>

#include <string>

#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

const std::string kRange = "/q?start=1699999000&end=1700001000";

TEST_CASE("/q without an output format redirects to the home page") {
  ApiFixture f;
  for (const char* method : {"GET", "POST", "DELETE"}) {
    const BufferResponse reply = f.Ask(method, "/q?start=1h-ago&m=sum:\"x\"");
    CHECK(reply.status == 200);
    REQUIRE(reply.Header("Location") != nullptr);
    CHECK(*reply.Header("Location") == "/#start=1h-ago&m=sum:\"x\"");
    CHECK(reply.body.find("url=/#start=1h-ago&amp;m=sum:&quot;x&quot;\"") != std::string::npos);
  }
  CHECK(*f.Ask("GET", "/q").Header("Location") == "/#");
}

TEST_CASE("the format ascii has one line per point") {
  ApiFixture f;
  f.AddSeries("room.temp", {{"host", "a"}});
  f.AddSeries("room.temp", {{"host", "b"}});
  const BufferResponse both = f.Ask("GET", kRange + "&m=sum:room.temp{host=*}&ascii");
  CHECK(both.status == 200);
  CHECK(both.content_type == "text/plain");
  CHECK(both.body == "room.temp 1700000000 1 host=a\nroom.temp 1700000000 1 host=b\n");
  CHECK(*both.Header("Cache-Control") == "max-age=86400");
  CHECK(f.Ask("GET", kRange + "&m=avg:1h-avg:room.temp&ascii").body ==
        "room.temp 1699999200 1.0\n");
  CHECK(*f.Ask("GET", "/q?start=24h-ago&m=sum:room.temp&ascii").Header("Cache-Control") ==
        "max-age=84");
  CHECK(*f.Ask("GET", "/q?start=24h-ago&end=1700020000&m=sum:room.temp&ascii")
             .Header("Cache-Control") == "max-age=0");
}

TEST_CASE("the parameter tz applies only to dates") {
  ApiFixture f;
  f.AddSeries("room.temp", {{"host", "a"}});
  const std::string hour =
      "/q?start=2023/11/14-22:00:00&end=2023/11/14-23:00:00&m=sum:room.temp&ascii";
  CHECK(f.Ask("GET", hour).body == "room.temp 1700000000 1 host=a\n");
  CHECK(f.Ask("GET", hour + "&tz=Europe/Berlin").body.empty());
  CHECK(f.Ask("GET", hour + "&tz=Nowhere").status == 400);
  CHECK(f.Ask("GET", kRange + "&m=sum:room.temp&ascii&tz=Nowhere").status == 200);
  CHECK(f.Ask("GET", kRange + "&m=sum:room.temp&png&tz=Nowhere").status == 200);
}

TEST_CASE(
    "lines of the format ascii have their tags in the order of /api/query and ignore plot "
    "options") {
  ApiFixture f;
  f.AddSeries("room.temp", {{"dc", "x"}, {"host", "a"}, {"site", "b"}});
  const BufferResponse lines = f.Ask("GET", kRange + "&m=sum:room.temp&ascii&o=nonsense");
  CHECK(lines.body == "room.temp 1700000000 1 site=b host=a dc=x\n");
}

TEST_CASE("the format json has the number of points and the aggregated tags") {
  ApiFixture f;
  f.AddSeries("room.temp", {{"host", "a"}});
  f.AddSeries("room.temp", {{"host", "b"}});
  CHECK(f.Ask("GET", kRange + "&m=sum:room.temp&m=sum:room.temp{host=a}&json").body ==
        R"({"plotted":2,"timing":0,"etags":[["host"],[]],"points":2})");
  CHECK(f.counters.scans.Count() == 2);
}

TEST_CASE("errors of /q are 400 or 500, in the requested format") {
  ApiFixture f;
  const auto error = [&](const char* query) {
    const BufferResponse reply = f.Ask("GET", "/q?" + std::string(query));
    return std::to_string(reply.status) + " " + reply.body;
  };
  CHECK(error("json") == R"(400 {"err":"Missing parameter <code>start</code>"})");
  CHECK(error("start=1h-ago&json") == R"(400 {"err":"Missing sub queries"})");
  CHECK(error("start=1h-ago&m=sum:nope&json") ==
        R"(500 {"err":"No such name for 'metrics': 'nope'"})");
  CHECK(error("start=bad&m=sum:a&ascii").starts_with("400 <!DOCTYPE html>"));
  CHECK(error("start=1h-ago&m=sum:a&png").starts_with("500 <!DOCTYPE html>"));
  CHECK(error("start=1h-ago&m=sum:a{&ascii").starts_with("400 <!DOCTYPE html>"));
  CHECK(f.counters.query_exceptions == 2);
  f.AddSeries("room.temp", {{"host", "a"}});
  CHECK(error("start=1699999000&end=1700001000&m=sum:60s-sum-scalar:room.temp&ascii")
            .starts_with("500 <!DOCTYPE html>"));
}

TEST_CASE("the format png is an image of the requested size") {
  ApiFixture f;
  f.AddSeries("room.temp", {{"host", "a"}});
  const BufferResponse reply = f.Ask("GET", kRange + "&m=sum:room.temp&png&wxh=300x200");
  CHECK(reply.status == 200);
  CHECK(reply.content_type == "image/png");
  CHECK(*reply.Header("Cache-Control") == "max-age=86400");
  REQUIRE(reply.body.size() > 24);
  CHECK(reply.body.starts_with("\x89PNG"));
  CHECK(reply.body.substr(16, 8) == std::string("\0\0\1\x2c\0\0\0\xc8", 8));
  CHECK(f.Ask("GET", kRange + "&m=sum:room.temp{host=zz}&png").status == 500);
  CHECK(f.counters.graph_requests == 2);
}

TEST_CASE("invalid plot parameters are refused in every format") {
  ApiFixture f;
  f.AddSeries("room.temp", {{"host", "a"}});
  for (const char* form : {"&png", "&json", "&ascii"}) {
    for (const char* looks :
         {"&wxh=1x1", "&yrange=[1:0]", "&style=x", "&o=axis+x2y2", "&o=&o=", "&title="}) {
      const std::string text = looks;
      // The format ascii has no plot options, and too many options count as a sub-query without a
      // line.
      const bool fine = text == "&title=" || text == "&o=&o=" ||
                        (text.starts_with("&o=") && std::string(form) == "&ascii");
      const int status = f.Ask("GET", kRange + "&m=sum:room.temp" + looks + form).status;
      CHECK(status == (fine ? 200 : 400));
    }
  }
}

TEST_CASE("plot options must be listed in the settings") {
  ApiFixture f;
  f.AddSeries("room.temp", {{"host", "a"}});
  const std::string two = kRange + "&m=sum:room.temp&m=max:room.temp&png";
  CHECK(f.Ask("GET", two + "&o=&o=axis+x1y2").status == 200);
  CHECK(f.Ask("GET", two + "&o=axis+x1y2&o=axis+x1y2").body != f.Ask("GET", two + "&o=&o=").body);
  f.options.graph_options = {""};
  CHECK(f.Ask("GET", two + "&o=&o=axis+x1y2").status == 400);
}

}  // namespace
}  // namespace hg::http
