#pragma once
// Computes the range of hours that a sub-query reads (opentsdb-queries.md §2.2). Does no I/O.

#include <cstdint>

namespace hg::query {

/// The range of row base times that a sub-query reads: all rows with bases in [begin_s, end_s), in
/// seconds. The sub-query reads these rows completely. Both begin_s and end_s are multiples of the
/// row span (one hour).
struct ScanWindow {
  int64_t begin_s = 0;
  int64_t end_s = 0;

  [[nodiscard]] int64_t begin_ms() const { return begin_s * 1000; }
  /// Returns the end of the window in milliseconds. If end_s is 2^32 or more (after the year 2105),
  /// the result is end_s itself, because OpenTSDB takes such a number for milliseconds.
  [[nodiscard]] int64_t end_ms() const {
    return end_s > INT64_C(0xFFFFFFFF) ? end_s : end_s * 1000;
  }
  bool operator==(const ScanWindow&) const = default;
};

/// The longest interval of downsampling: about 3 million years, in milliseconds. It is longer than
/// all times, so longer fixed intervals are treated as this one. With this limit, sums of times and
/// intervals fit 64 bits.
inline constexpr int64_t kIntervalMaxMs = 100'000'000'000'000'000;

/// Computes the scan window of a sub-query from the start and the end of the query. `interval_ms`
/// is the length of a downsampling interval, or the nominal length of a calendar interval. It is 0
/// if the sub-query has no downsampling or if its interval is "all". As in OpenTSDB, a start or an
/// end below 2^32 is taken for seconds. If the end is in milliseconds, one second is added to the
/// end (quirk Q1 in opentsdb-queries.md). With an interval of kIntervalMaxMs, the window
/// ends at the last full hour that a row key can have.
ScanWindow PlanScan(int64_t start_ms, int64_t end_ms, int64_t interval_ms);

}  // namespace hg::query
