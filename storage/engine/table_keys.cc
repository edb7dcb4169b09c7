#include "storage/engine/table_keys.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "storage/base/checked_sort.h"
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
// Number of elements of a list between two calls of RequestContext::Step.
constexpr size_t kStepsTogether = 4096;

// Returns the number of different salts. Several buckets have the same salt if the width of the
// salt is too small for all of them. Keys with salts from 0 to Salts - 1 ascend.
uint64_t Salts(const KeyLayout& layout) {
  const auto buckets = static_cast<uint64_t>(layout.salt_width > 0 ? layout.salt_buckets : 1);
  return layout.salt_width < 4 ? std::min(buckets, uint64_t{1} << (8 * layout.salt_width))
                               : buckets;
}

// Returns the first bytes of the keys of a metric: the salt and the UID.
Bytes PrefixOf(const KeyLayout& layout, uint64_t salt, const Bytes& metric) {
  Bytes prefix;
  AppendBig(&prefix, salt, layout.salt_width);
  return prefix + metric;
}

// Returns the salt and the index of the first metric that can have keys ≥ start.
std::pair<uint64_t, size_t> FirstMetric(const KeyLayout& layout, const std::vector<Bytes>& metrics,
                                        ByteView start) {
  const auto salt_width = static_cast<size_t>(layout.salt_width);
  Bytes salt(start.substr(0, salt_width));
  salt.resize(salt_width, '\0');  // missing bytes count as zero
  const ByteView metric =
      start.substr(std::min(salt_width, start.size()), static_cast<size_t>(layout.metric_width));
  const auto at = std::lower_bound(metrics.begin(), metrics.end(), metric);
  return {ReadBig(salt.data(), layout.salt_width), static_cast<size_t>(at - metrics.begin())};
}

// Does std::erase_if and reports the work. If a step fails, the elements are unspecified.
template <typename T, typename Test>
Status CheckedErase(std::vector<T>* all, const Test& test, MemoryTally* memory) {
  size_t kept = 0;
  for (size_t i = 0; i < all->size(); ++i) {
    if (i % kStepsTogether == 0)
      RETURN_IF_ERROR(memory->Step(std::min(kStepsTogether, all->size() - i)));
    if (!test((*all)[i])) (*all)[kept++] = (*all)[i];
  }
  all->resize(kept);
  return {};
}

// Returns the base time in a key after `prefix` bytes. Missing bytes count as zero.
uint32_t BaseAt(const Bytes& key, size_t prefix) {
  Bytes base = key.substr(prefix, 4);
  base.resize(4, '\0');
  return ReadBig32(base.data());
}

}  // namespace

Result<MetricList> ListMetrics(const Engine& engine, const Table& table, ByteView family,
                               MemoryTally* memory) {
  if (table.points_family < 0 || FilesFor(table, family) != FilesRead::kAll) return MetricList();
  MetricList metrics = std::make_shared<const std::vector<Bytes>>(engine.registry().Metrics());
  RETURN_IF_ERROR(memory->Step(metrics->size()));
  RETURN_IF_ERROR(memory->Add(static_cast<int64_t>(metrics->capacity() * sizeof(Bytes))));
  return metrics;
}

PointKeys::PointKeys(const Engine& engine, std::shared_ptr<const Version> version,
                     MetricList metrics, Bytes start, Bytes stop, RequestContext* context)
    : engine_(engine),
      version_(std::move(version)),
      start_(std::move(start)),
      stop_(std::move(stop)),
      metrics_(std::move(metrics)),
      memory_(context) {}

Result<bool> PointKeys::Next(Bytes* key) {
  const KeyLayout& layout = engine_.layout();
  for (;;) {
    for (; at_ < places_.size(); ++at_) {
      if (at_ % kStepsTogether == 0)
        RETURN_IF_ERROR(memory_.Step(std::min(kStepsTogether, places_.size() - at_)));
      const Place& place = places_[at_];
      key->clear();
      codec::AppendRowKey(layout, tsuids_->Tsuid(series_[place.order]), place.base, key);
      if (*key < start_) continue;
      if (!stop_.empty() && *key >= stop_) return false;
      ++at_;
      return true;
    }
    if (rest_.begin < rest_.end) {
      RETURN_IF_ERROR(ListStretch());
      continue;
    }
    next_ = std::max(next_, FirstMetric(layout, *metrics_, start_));
    if (next_.first >= Salts(layout) || metrics_->empty()) return false;
    if (next_.second >= metrics_->size()) {
      next_ = {next_.first + 1, 0};
      continue;
    }
    const Bytes& metric = (*metrics_)[next_.second];
    const Bytes prefix = PrefixOf(layout, next_.first, metric);
    if (!stop_.empty() && prefix >= stop_) return false;
    RETURN_IF_ERROR(BeginMetric(next_.first, metric, prefix));
    ++next_.second;
  }
}

