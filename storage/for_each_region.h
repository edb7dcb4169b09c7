#pragma once
// Runs a function on each region of a table and merges the results of the function (region-store.md
// X2).

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "storage/base/request_context.h"
#include "storage/base/survive.h"
#include "storage/store.h"

namespace hg {

/// Maximum number of regions that are processed at the same time.
inline constexpr size_t kRegionThreadsMax = 4;

/// Calls `fn(region)` for each region of the table, on several threads at the same time. `fn`
/// returns a Result<T>. After all calls of `fn`, calls `merge(&all, part)` for each result in key
/// order, on the calling thread. The regions are the regions at the time of the call. They cover
/// each key once, even if regions are split or merged meanwhile. After a call of `fn` has failed,
/// no further calls of `fn` are started. If several calls have failed, returns the failure of the
/// region that is first in key order. Blocks until all threads have ended. `context` is passed to
/// Store::Regions. `fn` must report its own work.
template <typename T, typename Fn, typename Merge>
Result<T> ForEachRegion(Store& store, const std::string& table, RequestContext* context, T all,
                        const Fn& fn, const Merge& merge) {
  ASSIGN_OR_RETURN(const std::vector<RegionInfo> regions, store.Regions(table, context));
  std::vector<Result<T>> parts(regions.size(), Status::Unavailable("another region failed"));
  std::vector<char> done(regions.size(), 0);
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (size_t i = next++; i < regions.size() && !failed; i = next++) {
      parts[i] = Survive([&] { return Result<T>(fn(regions[i])); });
      done[i] = 1;
      if (!parts[i].ok()) failed = true;
    }
  };
  std::vector<std::thread> others;
  // If a thread cannot be started, the threads that are running do its work.
  (void)Survive([&] {
    while (others.size() + 1 < std::min(kRegionThreadsMax, regions.size()))
      others.emplace_back(work);
  });
  work();
  for (std::thread& thread : others) thread.join();
  for (size_t i = 0; i < regions.size(); ++i) {
    if (done[i] != 0 && !parts[i].ok()) return parts[i].status();
  }
  for (Result<T>& part : parts) merge(&all, std::move(*part));
  return all;
}

struct TableCount {
  uint64_t rows = 0;
  uint64_t cells = 0;
  uint64_t value_bytes = 0;

  bool operator==(const TableCount&) const = default;
};

/// Called after each batch of rows that was counted, with the number of rows in the batch. Several
/// threads may call the function at the same time.
using RowsRead = std::function<void(uint64_t rows)>;

/// Returns the number of rows and cells that a scan of the region would return. Reads the whole
/// region, and reports the work and charges the memory to `watch`. `rows_read` may be empty. The
/// call may block.
inline Result<TableCount> CountRegion(Store& store, const std::string& table,
                                      const RegionInfo& region, RequestContext& watch,
                                      const RowsRead& rows_read = {}) {
  ScanSpec spec;
  spec.table = table;
  spec.start = region.start;
  spec.stop = region.stop;
  spec.fill_cache = false;
  spec.context = &watch;
  ASSIGN_OR_RETURN(const auto cursor, store.Scan(spec));
  TableCount counted;
  for (std::vector<Row> rows;;) {
    RETURN_IF_ERROR(cursor->Next(&rows));
    if (rows.empty()) return counted;
    if (rows_read) rows_read(rows.size());
    for (const Row& row : rows) {
      ++counted.rows;
      counted.cells += row.cells.size();
      for (const Cell& cell : row.cells) counted.value_bytes += cell.value.size();
    }
  }
}

/// Returns the number of rows and cells that a scan of the whole table would return. Reads the
/// whole table and reports the work to `watch`. The call may block.
inline Result<TableCount> CountTable(Store& store, const std::string& table,
                                     RequestContext& watch) {
  const auto count = [&](const RegionInfo& region) {
    return CountRegion(store, table, region, watch);
  };
  const auto add = [](TableCount* all, TableCount part) {
    all->rows += part.rows;
    all->cells += part.cells;
    all->value_bytes += part.value_bytes;
  };
  return ForEachRegion<TableCount>(store, table, &watch, {}, count, add);
}

}  // namespace hg
