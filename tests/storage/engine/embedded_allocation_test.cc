// Memory runs out at every allocation in turn. Only the work itself fails: earlier and later writes
// are there, and the work succeeds once there is memory. If a write was only partly applied, the
// process ends, and the next start has the write completely or not at all.

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

#include "storage/engine/embedded.h"
#include "storage/points/points.h"
#include "storage/points/tsuid_list.h"
#include "tests/fault/faulty_file.h"
#include "tests/fault/starve.h"
#include "tests/storage/engine/temp_folder.h"
#include "tests/support/commit_and_wait.h"
#include "tests/support/manual_clock.h"

namespace hg {
namespace {

struct Rig {
  FaultyFileSystem disk{1};
  ManualClock clock{1'000'000};
  std::unique_ptr<Embedded> store;

  Rig() {
    EmbeddedOptions options;
    options.path = "d";
    options.background = false;
    options.log_file_bytes = 1 << 20;
    store = std::move(*Embedded::Open(options, disk, clock));
  }
  void Put(const char* row, int64_t n) {
    REQUIRE(
        store->cells().Mutate("tsdb-uid", {{row, {PutCell("id", "q", std::to_string(n))}}}).ok());
  }
  bool Has(const char* row, int64_t n) {
    const Result<Row> found = store->cells().Get("tsdb-uid", row);
    REQUIRE(found.ok());
    return found->cells.size() == 1 && found->cells[0].value == std::to_string(n);
  }
};

TEST_CASE("a flush that fails at any allocation loses no row, and the next flush succeeds") {
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    Rig rig;
    rig.Put("before", n);
    (void)Starve(n, &failed, [&] { return rig.store->cells().Flush(); });
    rig.Put("after", n);
    REQUIRE(rig.Has("before", n));
    REQUIRE(rig.Has("after", n));
    REQUIRE(rig.store->cells().Flush().ok());
    REQUIRE(rig.Has("before", n));
    REQUIRE(rig.Has("after", n));
    REQUIRE(rig.store->Close().ok());
  }
}

TEST_CASE("a merge or a split that fails at any allocation does not keep its region locked") {
  const std::function<Status(Store&)> works[] = {
      [](Store& cells) { return cells.Compact(); },
      [](Store& cells) { return cells.Split("tsdb-uid", "b", Bytes("b")).status(); },
      [](Store& cells) { return cells.MergeRegions("tsdb-uid", "m"); },
  };
  for (const auto& work : works) {
    bool failed = true;
    for (int64_t n = 0; failed; ++n) {
      CAPTURE(n);
      Rig rig;
      Store& cells = rig.store->cells();
      REQUIRE(cells.Split("tsdb-uid", "m", Bytes("m")).ok());
      for (const char* row : {"a", "b", "z"}) rig.Put(row, n);
      REQUIRE(cells.Flush().ok());
      (void)Starve(n, &failed, [&] { return work(cells); });
      REQUIRE(cells.Compact().ok());  // a locked region would make it wait for ever
      for (const char* row : {"a", "b", "z"}) REQUIRE(rig.Has(row, n));
      REQUIRE(rig.store->Close().ok());
    }
  }
}

EmbeddedOptions OptionsOf(const std::string& path) {
  EmbeddedOptions options;
  options.path = path;
  options.log_file_bytes = 1 << 18;
  options.sync_interval_ms = 1;  // a failed write is retried that soon
  return options;
}

// Writes in a separate process, which may end when memory runs out.
class WritingProcess {
 public:
  using Work = std::function<Status(Embedded&)>;

  // Allocation n of `work` fails. Then `after` is repeated until it succeeds.
  WritingProcess(const std::string& path, int64_t n, const Work& work, const Work& after) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(Run(path, n, work, after, ends[1]));
    ::close(ends[1]);
    char said[3];
    const ssize_t size = ::read(ends[0], said, 1) + ::read(ends[0], said + 1, 1);
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    const bool gave_up = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    REQUIRE((gave_up || (WIFEXITED(status) && size == 2)));
    acknowledged = size > 0 && said[0] != 'r';
    failed = gave_up || said[0] != 'f';
  }

