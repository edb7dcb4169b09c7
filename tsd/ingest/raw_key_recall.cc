#include "tsd/ingest/raw_key_recall.h"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <memory_resource>
#include <unordered_map>

#include "storage/points/points.h"
#include "tsd/ingest/metric_limits.h"
#include "tsd/ingest/plain_raw_key.h"

namespace hg::tsd {
namespace {

// Number of series between two checks of `stop`. Within such a chunk, the series are processed in
// the order of their numbers. Clients usually send them in this order, too.
constexpr SeriesNumber kChunk = 4096;
constexpr size_t kTogether = 256;  // keys learned together

/// Plain names of metrics and tag values from the table of ids.
class PlainNames {
 public:
  using NamesById = boost::unordered_flat_map<uint64_t, std::string_view>;

  /// Returns false if the names need more than `bytes_max`.
  Result<bool> Read(uid::Names& names, size_t bytes_max, const std::atomic<bool>& stop) {
    bool all = true;
    RETURN_IF_ERROR(names.ForEachId([&](UidKind kind, const std::string& name, ByteView id) {
      if (kind != UidKind::kTagk && IsPlainName(name)) {
        NamesById& of_kind = kind == UidKind::kMetric ? metrics : values;
        all = bytes() + BytesOfOneMore(of_kind) + name.size() <= bytes_max;
        if (!all) return false;
        of_kind[ReadBig(id.data(), static_cast<int>(id.size()))] = Keep(name);
      }
      return !stop.load(std::memory_order_relaxed);
    }));
    return all;
  }

  NamesById metrics, values;

 private:
  static constexpr size_t kSlotBytes = sizeof(NamesById::value_type) + 1;

  std::string_view Keep(std::string_view name) {
    auto* const kept = static_cast<char*>(texts_.allocate(name.size(), 1));
    std::copy(name.begin(), name.end(), kept);
    text_bytes_ += name.size();
    return {kept, name.size()};
  }
  [[nodiscard]] size_t bytes() const {
    return (metrics.bucket_count() + values.bucket_count()) * kSlotBytes + text_bytes_;
  }
  // Returns the memory needed to add one name. While a map grows, there is a second map of twice
  // its size.
  static size_t BytesOfOneMore(const NamesById& of_kind) {
    return of_kind.size() < of_kind.max_load() ? 0 : 2 * of_kind.bucket_count() * kSlotBytes;
  }

  std::pmr::monotonic_buffer_resource texts_;
  size_t text_bytes_ = 0;
};

/// A tag format whose keys have ids.
struct KeyedTagFormat {
  const TagFormat* format;
  std::vector<size_t> places;  // for each hole, the position of its value among pairs sorted by ids
};

/// Learns raw series keys in groups.
class Learning {
 public:
  Learning(const RawKeyRecall& recall, uint32_t generation)
      : recall_(recall), generation_(generation), points_(kTogether), series_(kTogether) {}

  /// Returns the buffer for the tag text of the next keys.
  std::string* NewTags() {
    if (texts_ == kTogether) Flush();
    return &tags_[texts_++];
  }
  /// Adds a key with the tags of NewTags. `metric` must live until Flush.
  void Add(Dialect dialect, std::string_view metric, ByteView tsuid, SeriesNumber number) {
    if (used_ == kTogether) {
      const std::string tags = tags_[texts_ - 1];
      Flush();
      *NewTags() = tags;
    }
    const auto width = static_cast<size_t>(recall_.points.layout().metric_width);
    points_[used_].series = {dialect, metric, tags_[texts_ - 1]};
    KeyedSeries& series = series_[used_++];
    series.number = number;
    series.ids.metric.assign(tsuid.substr(0, width));
    series.ids.pairs.assign(tsuid.substr(width));
  }
  void Flush() {
    if (recall_.limits != nullptr) {
      for (size_t i = 0; i < used_; ++i) {
        recall_.limits->Learn(series_[i].number, series_[i].ids.metric, points_[i].series.metric);
      }
    }
    recall_.raw_keys.RememberAll({points_.data(), used_}, series_.data(), generation_);
    used_ = texts_ = 0;
  }

 private:
  const RawKeyRecall& recall_;
  const uint32_t generation_;
  std::vector<KeyedPoint> points_;
  std::vector<KeyedSeries> series_;
  size_t used_ = 0;
  std::array<std::string, kTogether> tags_;
  size_t texts_ = 0;
};

/// Builds the raw series keys of all series.
class Speller {
 public:
  explicit Speller(const KeyLayout& layout) : layout_(layout) {}

