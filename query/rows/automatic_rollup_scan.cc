#include "query/rows/automatic_rollup_scan.h"

#include <utility>

#include "storage/codec/row_key.h"
#include "storage/codec/value.h"
#include "storage/points/cell_scan.h"
#include "storage/points/match_series.h"
#include "storage/points/points_over_cells.h"

namespace hg::query {
namespace {

/// The values of the cells of one rollup interval.
struct Interval {
  uint16_t index = 0;
  bool counted = false, valued = false;
  RowStatistics statistics;
};

/// Scans the rollups of one HoursPiece, which have one level.
class LevelScan {
 public:
  LevelScan(points::BucketCursors cursors, const KeyLayout& layout, const HoursPiece& piece,
            const PointScanSpec& spec, Function function, uint8_t count_id)
      : cursors_(std::move(cursors)),
        layout_(layout),
        piece_(piece),
        spec_(spec),
        function_(function),
        count_id_(count_id) {}

  Result<bool> Next(RowHour* out) {
    while (next_ == intervals_.size()) {
      ASSIGN_OR_RETURN(const bool more, cursors_.Next(&row_));
      if (!more) return false;
      if (spec_.watch != nullptr) RETURN_IF_ERROR(spec_.watch->Step(row_.cells.size() + 1));
      RETURN_IF_ERROR(Take());
    }
    const Interval& interval = intervals_[next_++];
    *out = RowHour();
    out->key = row_.key;
    out->tsuid = tsuid_;
    out->base = StartOf(interval.index);
    out->stored_cells = 1;
    out->statistics = &interval.statistics;
    return true;
  }

 private:
  [[nodiscard]] uint32_t StartOf(uint16_t index) const {
    return base_ + index * piece_.level->interval.interval_s;
  }

  /// Reads the wanted intervals of the row.
  Status Take() {
    intervals_.clear();
    next_ = 0;
    const Result<codec::RowKey> key = codec::RowKey::Decode(layout_, row_.key);
    if (!key.ok() || !points::MatchesSeries(spec_.matcher, layout_, key->metric(), key->pairs()))
      return {};
    tsuid_ = key->tsuid();
    base_ = key->base();
    size_t at = 0;
    int id = -1;  // cells are sorted by aggregate id, then by index
    for (const Cell& cell : row_.cells) {
      const Result<codec::RollupQualifier> qualifier = codec::DecodeRollupQualifier(cell.qualifier);
      if (!qualifier.ok()) continue;
      const uint32_t start = StartOf(qualifier->index);
      if (start < piece_.begin_s || start >= piece_.end_s) continue;
      if (cell.value.size() != static_cast<size_t>(ValueWidth(qualifier->flags))) {
        return Status::Corruption("rollup value " + ToHexUpper(cell.value) + " under qualifier " +
                                  ToHexUpper(cell.qualifier) + " of row " + ToHexUpper(row_.key));
      }
      if (qualifier->aggregator_id != id) at = 0;
      id = qualifier->aggregator_id;
      while (at < intervals_.size() && intervals_[at].index < qualifier->index) ++at;
      if (at == intervals_.size() || intervals_[at].index != qualifier->index)
        intervals_.insert(intervals_.begin() + static_cast<ptrdiff_t>(at), Fresh(qualifier->index));
      const PointValue value{codec::ReadValueBits(cell.value.data(), qualifier->flags),
                             qualifier->flags};
      Set(value, id == count_id_, &intervals_[at]);
    }
    std::erase_if(intervals_, [this](const Interval& interval) {
      return !interval.counted || (function_ != Function::kCount && !interval.valued);
    });
    return {};
  }

  [[nodiscard]] Interval Fresh(uint16_t index) const {
    Interval interval;
    interval.index = index;
    interval.statistics.last_offset_ms = piece_.level->interval.interval_s * 1000 - 1;
    return interval;
  }

