#include "tests/fault/fault_round.h"

#include <map>
#include <utility>
#include <vector>

#include "storage/base/invariant.h"
#include "storage/codec/row_key.h"
#include "storage/points/points_over_cells.h"
#include "tests/fault/workload.h"
#include "tests/support/model_store.h"

namespace hg {
namespace {

constexpr uint64_t kSteps = 40;
constexpr uint64_t kMoreFirst = 1000;
constexpr uint64_t kMoreAtOnce = 4;

bool IsFlush(uint64_t step) { return step % 9 == 0; }
bool IsCompact(uint64_t step) { return step % 14 == 0; }
bool IsSplit(uint64_t step) { return step % 11 == 0; }
bool IsJoin(uint64_t step) { return step % 13 == 0; }
bool IsReopen(uint64_t step) { return step % 17 == 0; }
bool IsWrite(uint64_t step) {
  return !IsFlush(step) && !IsCompact(step) && !IsSplit(step) && !IsJoin(step) && !IsReopen(step);
}

// The model after a number of the workload's writes.
class Oracle {
 public:
  Oracle() {
    for (const TableDescriptor& table : EmbeddedOptions().tables) {
      INVARIANT(store_.CreateTable(table).ok());
    }
  }
  void Write(uint64_t seed) { INVARIANT(WriteSome(seed, store_, points_).ok()); }
  std::string Show() { return DumpCells(store_); }

 private:
  ManualClock clock_{1'700'000'000'000};
  ModelStore store_{clock_};
  points::PointsOverCells points_{&store_, {}};
};

// Returns the visible content after 0, 1, 2… writes, which is the same in every round.
const std::vector<std::string>& States() {
  static const std::vector<std::string> states = [] {
    Oracle oracle;
    std::vector<std::string> shown = {oracle.Show()};
    for (uint64_t step = 1; step <= kSteps; ++step) {
      if (!IsWrite(step)) continue;
      oracle.Write(step);
      shown.push_back(oracle.Show());
    }
    return shown;
  }();
  return states;
}

// Returns the state after `writes` writes of the workload, followed by `more` writes of GoOn.
const std::string& StateAfterMore(size_t writes, uint64_t more) {
  static std::map<std::pair<size_t, uint64_t>, std::string> states;
  std::string& state = states[{writes, more}];
  if (!state.empty()) return state;
  Oracle oracle;
  size_t done = 0;
  for (uint64_t step = 1; done < writes; ++step) {
    if (!IsWrite(step)) continue;
    oracle.Write(step);
    ++done;
  }
  for (uint64_t i = 0; i < more; ++i) oracle.Write(kMoreFirst + i);
  return state = oracle.Show();
}

}  // namespace

FaultRound::FaultRound(uint64_t seed, Durability durability) : disk_(seed) {
  options_.path = "disk";
  options_.durability = durability;
  options_.background = false;
  options_.enable_compaction = false;
  options_.sync_interval_ms = 3'600'000;
  options_.log_file_bytes = 600;  // many files, recycled often
}

void FaultRound::Run() {
  if (!Open()) return;
  for (uint64_t step = 1; step <= kSteps; ++step) {
    if (IsFlush(step)) {
      if (store_->cells().Flush().ok()) {
        acknowledged_ = tried_;
      } else if (!Healthy()) {
        return;
      }
    } else if (IsCompact(step)) {
      if (!store_->cells().Compact().ok() && !Healthy()) return;
    } else if (IsSplit(step)) {
      // The first split is between two metrics, and later ones are within a metric. All must
      // succeed.
      Bytes key = codec::MakeRowKey(KeyLayout(), WorkloadTsuid(1), kWorkloadBase + 3600);
      key.resize(step == 11 ? 3 : 7);
      if (!store_->cells().Split("tsdb", key, key).ok() && !Healthy()) return;
    } else if (IsJoin(step)) {
      const auto regions = store_->cells().Regions("tsdb");
      if (regions.ok() && regions->size() > 1 &&
          !store_->cells().MergeRegions("tsdb", (*regions)[1].start).ok() && !Healthy()) {
        return;
      }
    } else if (IsReopen(step)) {
      store_.reset();
      if (!Open()) return;
    } else {
      ++tried_;
      if (!WriteSome(step, store_->cells(), store_->points()).ok()) return;
      if (!only_flushes_count_) acknowledged_ = tried_;
    }
  }
}

void FaultRound::Die() {
  disk_.FailAllCalls();
  store_.reset();
}

bool FaultRound::Open() {
  auto opened = Embedded::Open(options_, disk_, clock_);
  if (!opened.ok()) return false;
  store_ = std::move(*opened);
  return true;
}

// A failed flush or merge leaves the store unchanged unless the log itself has failed.
bool FaultRound::Healthy() {
  if (!store_->cells().Sync().ok()) return false;
  acknowledged_ = tried_;
  return true;
}

Status FaultRound::OpenAndShow(std::string* shown) {
  disk_.FailCall(0);
  ASSIGN_OR_RETURN(store_, Embedded::Open(options_, disk_, clock_));
  ASSIGN_OR_RETURN(*shown, TryDumpCells(store_->cells()));
  return {};
}

Status FaultRound::Reopen() {
  std::string shown;
  RETURN_IF_ERROR(OpenAndShow(&shown));
  for (found_ = acknowledged_; found_ <= tried_; ++found_) {
    if (States()[found_] == shown) return {};
  }
  return Status::Corruption("stored:\n" + shown + "acknowledged:\n" + States()[acknowledged_]);
}

Status FaultRound::GoOn(bool with_files) {
  for (uint64_t i = 0; i < kMoreAtOnce; ++i) {
    RETURN_IF_ERROR(WriteSome(kMoreFirst + more_++, store_->cells(), store_->points()));
    if (with_files && i == 1) RETURN_IF_ERROR(store_->cells().Flush());
    if (with_files && i == 2) RETURN_IF_ERROR(store_->cells().Compact());
  }
  ASSIGN_OR_RETURN(const std::string shown, TryDumpCells(store_->cells()));
  const std::string& expected = StateAfterMore(found_, more_);
  if (shown == expected) return {};
  return Status::Corruption("shown:\n" + shown + "expected:\n" + expected);
}

Status FaultRound::CutAndCompare() {
  Die();
  disk_.PowerCut();
  std::string shown;
  RETURN_IF_ERROR(OpenAndShow(&shown));
  const std::string& expected = StateAfterMore(found_, more_);
  if (shown == expected) return {};
  return Status::Corruption("stored:\n" + shown + "expected:\n" + expected);
}

}  // namespace hg
