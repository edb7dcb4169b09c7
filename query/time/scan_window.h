#pragma once
// Computes which hours a sub-query reads (opentsdb-queries.md §2.2). Free of I/O.

#include <cstdint>

namespace hg::query {

/// The rows that a query reads completely: those with bases in [begin_s, end_s). Both are multiples
/// of the row span.
struct ScanWindow {
  int64_t begin_s = 0;
  int64_t end_s = 0;

  [[nodiscard]] int64_t begin_ms() const { return begin_s * 1000; }
  /// Returns the end in milliseconds. Times of 2^32 seconds or more (the year 2106) are converted
  /// as if they were milliseconds, as in OpenTSDB.
  [[nodiscard]] int64_t end_ms() const {
    return end_s > INT64_C(0xFFFFFFFF) ? end_s : end_s * 1000;
  }
  bool operator==(const ScanWindow&) const = default;
};

/// Computes the window. `interval_ms` is the downsampling interval (the nominal length of calendar
/// intervals); 0 = none or run-all. Times below 2^32 count as seconds, as in OpenTSDB. If the end
/// is in milliseconds, one second is added to it (quirk Q1 in opentsdb-queries.md).
ScanWindow PlanScan(int64_t start_ms, int64_t end_ms, int64_t interval_ms);

}  // namespace hg::query
