#pragma once
// Computes the range of hours that a sub-query reads (opentsdb-queries.md §2.2). Does no I/O.

#include <cstdint>

namespace hg::query {

/// The range of rows that a query reads: all rows with bases in [begin_s, end_s). Rows in this
/// range are read completely. Both begin_s and end_s are multiples of the row span.
struct ScanWindow {
  int64_t begin_s = 0;
  int64_t end_s = 0;

  [[nodiscard]] int64_t begin_ms() const { return begin_s * 1000; }
  /// Returns the end of the window in milliseconds. Times of 2^32 seconds or more (the year 2106)
  /// are treated as if they were milliseconds, as in OpenTSDB.
  [[nodiscard]] int64_t end_ms() const {
    return end_s > INT64_C(0xFFFFFFFF) ? end_s : end_s * 1000;
  }
  bool operator==(const ScanWindow&) const = default;
};

/// Computes the scan window. `interval_ms` is the length of a downsampling interval, or the nominal
/// length of a calendar interval; 0 = no downsampling, or run-all. Times below 2^32 count as
/// seconds, as in OpenTSDB. If the end is in milliseconds, one second is added to the end (quirk Q1
/// in opentsdb-queries.md).
ScanWindow PlanScan(int64_t start_ms, int64_t end_ms, int64_t interval_ms);

}  // namespace hg::query
