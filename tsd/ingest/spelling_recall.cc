#include "tsd/ingest/spelling_recall.h"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <unordered_map>

#include "storage/points/numbered_series.h"
#include "tsd/ingest/metric_limits.h"
#include "tsd/ingest/plain_spelling.h"

namespace hg::tsd {
namespace {

// Series between two looks at whether to go on; within them in order of their numbers, as senders
// mostly bring them.
constexpr SeriesNumber kChunk = 4096;
constexpr size_t kTogether = 256;  // spellings

/// Plain names as the table of ids has them.
struct PlainNames {
  using NamesById = boost::unordered_flat_map<uint64_t, std::string>;

  Status Read(uid::Names& names, const std::atomic<bool>& stop) {
    return names.ForEachId([&](UidKind kind, const std::string& name, ByteView id) {
      const uint64_t number = ReadBig(id.data(), static_cast<int>(id.size()));
      if (IsPlainName(name)) {
        if (kind == UidKind::kTagk) keys[name] = Bytes(id);
        if (kind == UidKind::kTagv) values[number] = name;
        if (kind == UidKind::kMetric) metrics[number] = name;
      }
      return !stop.load(std::memory_order_relaxed);
    });
  }

  NamesById metrics, values;
  std::unordered_map<std::string, Bytes> keys;  // ids
};

/// A shape of tags with certain keys.
struct KeyedShape {
  const TagShape* shape;
  std::vector<size_t> places;  // of the values of its holes, among pairs sorted by their ids
};

/// Learns one spelling after the other, some together.
class Learning {
 public:
  Learning(const SpellingRecall& recall, uint32_t generation)
      : recall_(recall), generation_(generation), points_(kTogether), series_(kTogether) {}

  /// The text of tags that the next spellings share.
  std::string* NewTags() {
    if (texts_ == kTogether) Flush();
    return &tags_[texts_++];
  }
  /// A spelling with the tags of NewTags. `metric` lives until Flush.
  void Add(Dialect dialect, std::string_view metric, ByteView tsuid, SeriesNumber number) {
    if (used_ == kTogether) {
      const std::string tags = tags_[texts_ - 1];
      Flush();
      *NewTags() = tags;
    }
    const auto width = static_cast<size_t>(recall_.points.layout().metric_width);
    points_[used_].series = {dialect, metric, tags_[texts_ - 1]};
    SpelledSeries& series = series_[used_++];
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
    recall_.spellings.RememberAll({points_.data(), used_}, series_.data(), generation_);
    used_ = texts_ = 0;
  }

 private:
  const SpellingRecall& recall_;
  const uint32_t generation_;
  std::vector<SpelledPoint> points_;
  std::vector<SpelledSeries> series_;
  size_t used_ = 0;
  std::array<std::string, kTogether> tags_;
  size_t texts_ = 0;
};

/// The spellings of one series after the other.
class Speller {
 public:
  Speller(const SpellingRecall& recall, const std::vector<TagShape>& shapes,
          const PlainNames& names)
      : layout_(recall.points.layout()), names_(names) {
    for (const TagShape& shape : shapes)
      if (shape.keys.size() <= recall.tags_max) AddShape(shape);
  }

  /// Those of series [begin, end), whose tags are the same.
  void Spell(const NumbersSeries& all, SeriesNumber begin, SeriesNumber end, Learning* learning) {
    const auto metric_width = static_cast<size_t>(layout_.metric_width);
    if (!ReadPairs(all.TsuidOf(begin).substr(metric_width))) return;
    for (const KeyedShape& keyed : *shapes_) {
      ordered_.clear();
      for (const size_t place : keyed.places) ordered_.push_back(values_[place]);
      keyed.shape->Fill(ordered_, learning->NewTags());
      for (SeriesNumber number = begin; number < end; ++number) {
        const ByteView tsuid = all.TsuidOf(number);
        const auto metric = names_.metrics.find(ReadBig(tsuid.data(), layout_.metric_width));
        if (metric == names_.metrics.end()) continue;
        learning->Add(keyed.shape->dialect, metric->second, tsuid, number);
      }
    }
  }
  [[nodiscard]] bool empty() const { return by_keys_.empty(); }

 private:
  void AddShape(const TagShape& shape) {
    std::vector<std::pair<Bytes, size_t>> keys;  // ids, holes
    for (const std::string& key : shape.keys) {
      const auto id = names_.keys.find(key);
      if (id == names_.keys.end()) return;
      keys.emplace_back(id->second, keys.size());
    }
    std::sort(keys.begin(), keys.end());
    KeyedShape keyed{&shape, std::vector<size_t>(keys.size())};
    Bytes ids;
    for (size_t place = 0; place < keys.size(); ++place) {
      ids += keys[place].first;
      keyed.places[keys[place].second] = place;
    }
    by_keys_[ids].push_back(std::move(keyed));
  }

  /// False: nobody knows how these are spelled.
  bool ReadPairs(ByteView pairs) {
    const auto key_width = static_cast<size_t>(layout_.tagk_width);
    const auto width = static_cast<size_t>(layout_.pair_width());
    const size_t count = pairs.size() / width;
    keys_.clear();
    for (size_t i = 0; i < count; ++i) keys_ += pairs.substr(i * width, key_width);
    const auto shapes = by_keys_.find(keys_);
    if (shapes == by_keys_.end()) return false;
    shapes_ = &shapes->second;
    values_.clear();
    for (size_t i = 0; i < count; ++i) {
      const auto value =
          names_.values.find(ReadBig(pairs.data() + i * width + key_width, layout_.tagv_width));
      if (value == names_.values.end()) return false;
      values_.push_back(value->second);
    }
    return true;
  }

  const KeyLayout& layout_;
  const PlainNames& names_;
  std::unordered_map<Bytes, std::vector<KeyedShape>> by_keys_;  // by sorted ids of keys
  const std::vector<KeyedShape>* shapes_ = nullptr;
  Bytes keys_;
  std::vector<std::string_view> values_, ordered_;
};

}  // namespace

Status SpellingRecall::Run(const std::vector<TagShape>& shapes, const std::atomic<bool>& stop) {
  const auto* const all = dynamic_cast<NumbersSeries*>(&points);
  if (all == nullptr || shapes.empty()) return {};
  // Before any name is read: what is changed meanwhile is not remembered as it was.
  const uint32_t generation = spellings.generation();
  PlainNames plain;
  RETURN_IF_ERROR(plain.Read(names, stop));
  Speller speller(*this, shapes, plain);
  if (speller.empty()) return {};
  Learning learning(*this, generation);
  const auto metric_width = static_cast<size_t>(points.layout().metric_width);
  // The newest first: whose writers are gone are mostly old.
  for (SeriesNumber end = all->series_count(); end > 0;) {
    const SeriesNumber begin = end - std::min(end, kChunk);
    if (stop.load(std::memory_order_relaxed) || spellings.generation() != generation ||
        spellings.stats().bytes >= bytes_max) {
      break;
    }
    for (SeriesNumber first = begin; first < end;) {
      const ByteView pairs = all->TsuidOf(first).substr(metric_width);
      SeriesNumber next = first + 1;
      while (next < end && all->TsuidOf(next).substr(metric_width) == pairs) ++next;
      speller.Spell(*all, first, next, &learning);
      first = next;
    }
    end = begin;
  }
  learning.Flush();
  return {};
}

}  // namespace hg::tsd
