#include "tsd/tools/fsck_row.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "storage/codec/append_cell.h"
#include "storage/codec/cell_class.h"
#include "storage/codec/compacted.h"
#include "storage/codec/value.h"
#include "storage/points/reconcile.h"

namespace hg::tsd {
namespace {

using codec::Qualifier;

std::string Show(const Cell& cell) {
  return "column " + ToHexUpper(cell.qualifier) + ", value " + ToHexUpper(cell.value);
}

/// A point with its cell. Borrows the cell.
struct FoundPoint {
  const Cell* cell = nullptr;
  Qualifier qualifier;
  ByteView value;          // the value of this point only
  bool compacted = false;  // whether the cell has several points
};

/// Splits a compacted cell by the flags of its qualifiers, even if they are invalid. Returns false
/// if the last part does not end directly before the last byte of the cell.
bool SplitCompacted(const Cell& cell, std::vector<FoundPoint>* points) {
  ByteView qualifiers = cell.qualifier;
  ByteView values = cell.value;
  while (!qualifiers.empty()) {
    Qualifier qualifier;
    if (!codec::TakeQualifier(&qualifiers, &qualifier)) return false;
    const auto width = static_cast<size_t>(qualifier.value_width());
    if (values.size() < width) return false;
    points->push_back({&cell, qualifier, values.substr(0, width), true});
    values.remove_prefix(width);
  }
  return values.size() == 1;
}

bool Earlier(const FoundPoint& a, const FoundPoint& b) {
  return a.qualifier.offset_ms() < b.qualifier.offset_ms();
}

class RowCheck {
 public:
  RowCheck(std::span<const Cell> cells, const FsckOptions& options)
      : cells_(cells), options_(options) {}

  FsckRow Run() && {
    for (const Cell& cell : cells_) {
      ++row_.counts.cells;
      CheckCell(cell);
    }
    row_.has_points = !points_.empty();
    // A row with a compacted cell is rewritten completely, so all cells must be read before the
    // points are checked.
    joining_ = has_compacted_ || options_.compact;
    std::stable_sort(points_.begin(), points_.end(), Earlier);
    for (size_t begin = 0, end = 0; begin < points_.size(); begin = end) {
      while (end < points_.size() && !Earlier(points_[begin], points_[end])) ++end;
      CheckInstant(std::span(points_).subspan(begin, end - begin));
    }
    if (joining_) Join();
    if (options_.fix) CollectChanges();
    return std::move(row_);
  }

 private:
  void Find(std::string finding) { row_.findings.push_back(std::move(finding)); }

  void CheckCell(const Cell& cell) {
    using codec::CellClass;
    switch (codec::ClassifyQualifier(cell.qualifier)) {
      case CellClass::kPoint: {
        ByteView bytes = cell.qualifier;
        FoundPoint point{&cell, {}, cell.value, false};
        (void)codec::TakeQualifier(&bytes, &point.qualifier);
        points_.push_back(point);
        return;
      }
      case CellClass::kCompacted:
        return CheckCompacted(cell);
      // A malformed qualifier has two bytes and begins with F. OpenTSDB's fsck stops at it.
      case CellClass::kMalformed:
        return CheckUnknown(cell);
      default:
        return CheckObject(cell);
    }
  }

  void CheckUnknown(const Cell& cell) {
    ++row_.counts.unknown;
    Find("unknown object: " + Show(cell));
    if (!options_.fix || !options_.delete_unknown_columns) return;
    deletes_.insert(cell.qualifier);
    ++row_.counts.unknown_deleted;
  }

  /// Checks a column of odd length.
  void CheckObject(const Cell& cell) {
    if (cell.qualifier.size() != 3 && cell.qualifier.size() != 5) return CheckUnknown(cell);
    if (cell.qualifier[0] == codec::kAnnotationPrefix) {
      ++row_.counts.annotations;
      return;
    }
    if (cell.qualifier[0] == codec::kAppendPrefix) return CheckAppend(cell);
    if (CheckRollup(cell)) return;
    ++row_.counts.future_objects;
    Find("possibly an object of a future version: " + Show(cell));
  }

