// /api/admin: access and methods. tests/tsd/tools/admin_test.cc tests what the calls do.
#include "http/api/admin.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "http/routes/router.h"
#include "storage/maintenance.h"
#include "tests/http/api/api_fixture.h"
#include "tests/support/model_store.h"

namespace hg::http {
namespace {

// Reports success for every call.
class IdleMaintenance : public Maintenance {
 public:
  std::string folder;

  Result<CopyProgress> Backup(const std::string& to, const CopyWatch& watch) override {
    folder = to;
    CopyProgress progress;
    progress.files = progress.files_total = progress.linked = 2;
    progress.bytes = progress.bytes_total = 700;
    if (!watch(progress)) return Status::Unavailable("stopped");
    return progress;
  }
  [[nodiscard]] CopyProgress BackupProgress() const override { return {}; }
  std::function<void()> in_check;

  Result<CheckReport> Check(RequestContext* /*context*/) override {
    if (in_check) in_check();
    CheckReport report;
    report.files = 3;
    report.damages.push_back({"data/000000001.points", 40, "checksum of a block differs", "rows"});
    report.notes.emplace_back("a note");
    return report;
  }
  Result<RepairReport> Repair() override { return RepairReport(); }
};

constexpr const char* kHere = "127.0.0.1:51000";

/// The endpoint /api/admin over a store of its own. A test attaches a Maintenance object before it
/// calls backups, checks or repairs.
struct AdminApi : ApiFixture {
  BufferResponse AskFrom(const std::string& remote, std::string_view method,
                         std::string_view target, bool from_page = false) {
    Request request = MakeRequest(method, target);
    request.remote = remote;
    if (from_page) request.headers.emplace_back("origin", "http://example.org");
    BufferResponse reply;
    Dispatch(request, services, reply);
    return reply;
  }
  BufferResponse Ask(std::string_view method, std::string_view target) {
    return AskFrom(kHere, method, target);
  }
  void AttachMaintenance() { services.maintenance = &idle; }