  /// Adds a format. A format with a key that has no id belongs to no series and is ignored. The
  /// format must live longer than this object.
  Status AddTagFormat(const TagFormat& format, uid::Names& names) {
    // Ids of the tag keys, each with the number of its hole.
    std::vector<std::pair<Bytes, size_t>> keys;
    for (const std::string& key : format.keys) {
      Result<Bytes> id = names.Find(UidKind::kTagk, key);
      const StatusCode code = id.status().code();
      if (code == StatusCode::kNotFound || code == StatusCode::kCorruption) return {};
      RETURN_IF_ERROR(id.status());
      keys.emplace_back(std::move(*id), keys.size());
    }
    std::sort(keys.begin(), keys.end());
    KeyedTagFormat keyed{&format, std::vector<size_t>(keys.size())};
    Bytes ids;
    for (size_t place = 0; place < keys.size(); ++place) {
      ids += keys[place].first;
      keyed.places[keys[place].second] = place;
    }
    by_keys_[ids].push_back(std::move(keyed));
    return {};
  }
  [[nodiscard]] bool empty() const { return by_keys_.empty(); }

  /// Builds the keys of the series [begin, end), which have equal tags.
  void Spell(const Points& all, const PlainNames& names, SeriesNumber begin, SeriesNumber end,
             Learning* learning) {
    const auto metric_width = static_cast<size_t>(layout_.metric_width);
    const Bytes first = all.TsuidOf(begin);
    if (first.empty() || !ReadPairs(ByteView(first).substr(metric_width), names)) return;
    for (const KeyedTagFormat& keyed : *formats_) {
      ordered_.clear();
      for (const size_t place : keyed.places) ordered_.push_back(values_[place]);
      keyed.format->Fill(ordered_, learning->NewTags());
      for (SeriesNumber number = begin; number < end; ++number) {
        const Bytes tsuid = all.TsuidOf(number);
        if (tsuid.empty()) continue;  // the store has forgotten the series
        const auto metric = names.metrics.find(ReadBig(tsuid.data(), layout_.metric_width));
        if (metric == names.metrics.end()) continue;
        learning->Add(keyed.format->dialect, metric->second, tsuid, number);
      }
    }
  }

 private:
  /// Returns false if the tags have no known format.
  bool ReadPairs(ByteView pairs, const PlainNames& names) {
    const auto key_width = static_cast<size_t>(layout_.tagk_width);
    const auto width = static_cast<size_t>(layout_.pair_width());
    const size_t count = pairs.size() / width;
    keys_.clear();
    for (size_t i = 0; i < count; ++i) keys_ += pairs.substr(i * width, key_width);
    const auto formats = by_keys_.find(keys_);
    if (formats == by_keys_.end()) return false;
    formats_ = &formats->second;
    values_.clear();
    for (size_t i = 0; i < count; ++i) {
      const auto value =
          names.values.find(ReadBig(pairs.data() + i * width + key_width, layout_.tagv_width));
      if (value == names.values.end()) return false;
      values_.push_back(value->second);
    }
    return true;
  }

  const KeyLayout& layout_;
  std::unordered_map<Bytes, std::vector<KeyedTagFormat>>
      by_keys_;  // by the sorted ids of their keys
  const std::vector<KeyedTagFormat>* formats_ = nullptr;
  Bytes keys_;
  std::vector<std::string_view> values_, ordered_;
};

}  // namespace

Result<bool> RawKeyRecall::Run(const std::vector<TagFormat>& formats,
                               const std::atomic<bool>& stop) {
  if (points.series_count() == 0) return true;
  // The generation is read before any name. If names are changed later, the generation no longer
  // matches, so no outdated key is added.
  const uint32_t generation = raw_keys.generation();
  Speller speller(points.layout());
  for (const TagFormat& format : formats)
    if (format.keys.size() <= tags_max) RETURN_IF_ERROR(speller.AddTagFormat(format, names));
  if (speller.empty()) return true;
  PlainNames plain;
  ASSIGN_OR_RETURN(bool room, plain.Read(names, names_bytes_max, stop));
  Learning learning(*this, generation);
  const auto metric_width = static_cast<size_t>(points.layout().metric_width);
  // The newest series are processed first, because clients often no longer write the old ones.
  for (SeriesNumber end = points.series_count(); end > 0;) {
    const SeriesNumber begin = end - std::min(end, kChunk);
    if (stop.load(std::memory_order_relaxed) || raw_keys.generation() != generation) break;
    if (raw_keys.stats().bytes >= bytes_max) {
      room = false;
      break;
    }
    const auto pairs_of = [&](SeriesNumber number) {
      const Bytes tsuid = points.TsuidOf(number);
      return tsuid.substr(std::min(tsuid.size(), metric_width));
    };
    for (SeriesNumber first = begin; first < end;) {
      const Bytes pairs = pairs_of(first);
      SeriesNumber next = first + 1;
      while (next < end && pairs_of(next) == pairs) ++next;
      if (pairs.empty()) {  // forgotten series
        first = next;
        continue;
      }
      speller.Spell(points, plain, first, next, &learning);
      first = next;
    }
    end = begin;
  }
  learning.Flush();
  return room;
}

}  // namespace hg::tsd
