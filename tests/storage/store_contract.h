#pragma once
// The requirements for every cell store (storage/store.h, region-store.md §11), as checks that any
// implementation must pass.

#include <functional>
#include <memory>

#include "storage/store.h"
#include "tests/support/manual_clock.h"

namespace hg {

/// An empty store. Each check creates its own subject.
class StoreSubject {
 public:
  virtual ~StoreSubject() = default;
  virtual Store& store() = 0;
  virtual ManualClock& clock() = 0;
  /// Returns false if the store's timestamps come from another clock, so tests cannot check them.
  [[nodiscard]] virtual bool obeys_clock() const { return true; }
  /// May change how the content is stored, but not the content: flush, merge, close and reopen.
  virtual void Disturb() {}
  [[nodiscard]] virtual size_t key_bytes_max() const { return 32767; }
  /// Returns false if older versions of a column remain in a family that keeps several versions
  /// when one mutation deletes the column and then puts it (storage/hbase/row_changes.h).
  [[nodiscard]] virtual bool mutations_in_order() const { return true; }
};

/// Returns all rows of the scan, and checks that its batches are as small as requested.
std::vector<Row> ScanAll(Store& store, const ScanSpec& spec);

using StoreFactory = std::function<std::unique_ptr<StoreSubject>()>;

/// Runs all checks as assertions of the running doctest case. If a random check fails, its seed is
/// printed.
void CheckStoreContract(const StoreFactory& make);
/// Like CheckStoreContract, but checks the options of gets and scans: selections, budgets,
/// directions and filters.
void CheckReadContract(const StoreFactory& make);

}  // namespace hg
