#include "storage/points/table_scan.h"

#include <algorithm>

#include "storage/codec/row_key.h"
#include "storage/codec/value.h"
#include "storage/lsm/cell_file.h"

namespace hg::points {
namespace {

bool Wanted(const ColumnFilter& filter, const Cell& cell) {
  if (!filter.family.empty() && cell.family != filter.family) return false;
  return filter.qualifiers.empty() || std::find(filter.qualifiers.begin(), filter.qualifiers.end(),
                                                cell.qualifier) != filter.qualifiers.end();
}

class TableCursor : public ScanCursor {
 public:
  TableCursor(const Engine& engine, const Table& table, const ScanSpec& spec)
      : engine_(engine),
        table_(table),
        filter_{spec.family, spec.qualifiers, spec.keys_only},
        batch_rows_(spec.batch_rows),
        version_(engine.Pin()) {
    for (const auto& generation : version_->generations) {
      if (const lsm::CellMemory* cells = generation->Cells(table.id)) {
        sources_.push_back({ScanMemory(*cells, spec.start, spec.stop)});
      }
    }
    const region::RegionMap& regions = version_->RegionsOf(table.id);
    const auto [first, end] = regions.Overlapping(spec.start, spec.stop);
    for (size_t region = first; region < end; ++region) {
      Bytes start = spec.start, stop = spec.stop;
      if (!region::ClipKeys(regions, region, &start, &stop)) continue;
      for (const auto& run : version_->RunsOf(table.id, regions.Id(region))) {
        if (run->cells() != nullptr) sources_.push_back({lsm::ScanRows(run->cells(), start, stop)});
      }
    }
    if (table.points_family >= 0) {
      keys_ = std::make_unique<PointKeys>(engine, version_, spec.start, spec.stop);
    }
  }

  Status Next(std::vector<Row>* rows) override {
    rows->clear();
    while (rows->size() < batch_rows_) {
      ASSIGN_OR_RETURN(const bool more, NextKey());
      if (!more) break;
      StoredRow stored;
      // Rows of a points table are read from all their parts; other rows are the merge of the
      // sources.
      if (table_.points_family >= 0) {
        ASSIGN_OR_RETURN(stored, engine_.Read(*version_, table_, key_));
      } else {
        for (Source& source : sources_) {
          if (!source.live || source.rows->key() != key_) continue;
          stored.cells = MergeRows(table_.order(), std::move(stored.cells), source.rows->TakeRow());
        }
      }
      Row row{key_, SelectCells(table_, stored, filter_, engine_.render_options())};
      if (!row.empty()) rows->push_back(std::move(row));
    }
    return {};
  }

 private:
  struct Source {
    std::unique_ptr<lsm::RowSource> rows;
    bool live = true;
  };

  // Moves every source that stands at key_ on; the least key is the next one.
  Result<bool> NextKey() {
    if (ended_) return false;
    const Bytes* least = nullptr;
    for (Source& source : sources_) {
      if (source.live && (!started_ || source.rows->key() == key_)) {
        ASSIGN_OR_RETURN(source.live, source.rows->Next());
      }
    }
    if (keys_ != nullptr && keys_live_ && (!started_ || points_key_ == key_)) {
      ASSIGN_OR_RETURN(keys_live_, keys_->Next(&points_key_));
    }
    started_ = true;
    for (const Source& source : sources_) {
      if (source.live && (least == nullptr || source.rows->key() < *least)) {
        least = &source.rows->key();
      }
    }
    if (keys_ != nullptr && keys_live_ && (least == nullptr || points_key_ < *least)) {
      least = &points_key_;
    }
    ended_ = least == nullptr;
    if (!ended_) key_ = *least;
    return !ended_;
  }

