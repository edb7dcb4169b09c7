#include "storage/points/render.h"

#include <algorithm>
#include <limits>

#include "storage/codec/compacted.h"
#include "storage/codec/value.h"

namespace hg::points {
namespace {

int64_t DataTimeMs(uint32_t base, const PartPoint& point) {
  return int64_t{base} * 1000 + point.offset_ms();
}

// Later returns the cell time `by_ms` after `time_ms`, Behind the cell time just after it, and
// Before the cell time just before it. Clients may set any cell time, so the results are limited to
// the largest or smallest time.
int64_t Later(int64_t time_ms, int64_t by_ms) {
  int64_t sum = 0;
  return __builtin_add_overflow(time_ms, by_ms, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}
int64_t Behind(int64_t time_ms) { return Later(time_ms, 1); }
int64_t Before(int64_t time_ms) {
  return time_ms == std::numeric_limits<int64_t>::min() ? time_ms : time_ms - 1;
}

/// The cell times of the raw cells of a row that may determine the cell times of points, ordered by
/// sequence.
class RawCellTimes {
 public:
  explicit RawCellTimes(const RowPart& row) {
    for (const RawCell& cell : row.raw) {
      if (TouchesPoints(cell.qualifier))
        times_.push_back({cell.sequence, cell.timestamp_ms, cell.timestamp_ms, cell.timestamp_ms});
    }
    std::stable_sort(times_.begin(), times_.end(), BySequence);
    for (size_t i = 1; i < times_.size(); ++i)
      times_[i].latest_ms = std::max(times_[i].latest_ms, times_[i - 1].latest_ms);
    for (size_t i = times_.size(); i-- > 1;)
      times_[i - 1].earliest_ms = std::min(times_[i - 1].earliest_ms, times_[i].earliest_ms);
  }

  /// Returns the cell time of a point in results: its own time, moved so that it shows the age of
  /// the point. PlanRowCompaction resolves duplicates by cell times, and Reconcile resolves
  /// duplicates of a RowPart by sequences. Both must give the same result.
  [[nodiscard]] int64_t ShownTimeMs(uint32_t base, const PartPoint& point) const {
    const auto [begin, end] =
        std::equal_range(times_.begin(), times_.end(), Time{point.sequence}, BySequence);
    int64_t time = begin != end ? std::prev(end)->time_ms : DataTimeMs(base, point);
    if (begin != times_.begin()) time = std::max(time, Behind(std::prev(begin)->latest_ms));
    return end != times_.end() ? std::min(time, Before(end->earliest_ms)) : time;
  }

 private:
  struct Time {
    uint64_t sequence = 0;
    int64_t time_ms = 0;
    int64_t latest_ms = 0;    // the latest time of this cell and all cells with smaller sequences
    int64_t earliest_ms = 0;  // the earliest time of this cell and all cells with greater sequences
  };
  static bool BySequence(const Time& a, const Time& b) { return a.sequence < b.sequence; }

  std::vector<Time> times_;
};

/// Returns whether two points of one time were written in one record. In such records the smaller
/// qualifier counts as newer, so qualifiers descend. Single cells that are written separately have
/// different timestamps, or are compacted with existing cells.
bool WrittenTogether(const RowPart& row, const PartPoint& older, const PartPoint& newer) {
  return row.form == RowForm::kSingle && older.qualifier.bits > newer.qualifier.bits;
}

Cell JoinedCell(const RowPart& row, uint32_t base) {
  std::vector<codec::StoredPoint> points;
  points.reserve(row.points.size());
  for (const PartPoint& point : row.points) points.push_back({point.qualifier, point.bits});
  Cell cell{Bytes(kFamily), {}, {}, DataTimeMs(base, row.points.back())};
  codec::EncodePointCell(points, &cell.qualifier, &cell.value);
  return cell;
}

/// Returns whether JoinedCell has this qualifier. Encodes nothing, and returns at the first
/// difference.
bool NamesJoinedCell(const RowPart& row, ByteView qualifier) {
  for (const PartPoint& point : row.points) {
    codec::Qualifier q;
    if (!codec::TakeQualifier(&qualifier, &q) || q != point.qualifier) return false;
  }
  return qualifier.empty();
}

}  // namespace

bool RendersAsOne(const RowPart& row, uint32_t base, const RenderOptions& options) {
  if (row.points.empty() || !WantsOne(row.form, base, options)) return false;
  for (const RawCell& cell : row.raw) {
    if (TouchesPoints(cell.qualifier)) return false;
  }
  return std::adjacent_find(row.points.begin(), row.points.end(),
                            [](const PartPoint& a, const PartPoint& b) {
                              return a.offset_ms() == b.offset_ms();
                            }) == row.points.end();
}

std::vector<Cell> Render(const RowPart& row, uint32_t base, const RenderOptions& options) {
  std::vector<Cell> cells;
  if (RendersAsOne(row, base, options)) {
    cells.push_back(JoinedCell(row, base));
  } else {
    cells.reserve(row.points.size() + row.raw.size());
    const RawCellTimes times(row);
    // Position among the points with equal time, in the order of writing. Points of one record have
    // the same position.
    int64_t rank = 0;
    for (size_t i = 0; i < row.points.size(); ++i) {
      const PartPoint& point = row.points[i];
      const bool repeats = i > 0 && row.points[i - 1].offset_ms() == point.offset_ms();
      if (!repeats) {
        rank = 0;
      } else if (!WrittenTogether(row, row.points[i - 1], point)) {
        ++rank;
      }
      cells.push_back({Bytes(kFamily), point.qualifier.Encode(),
                       codec::EncodeValue({point.bits, point.qualifier.flags()}),
                       Later(times.ShownTimeMs(base, point), rank)});
    }
  }
  for (const RawCell& cell : row.raw) {
    cells.push_back({Bytes(kFamily), cell.qualifier, cell.value, cell.timestamp_ms});
  }
  std::sort(cells.begin(), cells.end(),
            [](const Cell& a, const Cell& b) { return a.qualifier < b.qualifier; });
  return cells;
}

RowPart DeleteRendered(const RowPart& row, uint32_t base, ByteView qualifier,
                       const RenderOptions& options) {
  RowPart deletion;
  const bool named = std::any_of(row.raw.begin(), row.raw.end(),
                                 [&](const RawCell& cell) { return cell.qualifier == qualifier; });
  codec::Qualifier q;
  if (named || CanonicalQualifier(qualifier, &q)) {
    deletion.gone.emplace_back(qualifier);
  } else if (NamesJoinedCell(row, qualifier) && RendersAsOne(row, base, options)) {
    for (const PartPoint& point : row.points) deletion.gone.push_back(point.qualifier.Encode());
    std::sort(deletion.gone.begin(), deletion.gone.end());
  }
  return deletion;
}

}  // namespace hg::points
