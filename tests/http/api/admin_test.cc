// /api/admin: who may ask, and how. What the calls do: tests/tsd/tools/admin_test.cc.
#include <doctest/doctest.h>

#include <string>

#include "http/router.h"
#include "tests/http/api/api_fixture.h"

namespace hg::http {
namespace {

BufferResponse AskFrom(ApiFixture& f, const std::string& remote, std::string_view method,
                       std::string_view target) {
  Request request = MakeRequest(method, target);
  request.remote = remote;
  BufferResponse reply;
  Dispatch(request, f.services, reply);
  return reply;
}

TEST_CASE("only clients of this machine are answered, unless a setting lets others in") {
  ApiFixture f;
  for (const char* here : {"127.0.0.1:51000", "127.9.9.9:1", "::1:51000", "::ffff:127.0.0.1:5"}) {
    CHECK(AskFrom(f, here, "GET", "/api/admin/tables").status == 200);
  }
  for (const char* there : {"10.0.0.1:51000", "192.168.127.1:1", "::2:51000", "1127.0.0.1:1", ""}) {
    CHECK(AskFrom(f, there, "GET", "/api/admin/tables").status == 403);
    CHECK(AskFrom(f, there, "POST", "/api/admin/flush").status == 403);
  }
  f.options.admin_remote = true;
  CHECK(AskFrom(f, "10.0.0.1:51000", "GET", "/api/admin/tables").status == 200);
}

TEST_CASE("what changes something is for POST alone, and calls are named") {
  ApiFixture f;
  const std::string here = "127.0.0.1:51000";
  for (const char* call : {"create", "split", "merge", "flush", "compact", "nosuch"}) {
    CHECK(AskFrom(f, here, "GET", std::string("/api/admin/") + call).status == 405);
  }
  CHECK(AskFrom(f, here, "POST", "/api/admin/flush").status == 200);
  CHECK(AskFrom(f, here, "POST", "/api/admin/nosuch").status == 404);
  CHECK(AskFrom(f, here, "POST", "/api/admin/split").status == 400);
  CHECK(AskFrom(f, here, "GET", "/api/admin/regions?table=none").status == 404);
  const BufferResponse sizes = AskFrom(f, here, "GET", "/api/admin/sizes");
  CHECK(sizes.status == 200);
  CHECK(sizes.body.find("\"memory_bytes\":") != std::string::npos);
}

}  // namespace
}  // namespace hg::http
