// Each call to the disk fails in turn, then the power is cut: what was acknowledged is there,
// nothing is invented, and no later write survives an earlier one.

#include <doctest/doctest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <set>

#include "storage/codec/row_key.h"
#include "storage/points/embedded.h"
#include "storage/points/points_over_cells.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"
#include "tests/support/model_store.h"

namespace hg {
namespace {

constexpr uint32_t kBase = 1700002800;

// Every cell of every table as text, without times: points have none of their own.
std::string Dump(Store& store) {
  std::string text;
  for (const char* table : {"tsdb", "tsdb-uid"}) {
    ScanSpec spec;
    spec.table = table;
    auto cursor = store.Scan(spec);
    REQUIRE(cursor.ok());
    for (std::vector<Row> rows;;) {
      const Status status = (*cursor)->Next(&rows);
      INFO(status.ToString());
      REQUIRE(status.ok());
      if (rows.empty()) break;
      for (const Row& row : rows) {
        for (const Cell& cell : row.cells) {
          text += ToHex(row.key) + ' ' + cell.family + ' ' + ToHex(cell.qualifier) + ' ' +
                  ToHex(cell.value) + '\n';
        }
      }
    }
  }
  return text;
}

Bytes Tsuid(uint64_t i) {
  Bytes tsuid;
  AppendBig(&tsuid, 1 + i % 2, 3);
  AppendBig(&tsuid, 1, 3);
  AppendBig(&tsuid, 1 + i, 3);
  return tsuid;
}

// One write through either door; the same on the subject and on the model.
Status WriteSome(uint64_t seed, Store& cells, Points& points) {
  std::mt19937_64 random(seed);
  const Bytes tsuid = Tsuid(random() % 4);
  const uint32_t base = kBase + static_cast<uint32_t>(random() % 2) * 3600;
  const Bytes key = codec::MakeRowKey(points.layout(), tsuid, base);
  switch (random() % 8) {
    case 0:
      return cells.Increment("tsdb-uid", Bytes(1, '\0'), "id", "metrics", 1).status();
    case 1: {
      RowMutation mutation{"name" + std::to_string(random() % 3), {}};
      mutation.changes.push_back(PutCell("id", "metrics", "v" + std::to_string(seed)));
      return cells.CompareAndMutate("id", "tagk", {}, "tsdb-uid", mutation).status();
    }
    case 2:
      return cells.Mutate(
          "tsdb", {{key, {PutCell("t", Bytes("\1\0\5", 3), "note" + std::to_string(seed))}}});
    case 3:
      return cells.DeleteRow("tsdb", key);
    case 4: {
      const char qualifier[] = {0, static_cast<char>(random() % 4 * 16)};
      return cells.Mutate("tsdb", {{key, {DeleteColumn("t", Bytes(qualifier, 2))}}});
    }
    default: {
      auto number = points.Register(tsuid);
      if (!number.ok()) return number.status();
      std::vector<PointEntry> batch;
      for (uint64_t n = 1 + random() % 30; n > 0; --n) {
        batch.push_back(MakePointEntry(*number,
                                       Timestamp{base + static_cast<int64_t>(random() % 60)},
                                       PointValue::Int(static_cast<int64_t>(random() % 100))));
      }
      auto position = points.Append(batch);
      if (!position.ok()) return position.status();
      Status committed = Status::Unavailable("never called back");
      std::mutex mutex;
      std::condition_variable called;
      bool done = false;
      points.Commit(*position, [&](Status status) {
        std::lock_guard lock(mutex);
        committed = std::move(status);
        done = true;
        called.notify_all();
      });
      std::unique_lock lock(mutex);
      called.wait(lock, [&] { return done; });
      return committed;
    }
  }
}

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
    states_.push_back(Dump(model_));
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
        Bytes key = codec::MakeRowKey(model_points_.layout(), Tsuid(1), kBase + 3600);
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
        states_.push_back(Dump(model_));
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
    const std::string state = Dump(store_->cells());
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
