#pragma once
// One life of a store on a disk that fails: a fixed workload until the first failure, then death,
// then another start and more of it. What it may show is what the model showed after one of the
// writes between the last acknowledged and the last tried one.

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
  /// Acknowledgements promise nothing; a flush and what came before it does.
  void CountFlushesOnly() { only_flushes_count_ = true; }

  /// Runs until the first failure or the end.
  void Run();
  /// The process ends without another word.
  void Die();
  /// Opens without faults and compares. The error tells the difference.
  Status Reopen();
  /// After Reopen: writes more, all of which must succeed, and flushes and merges if asked to.
  Status GoOn(bool with_files);
  /// After GoOn at synced: dies, the power is cut, and all that GoOn wrote must be there.
  Status CutAndCompare();

 private:
  bool Open();
  bool Healthy();
  Status OpenAndShow(std::string* shown);

  FaultyFileSystem disk_;
  ManualClock clock_{1'700'000'000'000};
  EmbeddedOptions options_;
  size_t tried_ = 0;  // writes
  size_t acknowledged_ = 0;
  bool only_flushes_count_ = false;
  size_t found_ = 0;   // writes that Reopen found
  uint64_t more_ = 0;  // writes of GoOn
  std::unique_ptr<Embedded> store_;
};

}  // namespace hg
