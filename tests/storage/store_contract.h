#pragma once
// What every cells door must do (storage/store.h, spec region-store.md §11), as checks that run on
// any of them.

#include <functional>
#include <memory>

#include "storage/store.h"
#include "tests/support/manual_clock.h"

namespace hg {

/// A store with nothing in it. Created per check.
class StoreSubject {
 public:
  virtual ~StoreSubject() = default;
  virtual Store& store() = 0;
  virtual ManualClock& clock() = 0;
  /// False: its times come from elsewhere, so that nothing can be said of them.
  [[nodiscard]] virtual bool obeys_clock() const { return true; }
  /// Does whatever may change the form of what is stored, never its meaning: flush, merge, close
  /// and open again.
  virtual void Disturb() {}
  [[nodiscard]] virtual size_t key_bytes_max() const { return 32767; }
  /// False: a delete and a later put of one column in one mutation leave older versions of a family
  /// that keeps several (storage/hbase/row_changes.h).
  [[nodiscard]] virtual bool mutations_in_order() const { return true; }
};

/// All rows of the scan, whose batches are as small as was asked.
std::vector<Row> ScanAll(Store& store, const ScanSpec& spec);

using StoreFactory = std::function<std::unique_ptr<StoreSubject>()>;

/// Runs all checks as assertions of the running doctest case. Seeds of random checks are printed on
/// failure.
void CheckStoreContract(const StoreFactory& make);
/// The same for what readers may ask: selections, budgets, directions, filters.
void CheckReadContract(const StoreFactory& make);

}  // namespace hg
