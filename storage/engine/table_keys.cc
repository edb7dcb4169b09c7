#include "storage/engine/table_keys.h"

#include <algorithm>
#include <limits>

#include "storage/codec/row_key.h"
#include "storage/lsm/cell_file.h"

namespace hg::engine {
namespace {

// Number of rows in memory between two cut keys.
constexpr size_t kRowsOfPiece = 256;
// Maximum number of rows that are listed at once: kPlacesMax, or kPlacesOfSeries for each series of
// the metric if that is more.
constexpr size_t kPlacesMax = 1 << 16;
constexpr size_t kPlacesOfSeries = 4;
// Cost in steps of a RequestContext: of looking up the rows of a series, and of checking whether a
// metric has rows.
constexpr uint64_t kStepsOfSeries = 512;
constexpr uint64_t kStepsOfMetric = 64;

Bytes Bucket(const KeyLayout& layout, uint32_t bucket) {
  Bytes salt;
  AppendBig(&salt, bucket, layout.salt_width);
  return salt;
}

uint32_t Buckets(const KeyLayout& layout) {
  return layout.salt_width > 0 ? static_cast<uint32_t>(layout.salt_buckets) : 1;
}

// Returns the base time in a key after `prefix` bytes. Missing bytes count as zero.
uint32_t BaseAt(const Bytes& key, size_t prefix) {
  Bytes base = key.substr(prefix, 4);
  base.resize(4, '\0');
  return ReadBig32(base.data());
}

}  // namespace

PointKeys::PointKeys(const Engine& engine, std::shared_ptr<const Version> version, Bytes start,
                     Bytes stop, RequestContext* context)
    : engine_(engine),
      version_(std::move(version)),
      start_(std::move(start)),
      stop_(std::move(stop)),
      metrics_(engine.registry().Metrics()),
      memory_(context) {}

Result<bool> PointKeys::Next(Bytes* key) {
  const KeyLayout& layout = engine_.layout();
  const uint32_t buckets = Buckets(layout);
  for (;;) {
    for (; at_ < places_.size(); ++at_) {
      const Place& place = places_[at_];
      key->clear();
      codec::AppendRowKey(layout, tsuids_->Tsuid(series_[place.order]), place.base, key);
      if (*key < start_) continue;
      if (!stop_.empty() && *key >= stop_) continue;
      ++at_;
      return true;
    }
    if (rest_.begin < rest_.end) {
      RETURN_IF_ERROR(ListStretch());
      continue;
    }
    if (metric_ >= metrics_.size()) {
      metric_ = 0;
      ++bucket_;
    }
    if (bucket_ >= buckets || metrics_.empty()) return false;
    RETURN_IF_ERROR(BeginMetric(bucket_, metrics_[metric_++]));
  }
}

// Finds the metric's series, and the range of base times of keys in [start, stop).
Status PointKeys::BeginMetric(uint32_t bucket, const Bytes& metric) {
  places_.clear();
  at_ = 0;
  rest_ = {0, 0};
  memory_.Remove(memory_.held());
  RETURN_IF_ERROR(memory_.Step(kStepsOfMetric));
  const KeyLayout& layout = engine_.layout();
  const Bytes prefix = Bucket(layout, bucket) + metric;
  // The keys of the metric lie between prefix and prefix FF FF….
  if (!stop_.empty() && prefix >= stop_) return {};
  if (ByteView(start_).substr(0, prefix.size()) > prefix) return {};
  RowRange range;
  if (start_.starts_with(prefix)) range.begin = BaseAt(start_, prefix.size());
  if (stop_.starts_with(prefix)) {
    // Rows with the base time in `stop` are before `stop` only if `stop` has bytes after it.
    const bool rows_of_last = stop_.size() > prefix.size() + sizeof(Place::base);
    range.end = uint64_t{BaseAt(stop_, prefix.size())} + (rows_of_last ? 1 : 0);
  }
  if (range.begin >= range.end) return {};

  ASSIGN_OR_RETURN(FoundSeries found, engine_.registry().Match(metric, {}, &memory_));
  series_ = std::move(found.numbers);
  tsuids_ = std::move(found.tsuids);
  if (layout.salt_width > 0) {
    std::erase_if(series_, [&](uint32_t series) {
      return codec::SaltBucket(layout, tsuids_->Tsuid(series)) != bucket;
    });
  }
  RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(places_.capacity() * sizeof(Place))));
  rest_ = range;
  return {};
}

// Lists rows from the beginning of rest_. If there are too many, rows with later bases are left for
// the next call.
Status PointKeys::ListStretch() {
  places_.clear();
  at_ = 0;
  const size_t places_max = std::max(kPlacesMax, kPlacesOfSeries * series_.size());
  RowRange stretch = rest_;
  std::vector<uint32_t> bases;
  for (uint32_t order = 0; order < series_.size(); ++order) {
    bases.clear();
    RETURN_IF_ERROR(engine_.rows().ListBases(*version_, series_[order],
                                             tsuids_->Tsuid(series_[order]), stretch, &bases));
    RETURN_IF_ERROR(memory_.Step(kStepsOfSeries + bases.size()));
    RETURN_IF_ERROR(AddPlaces(order, bases));
    if (places_.size() > places_max) stretch.end = CutInHalf();
  }
  rest_.begin = static_cast<uint32_t>(std::min<uint64_t>(stretch.end, UINT32_MAX));
  if (stretch.end > UINT32_MAX) rest_.end = rest_.begin;
  std::sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
    return a.base != b.base ? a.base < b.base : a.order < b.order;
  });
  return {};
}

