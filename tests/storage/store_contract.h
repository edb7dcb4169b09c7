#pragma once
// The requirements for every cell store (storage/store.h, region-store.md §11), as checks for any
// implementation.

#include <functional>
#include <memory>

#include "storage/store.h"
#include "tests/support/manual_clock.h"

namespace hg {

/// An empty store. Created for each check.
class StoreSubject {
 public:
  virtual ~StoreSubject() = default;
  virtual Store& store() = 0;
  virtual ManualClock& clock() = 0;
  /// False: its timestamps come from another clock, so they cannot be checked.
  [[nodiscard]] virtual bool obeys_clock() const { return true; }
  /// May change how the content is stored, but not the content: flush, merge, close and reopen.
  virtual void Disturb() {}
  [[nodiscard]] virtual size_t key_bytes_max() const { return 32767; }
  /// False: if one mutation deletes and then puts a column, older versions remain in a family that
  /// keeps several (storage/hbase/row_changes.h).
  [[nodiscard]] virtual bool mutations_in_order() const { return true; }
};

/// Returns all rows of the scan, and checks that its batches are as small as requested.
std::vector<Row> ScanAll(Store& store, const ScanSpec& spec);

using StoreFactory = std::function<std::unique_ptr<StoreSubject>()>;

/// Runs all checks as assertions of the running doctest case. A failure prints the seed of a random
/// check.
void CheckStoreContract(const StoreFactory& make);
/// Like CheckStoreContract, for the options of readers: selections, budgets, directions and
/// filters.
void CheckReadContract(const StoreFactory& make);

}  // namespace hg
