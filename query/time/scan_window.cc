#include "query/time/scan_window.h"

#include <algorithm>

#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

bool IsMillis(int64_t t) { return (static_cast<uint64_t>(t) >> 32) != 0; }

}  // namespace

ScanWindow PlanScan(int64_t start_ms, int64_t end_ms, int64_t interval_ms) {
  ScanWindow out;
  int64_t start = IsMillis(start_ms) ? start_ms / 1000 : start_ms;
  if (interval_ms > 0) start -= (1000 * start) % interval_ms / 1000;
  start -= start % kRowSpan;
  out.begin_s = std::max<int64_t>(start, 0);

  int64_t end = IsMillis(end_ms) ? end_ms / 1000 + 1 : end_ms;
  if (interval_ms > 0) {
    end += (interval_ms - (1000 * end) % interval_ms) / 1000;
    int64_t over = end % kRowSpan;
    out.end_s = over == 0 ? end : end + kRowSpan - over;
  } else {
    out.end_s = end + kRowSpan - end % kRowSpan;
  }
  return out;
}

}  // namespace hg::query
