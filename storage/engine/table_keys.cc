#include "storage/engine/table_keys.h"

#include <algorithm>
#include <limits>

#include "storage/codec/row_key.h"
#include "storage/lsm/cell_file.h"

namespace hg::points {
namespace {

// Rows of memory between two cuts.
constexpr size_t kRowsOfPiece = 256;

Bytes Bucket(const KeyLayout& layout, uint32_t bucket) {
  Bytes salt;
  AppendBig(&salt, bucket, layout.salt_width);
  return salt;
}

uint32_t Buckets(const KeyLayout& layout) {
  return layout.salt_width > 0 ? static_cast<uint32_t>(layout.salt_buckets) : 1;
}

}  // namespace

PointKeys::PointKeys(const Engine& engine, std::shared_ptr<const Version> version, Bytes start,
                     Bytes stop)
    : engine_(engine),
      version_(std::move(version)),
      start_(std::move(start)),
      stop_(std::move(stop)),
      metrics_(engine.registry().Metrics()) {}

Result<bool> PointKeys::Next(Bytes* key) {
  const KeyLayout& layout = engine_.layout();
  const uint32_t buckets = Buckets(layout);
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
  const Bytes prefix = Bucket(layout, bucket) + metric;
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

TableKeys::TableKeys(const Engine& engine, const Table& table,
                     std::shared_ptr<const Version> version, Bytes start, Bytes stop,
                     ByteView family, int64_t min_ms, lsm::CacheUse use)
    : engine_(engine),
      table_(table),
      version_(std::move(version)),
      files_(FilesFor(table, family)) {
  for (const auto& generation : version_->generations) {
    if (const lsm::CellMemory* cells = generation->Cells(table.id)) {
      sources_.push_back({ScanMemory(*cells, start, stop)});
    }
  }
  // By time, what is older than all that is wanted changes nothing in it. What is newer may: it
  // counts as a version, and may be a mark.
  const bool by_time = table.order == lsm::CellOrder::kByTime;
  const lsm::TimeSpan wanted{min_ms, std::numeric_limits<int64_t>::max()};
  const region::RegionMap& regions = version_->RegionsOf(table.id);
  const auto [first, end] = regions.Overlapping(start, stop);
  for (size_t region = first; region < end; ++region) {
    Bytes from = start, to = stop;
    if (!region::ClipKeys(regions, region, &from, &to)) continue;
    for (const auto& run : version_->RunsOf(table.id, regions.Id(region))) {
      if (run->cells() == nullptr || (by_time && !run->cells()->MayHoldTime(wanted))) continue;
      sources_.push_back({lsm::ScanRows(run->cells(), from, to, use)});
    }
  }
  if (table.points_family >= 0 && files_ == FilesRead::kAll) {
    points_ = std::make_unique<PointKeys>(engine, version_, std::move(start), std::move(stop));
  }
}

// Moves every source that stands at key_, or before the key sought, on; the least key is the next.
Result<bool> TableKeys::Next() {
  if (ended_) return false;
  const auto stays = [this](const Bytes& key) { return key != key_ && key >= seek_; };
  for (Source& source : sources_) {
    if (!source.live || (started_ && stays(source.rows->key()))) continue;
    if (!seek_.empty()) source.rows->Seek(seek_);
    ASSIGN_OR_RETURN(source.live, source.rows->Next());
  }
  if (points_ != nullptr && points_live_ && !(started_ && stays(points_key_))) {
    if (!seek_.empty()) points_->Seek(seek_);
    ASSIGN_OR_RETURN(points_live_, points_->Next(&points_key_));
  }
  started_ = true;
  seek_.clear();
  const Bytes* least = nullptr;
  for (const Source& source : sources_) {
    if (source.live && (least == nullptr || source.rows->key() < *least)) {
      least = &source.rows->key();
    }
  }
  if (points_ != nullptr && points_live_ && (least == nullptr || points_key_ < *least)) {
    least = &points_key_;
  }
  ended_ = least == nullptr;
  if (!ended_) key_ = *least;
  return !ended_;
}

// Rows of a points table are read from all their parts; other rows are the merge of the sources.
Result<StoredRow> TableKeys::Row() {
  if (table_.points_family >= 0) return engine_.Read(*version_, table_, key_, files_);
  StoredRow stored;
  for (Source& source : sources_) {
    if (!source.live || source.rows->key() != key_) continue;
    stored.cells = MergeRows(table_.order, std::move(stored.cells), source.rows->TakeRow());
  }
  Expire(table_, engine_.render_options().now_ms, &stored);
  return stored;
}

std::vector<Bytes> CutKeys(const Engine& engine, const Table& table, const Version& version,
                           ByteView start, ByteView stop) {
  std::vector<Bytes> cuts;
  for (const auto& generation : version.generations) {
    if (const lsm::CellMemory* cells = generation->Cells(table.id)) {
      cells->SampleKeys(start, stop, kRowsOfPiece, &cuts);
    }
  }
  for (const auto& [place, runs] : version.runs) {
    if (place.first != table.id) continue;
    for (const auto& run : runs) {
      if (run->cells() == nullptr) continue;
      const std::vector<Bytes> keys = run->cells()->FirstKeys();
      cuts.insert(cuts.end(), keys.begin(), keys.end());
    }
  }
  if (table.points_family >= 0) {
    for (uint32_t bucket = 0; bucket < Buckets(engine.layout()); ++bucket) {
      for (const Bytes& metric : engine.registry().Metrics()) {
        cuts.push_back(Bucket(engine.layout(), bucket) + metric);
      }
    }
  }
  std::erase_if(cuts,
                [&](const Bytes& key) { return key <= start || (!stop.empty() && key >= stop); });
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace hg::points