// Finds the metric's series with the salt, and the range of base times of keys in [start, stop).
// The keys lie between prefix and prefix FF FF….
Status PointKeys::BeginMetric(uint64_t salt, const Bytes& metric, const Bytes& prefix) {
  places_.clear();
  at_ = 0;
  rest_ = {0, 0};
  memory_.Remove(memory_.held());
  RETURN_IF_ERROR(memory_.Step(kStepsOfMetric));
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
  if (const KeyLayout& layout = engine_.layout(); layout.salt_width > 0) {
    const auto is_other = [&, salts = Salts(layout)](uint32_t series) {
      return codec::SaltBucket(layout, tsuids_->Tsuid(series)) % salts != salt;
    };
    RETURN_IF_ERROR(CheckedErase(&series_, is_other, &memory_));
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
    if (places_.size() > places_max) {
      ASSIGN_OR_RETURN(stretch.end, CutInHalf());
    }
  }
  rest_.begin = static_cast<uint32_t>(std::min<uint64_t>(stretch.end, UINT32_MAX));
  if (stretch.end > UINT32_MAX) rest_.end = rest_.begin;
  const size_t capacity = places_.capacity();
  const auto by_key = [](const Place& a, const Place& b) {
    return a.base != b.base ? a.base < b.base : a.order < b.order;
  };
  RETURN_IF_ERROR(CheckedSort(&places_, by_key, &memory_));
  // CheckedSort may leave a vector with less memory.
  memory_.Remove((static_cast<int64_t>(capacity) - static_cast<int64_t>(places_.capacity())) *
                 static_cast<int64_t>(sizeof(Place)));
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

// Removes the rows with later base times from places_, usually at least a quarter of all rows.
// Returns the end of the remaining base times. The end is the median of the medians of parts,
// because finding the median of millions of rows would take long without a step.
Result<uint64_t> PointKeys::CutInHalf() {
  const auto earlier = [](const Place& a, const Place& b) { return a.base < b.base; };
  const size_t parts = std::max<size_t>(places_.size() / kPlacesMax, 1);
  const auto part_at = [&](size_t part) {
    return places_.begin() + static_cast<ptrdiff_t>(places_.size() * part / parts);
  };
  std::vector<uint32_t> middles;
  uint32_t least = UINT32_MAX;
  for (size_t part = 0; part < parts; ++part) {
    const auto begin = part_at(part), end = part_at(part + 1);
    RETURN_IF_ERROR(memory_.Step(static_cast<uint64_t>(end - begin)));
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, earlier);
    least = std::min(least, std::min_element(begin, middle + 1, earlier)->base);
    middles.push_back(middle->base);
  }
  const auto middle = middles.begin() + static_cast<ptrdiff_t>((parts - 1) / 2);
  std::nth_element(middles.begin(), middle, middles.end());
  const uint64_t end = std::max<uint64_t>(*middle, uint64_t{least} + 1);
  const auto is_later = [end](const Place& place) { return place.base >= end; };
  RETURN_IF_ERROR(CheckedErase(&places_, is_later, &memory_));
  return end;
}

TableKeys::TableKeys(const Engine& engine, const Table& table,
                     std::shared_ptr<const Version> version, MetricList metrics, Bytes start,
                     Bytes stop, ByteView family, int64_t min_ms, lsm::CacheUse use,
                     RequestContext* context)
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
  if (metrics != nullptr) {
    points_ = std::make_unique<PointKeys>(engine, version_, std::move(metrics), std::move(start),
                                          std::move(stop), context);
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
                                   const MetricList& metrics, ByteView start, ByteView stop,
                                   MemoryTally* memory) {
  std::vector<Bytes> cuts;
  size_t charged = 0;
  const auto charge = [&]() -> Status {
    RETURN_IF_ERROR(memory->Step(cuts.size() - charged));
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
  if (metrics != nullptr && !metrics->empty()) {
    const KeyLayout& layout = engine.layout();
    for (auto [salt, metric] = FirstMetric(layout, *metrics, start); salt < Salts(layout);) {
      if (metric == metrics->size()) {
        ++salt;
        metric = 0;
        continue;
      }
      Bytes prefix = PrefixOf(layout, salt, (*metrics)[metric++]);
      if (!stop.empty() && prefix >= stop) break;
      cuts.push_back(std::move(prefix));
      if (cuts.size() - charged >= kStepsTogether) RETURN_IF_ERROR(charge());
    }
    RETURN_IF_ERROR(charge());
  }
  std::erase_if(cuts,
                [&](const Bytes& key) { return key <= start || (!stop.empty() && key >= stop); });
  RETURN_IF_ERROR(CheckedSort(&cuts, std::less<>(), memory));
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace hg::engine
