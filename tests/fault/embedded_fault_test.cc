// Each call to the disk fails in turn, then the process ends or the power fails. Acknowledged
// writes are there, nothing is invented, and no later write survives without an earlier one.

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/fault/fault_round.h"
#include "tests/fault/workload.h"
#include "tests/support/sanitizer.h"

namespace hg {
namespace {

enum class Death { kProcess, kPower };
enum class Failing { kOneCall, kAllFromThere, kFullDisk };

struct Faults {
  Durability durability = Durability::kSynced;
  Failing failing = Failing::kOneCall;
  Death death = Death::kPower;
  bool flushes_only = false;
};

// Runs a complete round whose n-th call fails. *reached is false if the workload ended before that
// call.
Status LiveThrough(const Faults& faults, uint64_t n, FaultRound* round, bool* reached) {
  if (faults.flushes_only) round->CountFlushesOnly();
  if (faults.failing == Failing::kFullDisk) {
    round->disk().FillUpAtCall(n);
  } else if (faults.failing == Failing::kAllFromThere) {
    round->disk().DieAtCall(n);
  } else {
    round->disk().FailCall(n);
  }
  round->Run();
  *reached = round->disk().failed();
  round->Die();
  if (faults.death == Death::kPower) round->disk().PowerCut();
  RETURN_IF_ERROR(Prepend(round->Reopen(), "after the first death"));
  for (const bool with_files : {false, true}) {
    RETURN_IF_ERROR(Prepend(round->GoOn(with_files), "going on"));
    if (faults.durability != Durability::kSynced) continue;
    RETURN_IF_ERROR(Prepend(round->CutAndCompare(), "after a later power cut"));
  }
  return {};
}

void FailEveryCall(const Faults& faults) {
  for (uint64_t n = 1;; n += kThreadSanitizer ? 10 : 1) {
    CAPTURE(n);
    FaultRound round(n, faults.durability);
    bool reached = false;
    const Status lived = LiveThrough(faults, n, &round, &reached);
    INFO(lived.ToString());
    REQUIRE(lived.ok());
    if (reached) continue;
    CHECK(n > 100);  // the workload ended without the failure
    return;
  }
}

TEST_CASE("after any failing call and a power cut, all writes acknowledged as synced are there") {
  FailEveryCall({Durability::kSynced, Failing::kOneCall, Death::kPower});
}

TEST_CASE("after a power cut at any call, all writes acknowledged as synced are there") {
  FailEveryCall({Durability::kSynced, Failing::kAllFromThere, Death::kPower});
}

TEST_CASE(
    "after any failing call and a killed process, all writes acknowledged as logged are there") {
  FailEveryCall({Durability::kLogged, Failing::kOneCall, Death::kProcess});
}

TEST_CASE(
    "after any failing call, a killed process and a later power cut, all writes "
    "acknowledged as synced are there") {
  FailEveryCall({Durability::kSynced, Failing::kOneCall, Death::kProcess});
}

TEST_CASE(
    "after any failing call and a power cut, a store with durability logged has a prefix of "
    "the writes") {
  FailEveryCall({Durability::kLogged, Failing::kOneCall, Death::kPower, true});
}

TEST_CASE(
    "if the disk is full from any call on, acknowledged writes stay, and with space writes "
    "succeed again") {
  FailEveryCall({Durability::kLogged, Failing::kFullDisk, Death::kProcess});
  FailEveryCall({Durability::kSynced, Failing::kFullDisk, Death::kPower});
}

TEST_CASE(
    "a store with a full disk continues by itself once there is space, without losing acknowledged "
    "writes") {
  size_t full = 0;
  for (uint64_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFileSystem disk(n);
    EmbeddedOptions options;
    options.path = "disk";
    options.background = false;
    options.log_file_bytes = 600;
    options.sync_interval_ms = 1;  // the log retries a failed write after this time, too
    std::vector<Bytes> acknowledged;
    uint64_t tried = 0;
    bool reached = false;
    {
      const auto store = Embedded::Open(options, disk);
      REQUIRE(store.ok());
      Store& cells = (*store)->cells();
      const auto put = [&] {
        const Bytes key = "row" + std::to_string(++tried);
        const Status status = cells.Mutate("tsdb-uid", {{key, {PutCell("id", "q", key)}}});
        if (status.ok()) acknowledged.push_back(key);
        return status;
      };
      disk.FillUpAtCall(n);
      Status status;
      while (tried < 30 && status.ok()) {
        status = put();
        if (tried % 10 == 0) (void)cells.Flush();
      }
      reached = disk.failed();
      if (!status.ok()) {
        ++full;
        CHECK(status.code() == StatusCode::kUnavailable);
        CHECK_FALSE(put().ok());
        disk.FailCall(0);
        while (!put().ok()) std::this_thread::yield();
      }
      disk.FailCall(0);
      // A sync that began while the disk was full may still be refused.
      while (!cells.Sync().ok()) std::this_thread::yield();
      for (int i = 0; i < 5; ++i) REQUIRE(put().ok());
      REQUIRE(cells.Flush().ok());
      REQUIRE(put().ok());
      REQUIRE(cells.Sync().ok());
      disk.FailAllCalls();
    }
    disk.FailCall(0);
    disk.PowerCut();
    const auto store = Embedded::Open(options, disk);
    REQUIRE(store.ok());
    for (const Bytes& key : acknowledged) {
      CHECK((*store)->cells().Get("tsdb-uid", key)->cells.size() == 1);
    }
    if (!reached) break;
  }
  CHECK(full > 5);
}

TEST_CASE("if any read fails, results are correct or errors, and a merge changes nothing") {
  FaultRound writer(1, Durability::kSynced);
  writer.Run();
  writer.Die();
  FaultyFileSystem whole = writer.disk().Copy();
  EmbeddedOptions options;
  options.path = "disk";
  options.background = false;
  options.enable_compaction = false;
  options.sync_interval_ms = 3'600'000;
  std::string expected;
  {
    FaultyFileSystem disk = whole.Copy();
    expected = DumpCells((*Embedded::Open(options, disk))->cells());
  }
  for (uint64_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFileSystem disk = whole.Copy();
    disk.FailRead(n);
    bool failed = false;
    {
      const auto store = Embedded::Open(options, disk);
      failed = !store.ok();
      if (store.ok()) {
        const auto shown = TryDumpCells((*store)->cells());
        if (shown.ok()) CHECK(*shown == expected);
        const Status merged = (*store)->cells().Compact();
        failed = failed || !shown.ok() || !merged.ok();
        disk.FailRead(0);
        CHECK(DumpCells((*store)->cells()) == expected);
      }
    }
    disk.FailRead(0);
    CHECK(DumpCells((*Embedded::Open(options, disk))->cells()) == expected);
    if (!failed) {
      CHECK(n > 5);
      break;
    }
  }
}

// One kind of sync, and the faults under which its absence is visible.
struct Canary {
  SyncSite site;
  std::string name;
  Failing failing = Failing::kOneCall;
  Death death = Death::kPower;
  uint64_t chances = 3;  // seeds for each call
};

// Canaries: if any single sync is left out, the tests above fail.
TEST_CASE("the tests detect a disk that ignores one kind of sync, whichever it is") {
  const std::vector<Canary> canaries = {
      {SyncSite::kLogWritten, "a log file"},
      {SyncSite::kLogRecovered, "a log file read at the start", Failing::kOneCall, Death::kProcess},
      {SyncSite::kCells, "a cell file"},
      {SyncSite::kPoints, "a points file"},
      {SyncSite::kReplacement, "what takes the manifest's place"},
      // The difference is visible only if the manifest's new name becomes durable and that of the
      // log file does not.
      {SyncSite::kFolderOfLog, "the folder after new log files", Failing::kAllFromThere,
       Death::kPower, 12},
      {SyncSite::kFolderOfFiles, "the folder before the manifest", Failing::kAllFromThere,
       Death::kPower, 12},
      {SyncSite::kFolderOfManifest, "the folder after the manifest"}};
  CHECK(canaries.size() == static_cast<size_t>(SyncSite::kCount));
  for (const Canary& canary : canaries) {
    CAPTURE(canary.name);
    const Faults faults{Durability::kSynced, canary.failing, canary.death};
    bool noticed = false;
    uint64_t asked = 0;
    // It is random which unsynced data survives, so each call is tested with several seeds.
    for (uint64_t n = 1, reached = 1; reached != 0 && !noticed; ++n) {
      reached = 0;
      for (uint64_t chance = 0; chance < canary.chances && !noticed; ++chance) {
        FaultRound round(canary.chances * n + chance, faults.durability);
        round.disk().LieAboutSyncAt(canary.site);
        bool failed = false;
        noticed = !LiveThrough(faults, n, &round, &failed).ok();
        reached += failed ? 1 : 0;
        asked += round.disk().syncs(canary.site);
      }
    }
    CHECK(asked > 0);
    CHECK(noticed);
  }
}

TEST_CASE("the tests detect a disk that ignores every sync") {
  size_t lost = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    FaultRound round(seed, Durability::kSynced);
    round.disk().LieAboutSync(true);
    round.Run();
    round.Die();
    round.disk().PowerCut();
    lost += round.Reopen().ok() ? 0 : 1;
  }
  CHECK(lost > 0);
}

}  // namespace
}  // namespace hg
