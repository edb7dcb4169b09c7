#include "query/rows/automatic_rollup_hours.h"

#include <algorithm>

#include "storage/model/key_layout.h"

namespace hg::query {
namespace {

int64_t Down(int64_t t, int64_t step) { return t - t % step; }
int64_t Up(int64_t t, int64_t step) { return Down(t + step - 1, step); }

class Cover {
 public:
  Cover(std::vector<RolledLevel> levels, const std::vector<uint32_t>& changed)
      : levels_(std::move(levels)), changed_(changed) {}

  /// Covers [begin, end) with the levels from index `at` on.
  void Add(size_t at, int64_t begin, int64_t end) {
    if (begin >= end) return;
    if (at == levels_.size()) return Append(nullptr, begin, end);
    const RolledLevel& level = levels_[at];
    const int64_t interval = level.level->interval.interval_s;
    const int64_t first = Up(std::max<int64_t>(begin, level.begin_s), interval);
    const int64_t stop = Down(std::min<int64_t>(end, level.end_s), interval);
    if (first >= stop) return Add(at + 1, begin, end);
    Add(at + 1, begin, first);
    int64_t next = first;
    // The changed hours are not read from this level. An interval may begin in one hour and end in
    // a later one, so `from` and `to` are rounded to intervals.
    auto hour = std::lower_bound(changed_.begin(), changed_.end(), first);
    for (; hour != changed_.end() && *hour < stop; ++hour) {
      const int64_t from = std::max(Down(*hour, interval), next);
      const int64_t to = std::min(Up(int64_t{*hour} + kRowSpan, interval), stop);
      if (to <= next) continue;
      Append(level.level, next, from);
      Add(at + 1, from, to);
      next = to;
    }
    Append(level.level, next, stop);
    Add(at + 1, stop, end);
  }

  std::vector<HoursPiece> pieces;

 private:
  void Append(const codec::RollupLevel* level, int64_t begin, int64_t end) {
    if (begin >= end) return;
    const auto begin_s = static_cast<uint32_t>(begin), end_s = static_cast<uint32_t>(end);
    if (!pieces.empty() && pieces.back().level == level && pieces.back().end_s == begin_s) {
      pieces.back().end_s = end_s;
    } else {
      pieces.push_back({level, begin_s, end_s});
    }
  }

  const std::vector<RolledLevel> levels_;  // best level first
  const std::vector<uint32_t>& changed_;
};

}  // namespace

std::vector<HoursPiece> CoverHours(const RolledHours& rolled, const RowRange& rows,
                                   int64_t interval_s) {
  std::vector<RolledLevel> levels;
  for (const RolledLevel& level : rolled.levels)
    if (interval_s % level.level->interval.interval_s == 0) levels.push_back(level);
  std::sort(levels.begin(), levels.end(), [](const RolledLevel& a, const RolledLevel& b) {
    return a.level->interval.interval_s > b.level->interval.interval_s;
  });
  Cover cover(std::move(levels), rolled.changed);
  cover.Add(0, rows.begin, static_cast<int64_t>(rows.end));
  return std::move(cover.pieces);
}

std::vector<HoursPiece> CoverKept(const RolledHours& rolled, const RowRange& rows) {
  std::vector<RolledLevel> levels = rolled.levels;
  std::stable_sort(levels.begin(), levels.end(), [](const RolledLevel& a, const RolledLevel& b) {
    return a.level->interval.interval_s < b.level->interval.interval_s;
  });
  const std::vector<uint32_t> unchanged;  // deleted raw points cannot change
  Cover cover(std::move(levels), unchanged);
  cover.Add(0, rows.begin, std::min<int64_t>(static_cast<int64_t>(rows.end), rolled.kept_before_s));
  std::erase_if(cover.pieces, [](const HoursPiece& piece) { return piece.level == nullptr; });
  return std::move(cover.pieces);
}

}  // namespace hg::query