  const Engine& engine_;
  const Table& table_;
  const ColumnFilter filter_;
  const size_t batch_rows_;
  const std::shared_ptr<const Version> version_;
  std::vector<Source> sources_;  // newest first within a region
  std::unique_ptr<PointKeys> keys_;
  bool keys_live_ = true;
  Bytes points_key_;
  bool started_ = false;
  bool ended_ = false;
  Bytes key_;
};

}  // namespace

std::vector<Cell> SelectCells(const Table& table, const StoredRow& row, const ColumnFilter& filter,
                              const RenderOptions& options) {
  std::vector<Cell> cells = RenderStored(table, row, options);
  if (row.regular && !filter.qualifiers.empty() && RendersAsOne(row.part, row.base, options)) {
    for (const PartPoint& point : row.part.points) {
      Cell cell{Bytes(kFamily),
                point.qualifier.Encode(),
                {},
                int64_t{row.base} * 1000 + point.offset_ms()};
      const bool shown = std::any_of(cells.begin(), cells.end(), [&](const Cell& other) {
        return other.family == cell.family && other.qualifier == cell.qualifier;
      });
      if (shown || !Wanted(filter, cell)) continue;
      codec::AppendValue(&cell.value, {point.bits, point.qualifier.flags()});
      cells.push_back(std::move(cell));
    }
    std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
      return a.family != b.family ? a.family < b.family : a.qualifier < b.qualifier;
    });
  }
  std::erase_if(cells, [&](const Cell& cell) { return !Wanted(filter, cell); });
  if (filter.keys_only) {
    for (Cell& cell : cells) cell.value.clear();
  }
  return cells;
}

PointKeys::PointKeys(const Engine& engine, std::shared_ptr<const Version> version, Bytes start,
                     Bytes stop)
    : engine_(engine),
      version_(std::move(version)),
      start_(std::move(start)),
      stop_(std::move(stop)),
      metrics_(engine.registry().Metrics()) {}

Result<bool> PointKeys::Next(Bytes* key) {
  const KeyLayout& layout = engine_.layout();
  const uint32_t buckets = layout.salt_width > 0 ? static_cast<uint32_t>(layout.salt_buckets) : 1;
  for (;;) {
    for (; at_ < places_.size(); ++at_) {
      const Place& place = places_[at_];
      key->clear();
      codec::AppendRowKey(layout, engine_.registry().Tsuid(place.series), place.base, key);
      if (*key < start_) continue;
      if (!stop_.empty() && *key >= stop_) continue;
      ++at_;
      return true;
    }
    if (metric_ >= metrics_.size()) {
      metric_ = 0;
      ++bucket_;
    }
    if (bucket_ >= buckets || metrics_.empty()) return false;
    RETURN_IF_ERROR(ListMetric(bucket_, metrics_[metric_++]));
  }
}

Status PointKeys::ListMetric(uint32_t bucket, const Bytes& metric) {
  places_.clear();
  at_ = 0;
  const KeyLayout& layout = engine_.layout();
  Bytes prefix;
  AppendBig(&prefix, bucket, layout.salt_width);
  prefix += metric;
  // The metric's keys lie between prefix and prefix FF FF….
  if (!stop_.empty() && prefix >= stop_) return {};
  if (ByteView(start_).substr(0, prefix.size()) > prefix) return {};

  const std::vector<uint32_t> numbers = engine_.registry().Match(metric, {});
  for (uint32_t order = 0; order < numbers.size(); ++order) {
    const uint32_t series = numbers[order];
    const ByteView tsuid = engine_.registry().Tsuid(series);
    if (layout.salt_width > 0 && codec::SaltBucket(layout, tsuid) != bucket) continue;
    std::vector<uint32_t> bases;
    RETURN_IF_ERROR(engine_.ListBases(*version_, series, {}, &bases));
    for (const uint32_t base : bases) places_.push_back({base, series, order});
  }
  std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
    return a.base != b.base ? a.base < b.base : a.order < b.order;
  });
  return {};
}

Result<std::unique_ptr<ScanCursor>> OpenTableScan(const Engine& engine, const Table& table,
                                                  const ScanSpec& spec) {
  return std::unique_ptr<ScanCursor>(std::make_unique<TableCursor>(engine, table, spec));
}

}  // namespace hg::points