  void Set(const PointValue& value, bool is_count, Interval* interval) const {
    RowStatistics& statistics = interval->statistics;
    if (is_count) {
      statistics.count = static_cast<uint32_t>(value.as_double());
      interval->counted = true;
      return;
    }
    interval->valued = true;
    statistics.all_double = value.is_float();
    switch (function_) {
      case Function::kMin:
        statistics.least = value.as_double();
        break;
      case Function::kMax:
        statistics.most = value.as_double();
        break;
      default:
        statistics.sum = value.as_double();
    }
  }

  points::BucketCursors cursors_;
  const KeyLayout& layout_;
  const HoursPiece piece_;
  const PointScanSpec& spec_;
  const Function function_;
  const uint8_t count_id_;

  Row row_;
  Bytes tsuid_;
  uint32_t base_ = 0;
  std::vector<Interval> intervals_;  // intervals of the current row
  size_t next_ = 0;                  // the first interval that was not returned yet
};

class PiecesScan : public PointScan {
 public:
  PiecesScan(const RolledSources& sources, std::vector<HoursPiece> pieces,
             const PointScanSpec& spec, const ReconcileOptions& options, Function function)
      : sources_(sources),
        pieces_(std::move(pieces)),
        spec_(spec),
        options_(options),
        function_(function) {}

  Result<bool> Next(RowHour* row) override {
    for (;; ++at_) {
      if (raw_ == nullptr && !level_) {
        if (at_ == pieces_.size()) return false;
        RETURN_IF_ERROR(Open(pieces_[at_]));
      }
      ASSIGN_OR_RETURN(const bool more, level_ ? level_->Next(row) : raw_->Next(row));
      if (more) return true;
      raw_.reset();
      level_.reset();
    }
  }

  Status Load(RowHour* row) override {
    if (raw_ != nullptr) return raw_->Load(row);
    return Status::Conflict("A rollup of " + pieces_[at_].level->name + " has no points");
  }

 private:
  [[nodiscard]] std::string_view ValueName() const {
    if (function_ == Function::kMin) return "min";
    return function_ == Function::kMax ? "max" : "sum";
  }

  Status Open(const HoursPiece& piece) {
    if (piece.level == nullptr) {
      PointScanSpec spec = spec_;
      spec.rows = {piece.begin_s, piece.end_s};
      ASSIGN_OR_RETURN(raw_, sources_.points->Scan(spec, options_));
      return {};
    }
    if (spec_.watch != nullptr) RETURN_IF_ERROR(spec_.watch->MayWait());
    const auto& ids = sources_.tables->aggregator_ids;
    const auto count = ids.find("count"), value = ids.find(ValueName());
    if (count == ids.end() || value == ids.end())
      return Status::InvalidArgument("No ID found mapping to aggregator: " +
                                     std::string(ValueName()));
    const RowRange rows = {codec::RollupBase(piece.begin_s, piece.level->interval), piece.end_s};
    std::vector<ScanSpec> scans = points::BoundedBy(
        spec_.watch, points::BucketScans(sources_.points->layout(), piece.level->table,
                                         spec_.metric, rows, spec_.batch_rows));
    for (ScanSpec& scan : scans) {
      scan.prefixes = {Bytes(1, static_cast<char>(count->second))};
      if (function_ != Function::kCount)
        scan.prefixes.emplace_back(1, static_cast<char>(value->second));
    }
    ASSIGN_OR_RETURN(
        points::BucketCursors cursors,
        points::BucketCursors::Open(sources_.cells, scans,
                                    static_cast<size_t>(sources_.points->layout().salt_width)));
    level_.emplace(std::move(cursors), sources_.points->layout(), piece, spec_, function_,
                   count->second);
    return {};
  }

  const RolledSources sources_;
  const std::vector<HoursPiece> pieces_;
  const PointScanSpec spec_;
  const ReconcileOptions options_;
  const Function function_;

  size_t at_ = 0;  // index of the open piece
  std::unique_ptr<PointScan> raw_;
  std::optional<LevelScan> level_;
};

}  // namespace

std::unique_ptr<PointScan> ScanPieces(const RolledSources& sources, std::vector<HoursPiece> pieces,
                                      const PointScanSpec& spec, const ReconcileOptions& options,
                                      Function function) {
  return std::make_unique<PiecesScan>(sources, std::move(pieces), spec, options, function);
}

}  // namespace hg::query
