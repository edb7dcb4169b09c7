#include "query/rows/client_rollup_scan.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "storage/codec/row_key.h"
#include "storage/codec/value.h"
#include "storage/points/cell_scan.h"
#include "storage/points/match_series.h"
#include "storage/points/points_over_cells.h"

namespace hg::query {
namespace {

// A rollup row may cover a year, which is too long for an offset in milliseconds, so a row is
// returned in parts of this length.
constexpr int64_t kPartMs = int64_t{1} << 31;

struct RollupValue {
  uint16_t index = 0;
  PointValue value;
  int64_t written_ms = 0;
};

class RollupScan : public PointScan {
 public:
  RollupScan(points::BucketCursors cursors, const KeyLayout& layout, RollupColumn column,
             PointScanSpec spec, bool fix_duplicates)
      : cursors_(std::move(cursors)),
        layout_(layout),
        column_(std::move(column)),
        spec_(std::move(spec)),
        fix_duplicates_(fix_duplicates) {}

  Result<bool> Next(RowHour* out) override {
    while (next_ == values_.size()) {
      ASSIGN_OR_RETURN(const bool more, cursors_.Next(&row_));
      if (!more) return false;
      if (spec_.watch != nullptr) RETURN_IF_ERROR(spec_.watch->Step(row_.cells.size() + 1));
      ASSIGN_OR_RETURN(const bool taken, Take());
      if (taken) break;
    }
    Give(out);
    return true;
  }

 private:
  /// Returns false if the row belongs to no wanted series or has no wanted cells.
  Result<bool> Take() {
    values_.clear();
    next_ = 0;
    const Result<codec::RowKey> key = codec::RowKey::Decode(layout_, row_.key);
    if (!key.ok() || !points::MatchesSeries(spec_.matcher, layout_, key->metric(), key->pairs()))
      return false;
    ASSIGN_OR_RETURN(values_, Read(column_.aggregate));
    bool any = !values_.empty();
    if (column_.beside) {
      ASSIGN_OR_RETURN(const std::vector<RollupValue> beside, Read(*column_.beside));
      any |= !beside.empty();
      KeepWhere(beside);
    }
    if (!any) return false;
    tsuid_ = key->tsuid();
    base_ = key->base();
    return true;
  }

  void KeepWhere(const std::vector<RollupValue>& beside) {
    std::vector<RollupValue> kept;
    size_t at = 0;
    for (const RollupValue& v : values_) {
      while (at < beside.size() && beside[at].index < v.index) ++at;
      if (at < beside.size() && beside[at].index == v.index) kept.push_back(v);
    }
    values_ = std::move(kept);
  }

  /// Returns the values in ascending order of index.
  [[nodiscard]] Result<std::vector<RollupValue>> Read(
      const codec::RollupAggregate& aggregate) const {
    std::vector<RollupValue> all;
    for (const Cell& cell : row_.cells) {
      const auto qualifier = codec::DecodeRollupQualifierOf(aggregate, cell.qualifier);
      if (!qualifier) continue;
      if (cell.value.size() != static_cast<size_t>(ValueWidth(qualifier->flags))) {
        return Status::Corruption("rollup value " + ToHexUpper(cell.value) + " under qualifier " +
                                  ToHexUpper(cell.qualifier) + " of row " + ToHexUpper(row_.key));
      }
      all.push_back({qualifier->index,
                     {codec::ReadValueBits(cell.value.data(), qualifier->flags), qualifier->flags},
                     cell.timestamp_ms});
    }
    // The cells of one form of qualifiers are in ascending order. The cells of the older form come
    // after those of the newer form, so both must be sorted together.
    std::stable_sort(all.begin(), all.end(),
                     [](const RollupValue& a, const RollupValue& b) { return a.index < b.index; });
    std::vector<RollupValue> values;
    for (const RollupValue& value : all) {
      if (values.empty() || values.back().index != value.index) {
        values.push_back(value);
      } else if (!fix_duplicates_) {
        return Status::InvalidArgument("Duplicate rollup of interval " +
                                       std::to_string(value.index) + " in row " +
                                       ToHexUpper(row_.key) +
                                       "; set tsd.storage.fix_duplicates = true to use the one "
                                       "that was written later");
      } else if (value.written_ms > values.back().written_ms) {
        values.back() = value;
      }
    }
    return values;
  }

  void Give(RowHour* out) {
    offsets_.clear();
    bits_.clear();
    doubles_.clear();
    const size_t cells = values_.size();
    const int64_t interval_ms = int64_t{column_.interval.interval_s} * 1000;
    const int64_t begin_ms = next_ < cells ? values_[next_].index * interval_ms : 0;
    for (; next_ < cells; ++next_) {
      const RollupValue& v = values_[next_];
      const int64_t offset_ms = v.index * interval_ms - begin_ms;
      if (offset_ms >= kPartMs) break;
      offsets_.push_back(static_cast<uint32_t>(offset_ms));
      doubles_.push_back(v.value.is_float() ? 1 : 0);
      bits_.push_back(v.value.is_float() ? std::bit_cast<uint64_t>(v.value.as_double())
                                         : v.value.bits);
    }
    *out = RowHour();
    out->key = row_.key;
    out->tsuid = tsuid_;
    out->base = base_ + static_cast<uint32_t>(begin_ms / 1000);
    out->offset_ms = offsets_;
    out->value = bits_;
    out->is_double = doubles_;
    out->stored_cells = static_cast<uint32_t>(offsets_.size());
  }

  points::BucketCursors cursors_;
  const KeyLayout layout_;
  const RollupColumn column_;
  const PointScanSpec spec_;
  const bool fix_duplicates_;

  Row row_;
  Bytes tsuid_;
  uint32_t base_ = 0;
  std::vector<RollupValue> values_;  // values of the current row
  size_t next_ = 0;                  // the first value that was not returned yet
  std::vector<uint32_t> offsets_;
  std::vector<uint64_t> bits_;
  std::vector<uint8_t> doubles_;
};

Result<points::BucketCursors> OpenTable(Store* store, const KeyLayout& layout,
                                        const std::string& table, const PointScanSpec& spec) {
  if (spec.watch != nullptr) RETURN_IF_ERROR(spec.watch->MayWait());
  return points::BucketCursors::Open(
      store,
      points::BoundedBy(
          spec.watch, points::BucketScans(layout, table, spec.metric, spec.rows, spec.batch_rows)),
      static_cast<size_t>(layout.salt_width));
}

}  // namespace

Result<std::unique_ptr<PointScan>> ScanRollup(Store* store, const KeyLayout& layout,
                                              RollupColumn column, const PointScanSpec& spec,
                                              bool fix_duplicates) {
  ASSIGN_OR_RETURN(points::BucketCursors cursors, OpenTable(store, layout, column.table, spec));
  return std::unique_ptr<PointScan>(std::make_unique<RollupScan>(
      std::move(cursors), layout, std::move(column), spec, fix_duplicates));
}

Result<std::unique_ptr<PointScan>> ScanLikeData(Store* store, const KeyLayout& layout,
                                                const std::string& table, const PointScanSpec& spec,
                                                const ReconcileOptions& options) {
  ASSIGN_OR_RETURN(points::BucketCursors cursors, OpenTable(store, layout, table, spec));
  return std::unique_ptr<PointScan>(
      std::make_unique<points::CellPointScan>(std::move(cursors), layout, spec, options, nullptr));
}

}  // namespace hg::query
