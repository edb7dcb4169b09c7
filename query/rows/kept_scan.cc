#include "query/rows/kept_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

struct KeptInterval {
  uint32_t begin_s = 0;
  RowStatistics statistics;

  [[nodiscard]] uint32_t end_s() const { return begin_s + statistics.last_offset_ms / 1000 + 1; }
};

/// The rollup intervals of one series. `next` is the index of the first interval that was not
/// returned yet.
struct Rolled {
  std::vector<KeptInterval> intervals;  // ascending
  size_t next = 0;
  uint32_t given_before_s = 0;
};

/// Returns the number of points of the row without NaN, because rollups do not count NaN.
uint64_t Counted(const RowHour& row) {
  uint64_t count = row.value.size();
  for (size_t i = 0; i < row.value.size(); ++i)
    count -= row.double_at(i) && std::isnan(std::bit_cast<double>(row.value[i])) ? 1 : 0;
  return count;
}

class KeptScan : public PointScan {
 public:
  KeptScan(const RolledSources& sources, std::vector<HoursPiece> pieces, const PointScanSpec& spec,
           const ReconcileOptions& options, Function function)
      : sources_(sources),
        pieces_(std::move(pieces)),
        spec_(spec),
        options_(options),
        function_(function),
        memory_(spec.watch) {}

  Result<bool> Next(RowHour* out) override {
    if (raw_ == nullptr) RETURN_IF_ERROR(Open());
    while (!raw_ended_) {
      if (!held_) {
        ASSIGN_OR_RETURN(held_, raw_->Next(&row_));
        if (!held_) {
          raw_ended_ = true;
          left_ = rolled_.begin();
          break;
        }
        at_ = rolled_.find(row_.tsuid);
      }
      if (at_ != rolled_.end() && GivesBefore(row_.base, out)) return true;
      held_ = false;
      // Rows that do not begin at a full hour have points after 2106, which have no rollups.
      if (row_.value.empty() || row_.base % kRowSpan != 0 || !IsWhole()) continue;
      *out = row_;
      return true;
    }
    for (; left_ != rolled_.end(); ++left_) {
      at_ = left_;
      if (GivesBefore(UINT32_MAX, out)) return true;
    }
    return false;
  }

 private:
  // Opens the scan of raw points before it reads the rollups. So points that retention deletes in
  // between are still visible in the scan or are in the rollups.
  Status Open() {
    ASSIGN_OR_RETURN(raw_, sources_.points->Scan(spec_, options_));
    const auto scan = ScanPieces(sources_, pieces_, spec_, options_, function_);
    RowHour row;
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, scan->Next(&row));
      if (!more) return {};
      auto found = rolled_.find(row.tsuid);
      constexpr int64_t kSeriesBytes = 160;
      if (found == rolled_.end()) {
        RETURN_IF_ERROR(memory_.Add(kSeriesBytes + static_cast<int64_t>(row.tsuid.size())));
        found = rolled_.emplace(row.tsuid, Rolled()).first;
      }
      RETURN_IF_ERROR(memory_.Add(2 * sizeof(KeptInterval)));  // vectors grow by doubling
      found->second.intervals.push_back({row.base, *row.statistics});
    }
  }

  /// Sets *out to the next interval of the current series if that begins before `base`. Otherwise
  /// returns false.
  bool GivesBefore(uint32_t base, RowHour* out) {
    Rolled& rolled = at_->second;
    if (rolled.next == rolled.intervals.size() || rolled.intervals[rolled.next].begin_s >= base)
      return false;
    const KeptInterval& interval = rolled.intervals[rolled.next++];
    rolled.given_before_s = interval.end_s();
    *out = RowHour();
    out->tsuid = at_->first;
    out->base = interval.begin_s;
    out->statistics = &interval.statistics;
    return true;
  }

  /// Returns true if the row still has all points that the rollups of its hour count. Then these
  /// rollup intervals are skipped.
  bool IsWhole() {
    if (at_ == rolled_.end()) return true;
    Rolled& rolled = at_->second;
    if (row_.base < rolled.given_before_s) return false;
    size_t behind = rolled.next;
    uint64_t counted = 0;
    for (; behind < rolled.intervals.size() &&
           rolled.intervals[behind].begin_s < row_.base + kRowSpan;
         ++behind)
      counted += rolled.intervals[behind].statistics.count;
    if (Counted(row_) < counted) return false;
    rolled.next = behind;
    return true;
  }

  const RolledSources sources_;
  const std::vector<HoursPiece> pieces_;
  const PointScanSpec spec_;
  const ReconcileOptions options_;
  const Function function_;

  MemoryTally memory_;
  std::map<Bytes, Rolled, std::less<>> rolled_;  // by TSUID
  std::unique_ptr<PointScan> raw_;
  RowHour row_;
  bool held_ = false, raw_ended_ = false;  // held_: row_ was read but not returned yet
  decltype(rolled_)::iterator at_;         // series of row_, or end()
  decltype(rolled_)::iterator left_;       // after the last row: the next series with intervals
};

}  // namespace

std::unique_ptr<PointScan> ScanKept(const RolledSources& sources, std::vector<HoursPiece> pieces,
                                    const PointScanSpec& spec, const ReconcileOptions& options,
                                    Function function) {
  return std::make_unique<KeptScan>(sources, std::move(pieces), spec, options, function);
}

}  // namespace hg::query
