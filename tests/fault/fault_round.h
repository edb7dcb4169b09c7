#pragma once
// Runs a store on a disk that fails: a fixed workload until the first failure, then the end of the
// process, then a restart and more writes. After the restart, the store must equal the model after
// one of these writes: the last acknowledged write, the last attempted write, or one in between.

#include <memory>
#include <string>

#include "storage/engine/embedded.h"
#include "tests/fault/faulty_file.h"
#include "tests/support/manual_clock.h"

namespace hg {

class FaultRound {
 public:
  FaultRound(uint64_t seed, Durability durability);

  FaultyFileSystem& disk() { return disk_; }
  /// From now on, acknowledged writes may be lost unless a flush came after them.
  void CountFlushesOnly() { only_flushes_count_ = true; }

  /// Runs the workload until the first failure or until the workload ends.
  void Run();
  /// Ends the process without closing the store properly.
  void Die();
  /// Opens the store on a disk without faults and compares the store with the model. The error
  /// describes the difference.
  Status Reopen();
  /// Call this function after Reopen. It performs further writes, all of which must succeed. If
  /// `with_files` is true, it also flushes and merges.
  Status GoOn(bool with_files);
  /// Call this function after GoOn, with kSynced. It ends the process, cuts the power and checks
  /// that all writes of GoOn are in the store.
  Status CutAndCompare();

 private:
  bool Open();
  bool Healthy();
  Status OpenAndShow(std::string* shown);

  FaultyFileSystem disk_;
  ManualClock clock_{1'700'000'000'000};
  EmbeddedOptions options_;
  size_t tried_ = 0;  // number of writes that the workload attempted
  size_t acknowledged_ = 0;
  bool only_flushes_count_ = false;
  size_t found_ = 0;   // number of writes whose effects Reopen found
  uint64_t more_ = 0;  // number of writes that GoOn made
  std::unique_ptr<Embedded> store_;
};

}  // namespace hg