  IdleMaintenance idle;
};

TEST_CASE("only clients on this machine may use /api/admin, unless a setting allows others") {
  AdminApi f;
  for (const char* here : {"127.0.0.1:51000", "127.9.9.9:1", "::1:51000", "::ffff:127.0.0.1:5"}) {
    CHECK(f.AskFrom(here, "GET", "/api/admin/tables").status == 200);
  }
  for (const char* there : {"10.0.0.1:51000", "192.168.127.1:1", "::2:51000", "::1:5:6:51000",
                            "::ffff:10.0.0.1:5", "1127.0.0.1:1", ""}) {
    CHECK(f.AskFrom(there, "GET", "/api/admin/tables").status == 403);
    CHECK(f.AskFrom(there, "POST", "/api/admin/flush").status == 403);
  }
  CHECK(f.AskFrom(kHere, "POST", "/api/admin/flush", true).status == 403);
  // A proxy on this machine forwards requests of other machines.
  const auto forwarded = [&f](const char* name, const char* value) {
    Request request = MakeRequest("GET", "/api/admin/tables");
    request.remote = kHere;
    request.headers = {{name, value}};
    BufferResponse reply;
    Dispatch(request, f.services, reply);
    return reply.status;
  };
  for (const char* name : {"x-forwarded-for", "x-real-ip", "forwarded", "via", "x-forwarded-host"})
    CHECK(forwarded(name, "10.0.0.1") == 403);
  CHECK(forwarded("host", "tsd.example.org") == 403);
  CHECK(forwarded("host", "10.0.0.5:4242") == 403);
  for (const char* host : {"localhost:4242", "127.0.0.1:4242", "[::1]:4242"})
    CHECK(forwarded("host", host) == 200);
  f.options.admin_remote = true;
  CHECK(f.AskFrom("10.0.0.1:51000", "GET", "/api/admin/tables").status == 200);
  CHECK(f.AskFrom("10.0.0.1:51000", "POST", "/api/admin/flush").status == 200);
  CHECK(f.AskFrom("10.0.0.1:51000", "POST", "/api/admin/flush", true).status == 403);
  f.options.cors_domains = {"http://example.org"};
  CHECK(f.AskFrom("10.0.0.1:51000", "POST", "/api/admin/flush", true).status == 200);
}

TEST_CASE("calls that change something need POST, and the call must be named") {
  AdminApi f;
  for (const char* call :
       {"create", "alter", "drop", "truncate", "split", "merge", "flush", "compact", "nosuch"}) {
    CHECK(f.Ask("GET", std::string("/api/admin/") + call).status == 405);
  }
  CHECK(f.Ask("POST", "/api/admin/flush").status == 200);
  CHECK(f.Ask("POST", "/api/admin/nosuch").status == 404);
  CHECK(f.Ask("POST", "/api/admin/split").status == 400);
  CHECK(f.Ask("GET", "/api/admin/regions?table=none").status == 404);
  const BufferResponse sizes = f.Ask("GET", "/api/admin/sizes");
  CHECK(sizes.status == 200);
  CHECK(sizes.body.find("\"memory_bytes\":") != std::string::npos);
}

TEST_CASE("tables are created, described, altered and dropped") {
  AdminApi f;
  const auto post = [&f](const std::string& call) {
    return f.Ask("POST", "/api/admin/" + call).status;
  };
  CHECK(post("create?table=n&families=%7BNAME%3D%3Ef1,TTL%3D%3E180%7D") == 200);
  CHECK(post("alter?table=n&families=%7BNAME%3D%3Ef1,VERSIONS%3D%3E3%7D") == 200);
  const BufferResponse described = f.Ask("GET", "/api/admin/describe?table=n");
  CHECK(described.status == 200);
  CHECK(described.body.find(R"("NAME":"f1","VERSIONS":"3","MIN_VERSIONS":"0","TTL":"180")") !=
        std::string::npos);
  CHECK(post("alter?table=n") == 400);
  CHECK(post("alter?table=n&families=%7BNAME%3D%3Ef1,TTL%3D%3Esoon%7D") == 400);
  CHECK(f.Ask("GET", "/api/admin/describe?table=none").status == 404);
  CHECK(post("drop?table=n") == 501);  // without files of its own, as over HBase
  f.AttachMaintenance();
  CHECK(post("drop?table=n") == 200);
  CHECK(post("drop?table=n") == 404);
}

TEST_CASE("regions are shown with their load, and with a warning if one has most of it") {
  class LoadedStore : public ModelStore {
   public:
    std::vector<RegionInfo> regions = std::vector<RegionInfo>(2);
    bool counted = true;
    RequestContext* context = nullptr;  // of the last call of Regions
    [[nodiscard]] StoreCapabilities Capabilities() const override {
      StoreCapabilities all;
      all.region_admin = counted;
      return all;
    }
    Result<std::vector<RegionInfo>> Regions(const std::string& /*table*/,
                                            RequestContext* of_request) override {
      context = of_request;
      return regions;
    }
  };
  LoadedStore store;
  REQUIRE(store.CreateTable({"g", {{"a"}}, false}).ok());
  const auto shown = [&](uint64_t bytes, uint64_t writes) {
    store.regions[0].file_bytes = bytes;
    store.regions[0].writes = writes;
    store.regions[0].reads = 7;
    store.regions[1].start = "m";
    store.regions[1].file_bytes = store.regions[1].writes = 100;
    const auto answer = RunAdminCall(store, "regions", Parameters(), RequestContext::Unlimited());
    REQUIRE(answer.ok());
    return *answer;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(shown(100, 900), R"("writes":900,"reads":7,"share":0.5,"write_share":0.9,)"
                             R"("warning":"this region has most writes of the table")"));
  CHECK(has(shown(900, 900), "this region has most bytes and most writes of the table"));
  CHECK(has(shown(900, 100), "this region has most bytes of the table"));
  CHECK(!has(shown(100, 899), "warning"));  // few writes
  CHECK(!has(shown(100, 300), "warning"));
  CHECK(!has(shown(0, 0), R"("write_share":0.0,"warning")"));
  store.counted = false;
  store.regions[1].writes = 0;
  CHECK(!has(shown(100, 0), "reads"));
  // The request can end the computation of the sizes.
  for (const char* call : {"regions", "sizes"}) {
    store.context = nullptr;
    CHECK(RunAdminCall(store, call, Parameters(), RequestContext::Unlimited()).ok());
    CHECK(store.context == &RequestContext::Unlimited());
  }
}

TEST_CASE("a backup needs POST and an absolute path, and GET reports its progress") {
  AdminApi f;
  CHECK(f.Ask("POST", "/api/admin/backup?folder=/b").status == 501);
  f.AttachMaintenance();
  const BufferResponse done = f.Ask("POST", "/api/admin/backup?folder=/b/a%20c");
  CHECK(done.status == 200);
  CHECK(done.takes_long);
  CHECK(f.idle.folder == "/b/a c");
  CHECK(
      done.body ==
      R"({"files":2,"filesTotal":2,"bytes":700,"bytesTotal":700,"kept":0,"linked":2,"copied":0})");
  for (const char* bad : {"", "?folder=", "?folder=b/c", "?to=/b"}) {
    f.idle.folder = "none";
    CHECK(f.Ask("POST", std::string("/api/admin/backup") + bad).status == 400);
    CHECK(f.idle.folder == "none");
  }
  CHECK(f.AskFrom("10.0.0.1:51000", "POST", "/api/admin/backup?folder=/b").status == 403);
  CHECK(f.AskFrom(kHere, "POST", "/api/admin/backup?folder=/b", true).status == 403);
  CHECK(f.idle.folder == "none");
  CHECK(f.Ask("GET", "/api/admin/backup?folder=/b").status == 200);
  CHECK(f.idle.folder == "none");
}

TEST_CASE("a check needs POST and reports each damage") {
  AdminApi f;
  CHECK(f.Ask("POST", "/api/admin/check").status == 501);
  f.AttachMaintenance();
  const BufferResponse report = f.Ask("POST", "/api/admin/check");
  CHECK(report.status == 200);
  CHECK(report.takes_long);
  CHECK(report.body ==
        R"({"files":3,"bytes":0,"damages":[{"file":"data/000000001.points","offset":40,)"
        R"("what":"checksum of a block differs","lost":"rows"}],"notes":["a note"]})");
  CHECK(f.Ask("GET", "/api/admin/check").status == 405);
}

TEST_CASE(
    "a call that takes long gets 503 while an equal one runs, and occupies no handler thread") {
  AdminApi f;
  f.AttachMaintenance();
  int checks = 0;
  f.idle.in_check = [&] {
    ++checks;
    const BufferResponse second = f.Ask("POST", "/api/admin/check");
    CHECK(second.status == 503);
    CHECK_FALSE(second.takes_long);
    REQUIRE(second.Header("Retry-After") != nullptr);
    CHECK(f.Ask("POST", "/api/admin/flush").status == 200);
    CHECK(f.Ask("GET", "/api/admin/backup").status == 200);
  };
  for (int i = 0; i < 2; ++i) CHECK(f.Ask("POST", "/api/admin/check").status == 200);
  CHECK(checks == 2);
  for (const char* call : {"flush", "compact"})
    CHECK(f.Ask("POST", std::string("/api/admin/") + call).takes_long);
  CHECK_FALSE(f.Ask("GET", "/api/admin/tables").takes_long);
}

}  // namespace
}  // namespace hg::http