  bool acknowledged = false;
  bool failed = false;  // whether the work made that many allocations

 private:
  static int Run(const std::string& path, int64_t n, const Work& work, const Work& after,
                 int report) {
    const rlimit no_core = {0, 0};
    (void)::setrlimit(RLIMIT_CORE, &no_core);
    // Hides the message of std::terminate.
    if (std::freopen("/dev/null", "w", stderr) == nullptr) return 2;
    std::signal(SIGABRT, SIG_DFL);
    auto store = Embedded::Open(OptionsOf(path));
    if (!store.ok()) return 2;
    bool failed = false;
    const bool ok = Starve(n, &failed, [&] { return work(**store); });
    // r: refused, a: acknowledged, f: acknowledged without a failed allocation.
    if (::write(report, ok ? failed ? "a" : "f" : "r", 1) != 1) return 2;
    while (!after(**store).ok()) std::this_thread::yield();
    return ::write(report, "d", 1) == 1 ? 0 : 2;
  }
};

TEST_CASE("a row whose write fails at any allocation is complete or absent after a restart") {
  const Bytes large(100'000, 'x');
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    const TempFolder folder;
    const WritingProcess process(
        folder.path(), n,
        [&](Embedded& store) {
          return store.cells().Mutate(
              "tsdb-uid", {{"a", {PutCell("id", "q", large), PutCell("id", "r", large)}}});
        },
        [](Embedded& store) {
          return store.cells().Mutate("tsdb-uid", {{"b", {PutCell("id", "q", "1")}}});
        });
    failed = process.failed;
    auto store = Embedded::Open(OptionsOf(folder.path()));
    REQUIRE(store.ok());
    const Result<Row> found = (*store)->cells().Get("tsdb-uid", "a");
    REQUIRE(found.ok());
    REQUIRE((found->cells.size() == 2 || (found->cells.empty() && !process.acknowledged)));
    for (const Cell& cell : found->cells) REQUIRE(cell.value == large);
  }
}

TEST_CASE("new series whose writes fail at any allocation keep the series numbers in order") {
  const auto write = [](Embedded& store, uint64_t host) -> Status {
    TsuidList tsuids;
    std::array<uint64_t, 3> hosts = {host, host + 0x10, host + 0x20};
    for (const uint64_t of : hosts) {
      Bytes id;
      AppendBig(&id, of, 3);
      tsuids.Add(Bytes("\0\0\1\0\0\1", 6), id);
    }
    std::array<SeriesNumber, 3> series;
    RETURN_IF_ERROR(store.points().RegisterAll(tsuids.views(), series.data()));
    std::vector<PointEntry> entries;
    for (size_t i = 0; i < series.size(); ++i) {
      entries.push_back(MakePointEntry(series[i], Timestamp{1'700'002'800},
                                       PointValue::Int(static_cast<int64_t>(hosts[i]))));
    }
    ASSIGN_OR_RETURN(const LogPosition position, store.points().Append(entries));
    return CommitAndWait(store.points(), position);
  };
  bool failed = true;
  for (int64_t n = 0; failed; ++n) {
    CAPTURE(n);
    const TempFolder folder;
    const WritingProcess process(
        folder.path(), n, [&](Embedded& store) { return write(store, 7); },
        [&](Embedded& store) { return write(store, 8); });
    failed = process.failed;
    auto store = Embedded::Open(OptionsOf(folder.path()));
    REQUIRE(store.ok());
    PointScanSpec spec;
    spec.metric = Bytes("\0\0\1", 3);
    auto scan = (*store)->points().Scan(spec, {});
    REQUIRE(scan.ok());
    std::vector<std::pair<char, uint64_t>> found;  // the last byte of the series, its value
    for (RowHour row;;) {
      auto more = (*scan)->Next(&row);
      REQUIRE(more.ok());
      if (!*more) break;
      REQUIRE(row.value.size() == 1);
      found.emplace_back(row.tsuid.back(), row.value[0]);
    }
    for (const auto& [host, value] : found) REQUIRE(static_cast<uint64_t>(host) == value);
    REQUIRE((!process.acknowledged || (!found.empty() && found[0].first == 7)));
  }
}

}  // namespace
}  // namespace hg
