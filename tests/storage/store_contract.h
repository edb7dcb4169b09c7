#pragma once
// The requirements for every cell store (storage/store.h, region-store.md §11), written as checks
// that every implementation must pass.

#include <functional>
#include <memory>

#include "storage/store.h"
#include "tests/support/manual_clock.h"

namespace hg {

/// An empty cell store that is being checked. Each check creates its own subject.
class StoreSubject {
 public:
  virtual ~StoreSubject() = default;
  virtual Store& store() = 0;
  virtual ManualClock& clock() = 0;
  /// Returns whether the timestamps of the store come from clock(). If they do not, tests cannot
  /// check the timestamps.
  [[nodiscard]] virtual bool obeys_clock() const { return true; }
  /// Checks call this function between their steps. An override may change how the content is
  /// stored, for example by flush, merge, or close and reopen. It must not change the content
  /// itself.
  virtual void Disturb() {}
  [[nodiscard]] virtual size_t key_bytes_max() const { return 32767; }
  /// Returns whether the changes in one mutation take effect in their order. If they do not, and
  /// one mutation deletes a column and then puts it, older versions of the column remain in a
  /// family that keeps several versions (storage/hbase/row_changes.h).
  [[nodiscard]] virtual bool mutations_in_order() const { return true; }
};

/// Returns all rows that the scan `spec` returns. Also checks that the batches of the scan are not
/// larger than requested.
std::vector<Row> ScanAll(Store& store, const ScanSpec& spec);

using StoreFactory = std::function<std::unique_ptr<StoreSubject>()>;

/// Runs all checks as assertions of the running doctest case. If a check with random data fails,
/// its seed is printed.
void CheckStoreContract(const StoreFactory& make);
/// Runs the checks for the options of gets and scans: selections, budgets, directions and filters.
/// The checks run as in CheckStoreContract.
void CheckReadContract(const StoreFactory& make);

}  // namespace hg