  /// Checks an append cell. The points of append cells are not counted. Append cells are repaired
  /// in the same way as in reads.
  void CheckAppend(const Cell& cell) {
    ReconcileOptions options;
    options.repair_appends = options_.repair_appends;
    auto repair = points::PlanAppendRepair({&cell, 1}, options);
    if (!repair.ok()) return Find(std::string(repair.status().message()));
    for (CellChange& change : *repair) puts_.push_back(std::move(change));
  }

  /// Returns false if the column is not one of the configured rollups.
  bool CheckRollup(const Cell& cell) {
    if (options_.rollups == nullptr) return false;
    const auto& ids = options_.rollups->aggregator_ids;
    const uint8_t id = ByteAt(cell.qualifier, 0);
    if (std::none_of(ids.begin(), ids.end(), [id](const auto& a) { return a.second == id; }))
      return false;
    ByteView behind_id = ByteView(cell.qualifier).substr(1);
    Qualifier place;
    if (!codec::TakeQualifier(&behind_id, &place)) return false;
    const uint32_t index = place.offset_ms() / 1000;
    const auto& levels = options_.rollups->levels;
    if (std::none_of(levels.begin(), levels.end(), [index](const codec::RollupLevel& level) {
          return index < level.interval.intervals_max;
        }))
      return false;
    if (place.valid_flags() && cell.value.size() >= static_cast<size_t>(place.value_width())) {
      ++row_.counts.valid_points;
    } else {
      ++row_.counts.bad_values;
      Find("the value of a rollup cannot be read: " + Show(cell));
    }
    return true;
  }

  void CheckCompacted(const Cell& cell) {
    if (!cell.value.empty() && static_cast<signed char>(cell.value.back()) > 1) {
      ++row_.counts.bad_compacts;
      Find("a compacted column ends in neither 0 nor 1: " + Show(cell));
      return;
    }
    std::vector<FoundPoint> found;
    if (!SplitCompacted(cell, &found)) {
      ++row_.counts.bad_compacts;
      Find("the parts of a compacted column do not add up: " + Show(cell));
      if (options_.fix && options_.delete_bad_compacts) {
        deletes_.insert(cell.qualifier);
        ++row_.counts.bad_compacts_deleted;
      }
      return;
    }
    if (!std::is_sorted(found.begin(), found.end(), Earlier)) {
      ++row_.counts.unsorted_compacts;
      Find("a compacted column is not in order: " + Show(cell));
    }
    has_compacted_ = true;
    points_.insert(points_.end(), found.begin(), found.end());
  }

  /// Checks all points of one time; there is at least one.
  void CheckInstant(std::span<FoundPoint> points) {
    ++row_.counts.valid_points;
    if (points.size() == 1) {
      CheckPoint(points[0]);
      columns_.insert(points[0].cell->qualifier);
      return;
    }
    has_duplicates_ = true;
    // The sort is stable, so cells that were written at the same time stay in the order of their
    // qualifiers (opentsdb-tools.md §7).
    std::stable_sort(points.begin(), points.end(), [](const FoundPoint& a, const FoundPoint& b) {
      return a.cell->timestamp_ms < b.cell->timestamp_ms;
    });
    const FoundPoint& kept = PointToKeep(points);
    Find(std::to_string(points.size()) + " points " + std::to_string(kept.qualifier.offset_ms()) +
         " ms into the row; to keep: " + Show(*kept.cell));
    kept_time_ms_ = std::min(kept_time_ms_, kept.cell->timestamp_ms);
    const FoundPoint& first = FirstChoice(points);
    // CheckDuplicate deletes a readable first choice if duplicates are resolved.
    if (&first != &kept && !(options_.resolve_duplicates && IsReadable(first)))
      BadValue(first, WhyBad(first));
    CheckPoint(kept);
    columns_.insert(kept.cell->qualifier);
    for (const FoundPoint& point : points) {
      if (&point != &kept) CheckDuplicate(point);
    }
  }

