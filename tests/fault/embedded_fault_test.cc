// Each call to the disk fails in turn, then the power is cut: what was acknowledged is there,
// nothing is invented, and no later write survives an earlier one.

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "storage/codec/row_key.h"
#include "storage/points/embedded.h"
#include "storage/points/points_over_cells.h"
#include "tests/fault/faulty_file.h"
#include "tests/fault/workload.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"

namespace hg {
namespace {

class Round {
 public:
  Round(uint64_t seed, Durability durability) : disk_(seed) {
    options_.path = "disk";
    options_.durability = durability;
    options_.background = false;
    options_.enable_compaction = false;
    options_.sync_interval_ms = 3'600'000;
    options_.log_file_bytes = 600;  // many files, recycled often
    for (const TableDescriptor& table : options_.tables) REQUIRE(model_.CreateTable(table).ok());
    states_.push_back(DumpCells(model_));
  }

  FaultyFileSystem& disk() { return disk_; }

  // Runs until the first failure or the end.
  void Run() {
    if (!Open()) return;
    for (uint64_t step = 1; step <= 40; ++step) {
      if (step % 9 == 0) {
        if (store_->cells().Flush().ok()) {
          acknowledged_ = states_.size() - 1;
        } else if (!Healthy()) {
          return;
        }
      } else if (step % 14 == 0) {
        if (!store_->cells().Compact().ok() && !Healthy()) return;
      } else if (step % 11 == 0) {
        // Between metrics, then within one; nothing of it is refused.
        Bytes key =
            codec::MakeRowKey(model_points_.layout(), WorkloadTsuid(1), kWorkloadBase + 3600);
        key.resize(step == 11 ? 3 : 7);
        if (!store_->cells().Split("tsdb", key, key).ok() && !Healthy()) return;
      } else if (step % 13 == 0) {
        const auto regions = store_->cells().Regions("tsdb");
        if (regions.ok() && regions->size() > 1 &&
            !store_->cells().MergeRegions("tsdb", (*regions)[1].start).ok() && !Healthy()) {
          return;
        }
      } else if (step % 17 == 0) {
        Close();
        if (!Open()) return;
      } else {
        REQUIRE(WriteSome(step, model_, model_points_).ok());
        states_.push_back(DumpCells(model_));
        if (!WriteSome(step, store_->cells(), store_->points()).ok()) return;
        if (!only_flushes_count_) acknowledged_ = states_.size() - 1;
      }
    }
  }

  void Close() { store_.reset(); }
  void Die() {
    disk_.FailAllCalls();
    store_.reset();
  }
  /// Acknowledgements promise nothing; a flush and what came before it does.
  void CountFlushesOnly() { only_flushes_count_ = true; }

  // Opens without faults; the state must be one of those between the last acknowledged and the last
  // tried write.
  bool StateIsPossible(std::string* difference) {
    disk_.FailCall(0);
    auto opened = Embedded::Open(options_, disk_, clock_);
    if (!opened.ok()) {
      *difference = opened.status().ToString();
      return false;
    }
    store_ = std::move(*opened);
    const std::string state = DumpCells(store_->cells());
    for (size_t i = acknowledged_; i < states_.size(); ++i) {
      if (states_[i] == state) return true;
    }
    *difference = "stored:\n" + state + "acknowledged:\n" + states_[acknowledged_];
    return false;
  }

  // After a repaired disk everything goes on.
  bool StillWrites() {
    return WriteSome(1000, store_->cells(), store_->points()).ok() &&
           store_->cells().Flush().ok() && store_->cells().Compact().ok();
  }

 private:
  bool Open() {
    auto opened = Embedded::Open(options_, disk_, clock_);
    if (!opened.ok()) return false;
    store_ = std::move(*opened);
    return true;
  }
  // A failed flush or merge leaves the store as it was unless the log itself has failed.
  bool Healthy() {
    if (!store_->cells().Sync().ok()) return false;
    acknowledged_ = states_.size() - 1;
    return true;
  }

  FaultyFileSystem disk_;
  ManualClock clock_{1'700'000'000'000};
  EmbeddedOptions options_;
  ModelStore model_{clock_};
  points::PointsOverCells model_points_{&model_, {}};
  std::vector<std::string> states_;
  size_t acknowledged_ = 0;
  bool only_flushes_count_ = false;
  std::unique_ptr<Embedded> store_;
};

TEST_CASE("every call may fail and the power be cut: what was acknowledged as synced is there") {
  for (uint64_t n = 1;; ++n) {
    INFO("call " << n);
    Round round(n, Durability::kSynced);
    round.disk().FailCall(n);
    round.Run();
    const bool reached = round.disk().failed();
    round.Die();
    round.disk().PowerCut();
    std::string difference;
    const bool possible = round.StateIsPossible(&difference);
    INFO(difference);
    REQUIRE(possible);
    REQUIRE(round.StillWrites());
    if (!reached) {
      CHECK(n > 100);  // the workload has come to an end without the failure
      break;
    }
  }
}

TEST_CASE("every call may fail and the process die: what was acknowledged as logged is there") {
  for (uint64_t n = 1;; ++n) {
    INFO("call " << n);
    Round round(n, Durability::kLogged);
    round.disk().FailCall(n);
    round.Run();
    const bool reached = round.disk().failed();
    round.Die();
    std::string difference;
    const bool possible = round.StateIsPossible(&difference);
    INFO(difference);
    REQUIRE(possible);
    REQUIRE(round.StillWrites());
    if (!reached) break;
  }
}

TEST_CASE(
    "every call may fail and the power be cut: at logged what is left is a beginning of what was "
    "written") {
  for (uint64_t n = 1;; ++n) {
    INFO("call " << n);
    Round round(n, Durability::kLogged);
    round.CountFlushesOnly();
    round.disk().FailCall(n);
    round.Run();
    const bool reached = round.disk().failed();
    round.Die();
    round.disk().PowerCut();
    std::string difference;
    const bool possible = round.StateIsPossible(&difference);
    INFO(difference);
    REQUIRE(possible);
    REQUIRE(round.StillWrites());
    if (!reached) break;
  }
}

TEST_CASE("a disk that lies about syncing is noticed") {
  size_t lost = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Round round(seed, Durability::kSynced);
    round.disk().LieAboutSync(true);
    round.Run();
    round.Die();
    round.disk().PowerCut();
    std::string difference;
    lost += round.StateIsPossible(&difference) ? 0 : 1;
  }
  CHECK(lost > 0);
}

}  // namespace
}  // namespace hg
