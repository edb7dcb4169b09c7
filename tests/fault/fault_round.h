#pragma once
// Runs an embedded store on a disk that fails. A fixed workload runs until the first failure. Then
// the test simulates the end of the process, opens the store again, and makes more writes. A model
// in memory executes the same writes. After the restart, the content of the store must be equal to
// the content of the model after one of these writes: the last acknowledged write, the last
// attempted write, or a write between them.

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
  /// From now on, allows acknowledged writes to be lost if no flush came after them.
  void CountFlushesOnly() { only_flushes_count_ = true; }

  /// Runs the workload until the first failure or until the workload ends.
  void Run();
  /// Simulates that the process ends without closing the store.
  void Die();
  /// Opens the store again on the disk, which no longer fails, and compares the store with the
  /// model. The message of the error describes the difference.
  Status Reopen();
  /// Makes more writes, all of which must succeed. If `with_files` is true, also flushes and
  /// merges. Call this function after Reopen.
  Status GoOn(bool with_files);
  /// Simulates the end of the process and a power cut, and checks that all writes of GoOn are in
  /// the store. Call this function after GoOn, and only with Durability::kSynced.
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
  /// The number of writes of the workload after which the model is equal to the store, found by
  /// Reopen.
  size_t found_ = 0;
  uint64_t more_ = 0;  // number of writes that GoOn has made
  std::unique_ptr<Embedded> store_;
};

}  // namespace hg