  /// Returns the point that OpenTSDB keeps.
  [[nodiscard]] const FoundPoint& FirstChoice(std::span<const FoundPoint> points) const {
    return options_.last_write_wins ? points.back() : points.front();
  }

  /// Returns the first readable point in the order of the option. If OpenTSDB's choice cannot be
  /// read, OpenTSDB deletes the readable points and keeps no value.
  [[nodiscard]] const FoundPoint& PointToKeep(std::span<const FoundPoint> points) const {
    const FoundPoint* kept = nullptr;
    for (const FoundPoint& point : points) {
      if (!IsReadable(point) || !WhyBad(point).empty()) continue;
      if (kept == nullptr || options_.last_write_wins) kept = &point;
    }
    return kept != nullptr ? *kept : FirstChoice(points);
  }

  static bool IsReadable(const FoundPoint& point) {
    return point.compacted ||
           (point.qualifier.valid_flags() && point.value.size() >= Width(point.qualifier));
  }

  void CheckDuplicate(const FoundPoint& point) {
    ++row_.counts.duplicates;
    Find("  duplicate: " + Show(*point.cell));
    // This option does not delete unreadable points; --delete-bad-values does.
    if (!IsReadable(point)) return;
    columns_.insert(point.cell->qualifier);
    if (!options_.fix || !options_.resolve_duplicates) return;
    if (has_compacted_) {
      ++joined_counts_.duplicates_resolved;
    } else {
      ++row_.counts.duplicates_resolved;
      deletes_.insert(point.cell->qualifier);
    }
  }

  static size_t Width(Qualifier qualifier) { return static_cast<size_t>(qualifier.value_width()); }

  /// Returns why a value is bad, or "" if it is not.
  static std::string WhyBad(const FoundPoint& point) {
    const size_t size = point.value.size();
    const size_t width = Width(point.qualifier);
    if (!point.qualifier.is_float()) {
      if (size == width) return "";
      return "an integer on " + std::to_string(size) + " bytes instead of " + std::to_string(width);
    }
    if (width == 4 && size == 8) {
      const uint32_t high = ReadBig32(point.value.data());
      const bool sign_extended = high == 0xFFFFFFFF && !point.qualifier.is_millis();
      if (high == 0 || sign_extended) return "";
      return "a single on 8 bytes, the first four of them not zero";
    }
    if (size == 8 || (size == 4 && width != 8)) return "";
    return "a floating point value on " + std::to_string(size) + " bytes";
  }

  void CheckPoint(const FoundPoint& point) {
    if (const std::string why = WhyBad(point); !why.empty()) return BadValue(point, why);
    if (point.qualifier.is_float()) {
      CheckFloat(point);
    } else {
      CheckInteger(point);
    }
  }

  void CheckFloat(const FoundPoint& point) {
    const size_t size = point.value.size();
    if (Width(point.qualifier) == 4 && size == 8) return RepairWideSingle(point);
    if (size == Width(point.qualifier)) return Keep(point.qualifier, point.value);
    // The value is valid in its own cell, but in a compacted cell its width would shift the values
    // after it.
    cannot_join_ = true;
  }

  /// Repairs a float that is stored in 8 bytes. Old writers stored floats in this form, some of
  /// them with sign extension.
  void RepairWideSingle(const FoundPoint& point) {
    ++row_.counts.bad_encodings;
    Find("a single on 8 bytes: " + Show(*point.cell));
    if (!options_.fix) return;
    ++Repaired().bad_encodings_fixed;
    Replace(point, point.qualifier, Bytes(point.value.substr(4)));
  }

  void CheckInteger(const FoundPoint& point) {
    if (point.value.size() != 8) return Keep(point.qualifier, point.value);
    const PointValue shortest =
        PointValue::Int(static_cast<int64_t>(ReadBig64(point.value.data())));
    const auto width = static_cast<size_t>(ValueWidth(shortest.flags));
    if (width == 8) return Keep(point.qualifier, point.value);
    ++row_.counts.long_integers;
    row_.counts.bytes_saved += 8 - width;
    const Qualifier qualifier = point.qualifier.with_flags(shortest.flags);
    // If a column with the shorter form exists, this repair would overwrite it, so the point is not
    // changed.
    if (!options_.fix || (!joining_ && HasColumn(qualifier)))
      return Keep(point.qualifier, point.value);
    ++Repaired().long_integers_shortened;
    Replace(point, qualifier, codec::EncodeValue(shortest));
  }

