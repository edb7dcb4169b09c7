#include "query/time/scan_window.h"

#include <algorithm>

#include "storage/model/timestamp.h"

namespace hg::query {

ScanWindow PlanScan(int64_t start_ms, int64_t end_ms, int64_t interval_ms) {
  ScanWindow out;
  int64_t start = Timestamp{start_ms}.is_millis() ? start_ms / 1000 : start_ms;
  if (interval_ms > 0) start -= (1000 * start) % interval_ms / 1000;
  start -= start % kRowSpan;
  out.begin_s = std::max<int64_t>(start, 0);

  int64_t end = Timestamp{end_ms}.is_millis() ? end_ms / 1000 + 1 : end_ms;
  if (interval_ms >= kIntervalMaxMs) {
    out.end_s = UINT32_MAX - UINT32_MAX % kRowSpan;
  } else if (interval_ms > 0) {
    end += (interval_ms - (1000 * end) % interval_ms) / 1000;
    int64_t over = end % kRowSpan;
    out.end_s = over == 0 ? end : end + kRowSpan - over;
  } else {
    out.end_s = end + kRowSpan - end % kRowSpan;
  }
  return out;
}

}  // namespace hg::query
