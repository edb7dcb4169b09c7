#include "storage/points/points_over_cells.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <tuple>

#include "storage/base/keyed_hash.h"
#include "storage/base/survive.h"
#include "storage/codec/append_cell.h"
#include "storage/codec/row_key.h"
#include "storage/codec/value.h"
#include "storage/for_each_row.h"
#include "storage/points/cell_scan.h"
#include "storage/points/match_series.h"
#include "storage/points/render.h"

namespace hg::points {
namespace {

std::set<Bytes> Salts(const KeyLayout& layout) {
  std::set<Bytes> salts;
  const int buckets = layout.salt_width > 0 ? layout.salt_buckets : 1;
  for (int bucket = 0; bucket < buckets; ++bucket) {
    Bytes salt;
    AppendBig(&salt, static_cast<uint64_t>(bucket), layout.salt_width);
    salts.insert(std::move(salt));
  }
  return salts;
}

/// Calls visit(key), which returns a Status, for each row of the scan whose series matches. Rows
/// whose keys belong to no series are skipped.
template <typename Visit>
Status ForEachMatch(Store& store, const KeyLayout& layout, const ScanSpec& scan,
                    const SeriesMatcher& matcher, Visit&& visit) {
  return ForEachRow(store, scan, [&](const Row& row) {
    const auto key = codec::RowKey::Decode(layout, row.key);
    const bool matches = key.ok() && MatchesSeries(matcher, layout, key->metric(), key->pairs());
    return matches ? visit(*key) : Status();
  });
}

/// Returns the batch without points that a later point of the batch replaces (a point of the same
/// series at the same time).
std::vector<PointEntry> LastOfTimes(std::span<const PointEntry> batch) {
  std::vector<PointEntry> last;
  std::set<std::tuple<SeriesNumber, uint32_t, uint32_t>> seen;
  for (size_t i = batch.size(); i > 0; --i) {
    const PointEntry& entry = batch[i - 1];
    const uint32_t offset_ms = codec::Qualifier{entry.qualifier}.offset_ms();
    if (seen.emplace(entry.series, entry.base, offset_ms).second) last.push_back(entry);
  }
  std::reverse(last.begin(), last.end());
  return last;
}

}  // namespace

std::vector<ScanSpec> BucketScans(const KeyLayout& layout, const std::string& table,
                                  ByteView metric, const RowRange& rows, size_t batch_rows) {
  std::vector<ScanSpec> scans;
  for (const Bytes& salt : Salts(layout)) {
    ScanSpec scan;
    scan.table = table;
    scan.family = Bytes(kFamily);
    scan.batch_rows = batch_rows;
    scan.start = salt + Bytes(metric);
    scan.stop = scan.start;
    AppendBig(&scan.start, rows.begin, 4);
    if (rows.end > 0xFFFFFFFF) {
      scan.stop = AfterPrefix(scan.stop);
    } else {
      AppendBig(&scan.stop, rows.end, 4);
    }
    if (scan.stop.empty() || scan.start < scan.stop) scans.push_back(std::move(scan));
  }
  return scans;
}

std::vector<ScanSpec> BoundedBy(RequestContext* context, std::vector<ScanSpec> scans) {
  for (ScanSpec& scan : scans) {
    scan.context = context;
    scan.batch_bytes = 256 << 10;
  }
  return scans;
}

Result<SeriesNumber> PointsOverCells::Register(ByteView tsuid) {
  RETURN_IF_ERROR(codec::CheckTsuid(options_.layout, tsuid));
  std::unique_lock lock(mutex_);
  auto known = numbers_.find(tsuid);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<SeriesNumber>(tsuids_.size());
  numbers_.emplace(tsuids_.emplace_back(tsuid), number);
  return number;
}

Status PointsOverCells::CheckBatch(std::span<const PointEntry> batch) const {
  std::shared_lock lock(mutex_);
  for (const PointEntry& entry : batch) {
    if (entry.series >= tsuids_.size()) {
      return Status::InvalidArgument("no such series: " + std::to_string(entry.series));
    }
  }
  return {};
}

Bytes PointsOverCells::RowKeyOf(const PointEntry& entry) const {
  std::shared_lock lock(mutex_);
  return codec::MakeRowKey(options_.layout, tsuids_[entry.series], entry.base);
}

Status PointsOverCells::AppendOperands(std::span<const PointEntry> batch) {
  for (const PointEntry& entry : batch) {
    Bytes pair;
    codec::AppendPair(&pair, {{entry.qualifier}, entry.bits});
    RETURN_IF_ERROR(
        store_->Append(options_.table, RowKeyOf(entry), kFamily, codec::kAppendQualifier, pair));
  }
  return {};
}

Status PointsOverCells::PutPoints(std::span<const PointEntry> batch) {
  std::vector<RowMutation> rows;
  std::unordered_map<uint64_t, size_t, keyed_hash::Hash>
      index;  // position in `rows` by series and base
  for (const PointEntry& entry : batch) {
    auto [at, fresh] = index.try_emplace(uint64_t{entry.series} << 32 | entry.base, rows.size());
    if (fresh) rows.push_back({RowKeyOf(entry), {}});
    const codec::Qualifier q{entry.qualifier};
    CellChange put =
        PutCell(Bytes(kFamily), q.Encode(), codec::EncodeValue({entry.bits, q.flags()}));
    if (options_.use_otsdb_timestamp) {
      put.timestamp_ms = int64_t{entry.base} * 1000 + q.offset_ms();
    }
    rows[at->second].changes.push_back(std::move(put));
  }
  RETURN_IF_ERROR(store_->Mutate(options_.table, rows));
  if (!written_) return {};
  // The points are stored, so a failure of the listener must not be reported to the client.
  (void)Survive([&] {
    for (const auto& [series_and_base, place] : index) {
      written_(rows[place].key, static_cast<uint32_t>(series_and_base));
    }
  });
  return {};
}

Result<LogPosition> PointsOverCells::Append(std::span<const PointEntry> batch) {
  RETURN_IF_ERROR(CheckBatch(batch));
  if (batch.empty() && options_.takes_writes) RETURN_IF_ERROR(options_.takes_writes());
  const Status stored = options_.enable_appends ? AppendOperands(batch)
                        : options_.last_of_time ? PutPoints(LastOfTimes(batch))
                                                : PutPoints(batch);
  // A missing table may exist again later. The points are valid, so the sender should keep them.
  if (stored.code() == StatusCode::kNotFound)
    return Status::Unavailable(std::string(stored.message()));
  RETURN_IF_ERROR(stored);
  return LogPosition{0};
}

void PointsOverCells::Commit(LogPosition, std::function<void(Status)> done) { done(Status::Ok()); }

Result<std::unique_ptr<PointScan>> PointsOverCells::Scan(const PointScanSpec& spec,
                                                         const ReconcileOptions& options) {
  auto scans =
      BucketScans(options_.layout, options_.table, spec.metric, spec.rows, spec.batch_rows);
  if (options_.remote && !MatchesAll(spec.matcher)) {
    for (ScanSpec& scan : scans) {
      scan.filter.kind = RowFilter::Kind::kSeries;
      scan.filter.layout = options_.layout;
      scan.filter.series = spec.matcher;
    }
  }
  const auto salt_width = static_cast<size_t>(options_.layout.salt_width);
  ASSIGN_OR_RETURN(auto cursors, BucketCursors::Open(store_, scans, salt_width));
  return std::unique_ptr<PointScan>(std::make_unique<CellPointScan>(
      std::move(cursors), options_.layout, spec, options, unsettled_));
}

Status PointsOverCells::DeleteRows(const PointScanSpec& spec) {
  for (ScanSpec& scan :
       BucketScans(options_.layout, options_.table, spec.metric, spec.rows, spec.batch_rows)) {
    scan.keys_only = true;
    RETURN_IF_ERROR(ForEachMatch(*store_, options_.layout, scan, spec.matcher,
                                 [&](const codec::RowKey& key) -> Status {
                                   if (spec.watch != nullptr) RETURN_IF_ERROR(spec.watch->Step(1));
                                   return store_->DeleteRow(options_.table, key.bytes());
                                 }));
  }
  return {};
}

Status PointsOverCells::ListSeries(ByteView metric, const SeriesMatcher& matcher,
                                   RequestContext* watch,
                                   const std::function<bool(ByteView tsuid)>& visit) {
  return ListSeriesWithin(metric, matcher, RowRange(), watch, visit);
}

Status PointsOverCells::ListSeriesWithin(ByteView metric, const SeriesMatcher& matcher,
                                         const RowRange& rows, RequestContext* watch,
                                         const std::function<bool(ByteView tsuid)>& visit) {
  constexpr int64_t kEntryBytes = 96;  // approximate memory of a set node
  if (rows.begin >= rows.end) return {};
  std::vector<ScanSpec> scans;
  if (metric.empty()) {
    scans.emplace_back();
    scans[0].table = options_.table;
    scans[0].family = Bytes(kFamily);
  } else {
    scans = BucketScans(options_.layout, options_.table, metric, rows, ScanSpec().batch_rows);
  }
  MemoryTally memory(watch);
  std::set<Bytes> found;
  const auto take = [&](const codec::RowKey& key) -> Status {
    RETURN_IF_ERROR(memory.Step(1));
    if (key.base() < rows.begin || key.base() >= rows.end) return {};
    Bytes tsuid = key.tsuid();
    const auto bytes = kEntryBytes + static_cast<int64_t>(tsuid.size());
    return found.insert(std::move(tsuid)).second ? memory.Add(bytes) : Status();
  };
  for (ScanSpec& scan : scans) {
    scan.keys_only = true;
    scan.context = watch;
    RETURN_IF_ERROR(ForEachMatch(*store_, options_.layout, scan, matcher, take));
  }
  for (const Bytes& tsuid : found) {
    if (!visit(tsuid)) break;
  }
  return {};
}

}  // namespace hg::points