  [[nodiscard]] bool HasColumn(Qualifier qualifier) const {
    const Bytes name = qualifier.Encode();
    return std::any_of(cells_.begin(), cells_.end(),
                       [&name](const Cell& cell) { return cell.qualifier == name; });
  }

  void BadValue(const FoundPoint& point, const std::string& what) {
    ++row_.counts.bad_values;
    Find(what + ": " + Show(*point.cell));
    if (point.compacted) {
      ++row_.counts.bad_compacts;
      uncorrected_ = true;
    } else if (options_.fix && options_.delete_bad_values) {
      ++row_.counts.bad_values_deleted;
      deletes_.insert(point.cell->qualifier);
    } else {
      uncorrected_ = true;
    }
  }

  /// Returns the counters for repairs. In a row that is to be rewritten, repairs count only if Join
  /// really rewrites it.
  FsckCounts& Repaired() { return joining_ ? joined_counts_ : row_.counts; }

  void Keep(Qualifier qualifier, ByteView value) {
    if (joining_)
      joined_.push_back({qualifier, codec::ReadValueBits(value.data(), qualifier.flags())});
  }

  void Replace(const FoundPoint& point, Qualifier qualifier, Bytes value) {
    if (joining_) return Keep(qualifier, value);
    CellChange put = PutCell(point.cell->family, qualifier.Encode(), std::move(value));
    if (qualifier != point.qualifier) {
      deletes_.insert(point.cell->qualifier);
      if (options_.use_otsdb_timestamp) put.timestamp_ms = point.cell->timestamp_ms;
    }
    puts_.push_back(std::move(put));
  }

  /// Writes the points of the row as one cell and deletes its other columns of points.
  void Join() {
    if (!options_.fix || joined_.empty() || cannot_join_) return;
    if (has_duplicates_ && !options_.resolve_duplicates) return;
    if (uncorrected_ && !options_.delete_bad_values) return;
    row_.counts += joined_counts_;
    CellChange put = PutCell(cells_[0].family, {}, {});
    codec::EncodePointCell(joined_, &put.qualifier, &put.value);
    if (options_.use_otsdb_timestamp && has_duplicates_) put.timestamp_ms = kept_time_ms_;
    deletes_.insert(columns_.begin(), columns_.end());
    deletes_.erase(put.qualifier);
    const bool stored = std::any_of(cells_.begin(), cells_.end(), [&put](const Cell& cell) {
      return cell.qualifier == put.qualifier && cell.value == put.value;
    });
    if (!stored) puts_.push_back(std::move(put));
  }

  void CollectChanges() {
    for (CellChange& put : puts_) {
      deletes_.erase(put.qualifier);
      row_.changes.push_back(std::move(put));
    }
    for (const Bytes& qualifier : deletes_)
      row_.changes.push_back(DeleteColumn(cells_[0].family, qualifier));
  }

  const std::span<const Cell> cells_;
  const FsckOptions& options_;
  FsckRow row_;
  std::vector<FoundPoint> points_;
  bool has_compacted_ = false;  // whether there is a readable compacted cell
  bool joining_ = false;
  bool has_duplicates_ = false;
  bool uncorrected_ = false;  // whether a bad value stays in the row
  bool cannot_join_ = false;
  int64_t kept_time_ms_ =
      std::numeric_limits<int64_t>::max();  // the oldest of the duplicates that were kept
  std::vector<codec::StoredPoint> joined_;
  FsckCounts joined_counts_;
  std::set<Bytes> columns_;  // the columns that the joined cell replaces
  std::vector<CellChange> puts_;
  std::set<Bytes> deletes_;
};

}  // namespace

FsckRow CheckCells(std::span<const Cell> cells, const FsckOptions& options) {
  return RowCheck(cells, options).Run();
}

}  // namespace hg::tsd
