#pragma once
// Runs a store on a disk that fails. A fixed workload runs until the first failure. Then the test
// simulates the end of the process, opens the store again, and makes more writes. A model in memory
// executes the same writes. After the restart, the content of the store must be equal to the
// content of the model after one of these writes: the last acknowledged write, the last attempted
// write, or a write between them.

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
  /// Allows acknowledged writes to be lost from now on, unless a flush came after them.
  void CountFlushesOnly() { only_flushes_count_ = true; }

  /// Runs the workload until the first failure or until the workload ends.
  void Run();
  /// Simulates that the process ends without closing the store.
  void Die();
  /// Opens the store on a disk without faults, and compares the store with the model. The error
  /// describes the difference.
  Status Reopen();
  /// Performs further writes, all of which must succeed. If `with_files` is true, also flushes and
  /// merges. Call this function after Reopen.
  Status GoOn(bool with_files);
  /// Ends the process, cuts the power, and checks that all writes of GoOn are in the store. Call
  /// this function after GoOn, and only with kSynced.
  Status CutAndCompare();

 private:
  bool Open();
  bool Healthy();
  Status OpenAndShow(std::string* shown);

  FaultyFileSystem disk_;
  ManualClock clock_{1'700'000'000'000};
  EmbeddedOptions options_;
  size_t tried_ = 0;  // number of writes that the workload has attempted
  size_t acknowledged_ = 0;
  bool only_flushes_count_ = false;
  size_t found_ = 0;   // number of writes whose effects Reopen has found in the store
  uint64_t more_ = 0;  // number of writes that GoOn has made
  std::unique_ptr<Embedded> store_;
};

}  // namespace hg