Status PointKeys::AddPlaces(uint32_t order, const std::vector<uint32_t>& bases) {
  const size_t size = places_.size() + bases.size();
  if (size > places_.capacity()) {
    const size_t capacity = std::max(size, 2 * places_.capacity());
    const size_t more = capacity - places_.capacity();
    RETURN_IF_ERROR(memory_.Add(static_cast<int64_t>(more * sizeof(Place))));
    places_.reserve(capacity);
  }
  for (const uint32_t base : bases) places_.push_back({base, order});
  return {};
}

// Removes the rows with later base times from places_, usually at least half of all rows. Returns
// the end of the remaining base times.
uint64_t PointKeys::CutInHalf() {
  const auto earlier = [](const Place& a, const Place& b) { return a.base < b.base; };
  const auto middle = places_.begin() + static_cast<ptrdiff_t>(places_.size() / 2);
  std::nth_element(places_.begin(), middle, places_.end(), earlier);
  const uint32_t least = std::min_element(places_.begin(), middle + 1, earlier)->base;
  const uint64_t end = std::max<uint64_t>(middle->base, uint64_t{least} + 1);
  std::erase_if(places_, [end](const Place& place) { return place.base >= end; });
  return end;
}

TableKeys::TableKeys(const Engine& engine, const Table& table,
                     std::shared_ptr<const Version> version, Bytes start, Bytes stop,
                     ByteView family, int64_t min_ms, lsm::CacheUse use, RequestContext* context)
    : engine_(engine),
      table_(table),
      version_(std::move(version)),
      files_(FilesFor(table, family)) {
  for (const auto& memtable : version_->memtables) {
    if (const lsm::CellMemory* cells = memtable->Cells(table.id)) {
      sources_.push_back({ScanMemory(*cells, start, stop)});
    }
  }
  // In tables ordered by time, cells older than `min_ms` do not affect the result. All newer cells
  // may affect it, because they count as versions and may be tombstones.
  const bool by_time = table.order == lsm::CellOrder::kByTime;
  const lsm::TimeSpan wanted{min_ms, std::numeric_limits<int64_t>::max()};
  const region::RegionMap& regions = version_->RegionsOf(table.id);
  const auto [first, end] = regions.Overlapping(start, stop);
  for (size_t region = first; region < end; ++region) {
    Bytes from = start, to = stop;
    if (!region::ClipKeys(regions, region, &from, &to)) continue;
    engine.region_loads().AddRead(regions.Id(region));
    for (const auto& part : version_->PartsOf(table.id, regions.Id(region))) {
      if (part->cells() == nullptr || (by_time && !part->cells()->MayHoldTime(wanted))) continue;
      sources_.push_back({lsm::ScanRows(part->cells(), from, to, use)});
    }
  }
  if (table.points_family >= 0 && files_ == FilesRead::kAll) {
    points_ =
        std::make_unique<PointKeys>(engine, version_, std::move(start), std::move(stop), context);
  }
}

// Advances every source that is at key_, or before the key of Seek. The smallest key is the next
// one.
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

// A row of a points table is read with RowReader::Read. Any other row is merged from the sources.
Result<StoredRow> TableKeys::Row(const lsm::ColumnChoice& columns, MemoryTally* memory) {
  if (table_.points_family >= 0)
    return engine_.rows().Read(*version_, table_, key_, files_, columns, memory);
  StoredRow stored;
  for (Source& source : sources_) {
    if (!source.live || source.rows->key() != key_) continue;
    ASSIGN_OR_RETURN(lsm::CellRow part, source.rows->TakeRow(columns, memory));
    stored.cells = MergeRows(table_.order, std::move(stored.cells), std::move(part));
  }
  Expire(table_, engine_.render_options().now_ms, &stored);
  return stored;
}

int64_t BytesOfKey(ByteView key) { return static_cast<int64_t>(sizeof(Bytes) + key.size()); }

Result<std::vector<Bytes>> CutKeys(const Engine& engine, const Table& table, const Version& version,
                                   ByteView start, ByteView stop, MemoryTally* memory) {
  std::vector<Bytes> cuts;
  size_t charged = 0;
  const auto charge = [&]() -> Status {
    int64_t bytes = 0;
    for (; charged < cuts.size(); ++charged) bytes += BytesOfKey(cuts[charged]);
    return memory->Add(bytes);
  };
  for (const auto& memtable : version.memtables) {
    if (const lsm::CellMemory* cells = memtable->Cells(table.id)) {
      cells->SampleKeys(start, stop, kRowsOfPiece, &cuts);
      RETURN_IF_ERROR(charge());
    }
  }
  for (const auto& [place, parts] : version.parts) {
    if (place.first != table.id) continue;
    for (const auto& part : parts) {
      if (part->cells() == nullptr) continue;
      for (size_t block = 0; block < part->cells()->blocks(); ++block) {
        const Bytes& key = part->cells()->separator(block);
        if (!part->cells()->continues(block) && key > start && (stop.empty() || key < stop))
          cuts.push_back(key);
      }
      RETURN_IF_ERROR(charge());
    }
  }
  if (table.points_family >= 0) {
    const std::vector<Bytes> metrics = engine.registry().Metrics();
    for (uint32_t bucket = 0; bucket < Buckets(engine.layout()); ++bucket) {
      for (const Bytes& metric : metrics) {
        cuts.push_back(Bucket(engine.layout(), bucket) + metric);
      }
      RETURN_IF_ERROR(charge());
    }
  }
  std::erase_if(cuts,
                [&](const Bytes& key) { return key <= start || (!stop.empty() && key >= stop); });
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace hg::engine
