#pragma once
// An index from metrics, tag keys and tag pairs to series numbers. UIDs identify metrics, tag keys
// and tag pairs. All series with the same tag pairs, such as all metrics of one host, share a tag
// set. The index maps each tag key and each tag pair to tag sets, and each tag set to its series.

#include <array>
#include <boost/container/deque.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/engine/number_slots.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

class Roaring;  // CRoaring 0.2 keeps its class in the global namespace

namespace hg::engine {

/// A growing set of numbers. The set is stored as a single number, as a sorted list, or as a bitmap
/// once it exceeds kListMax numbers. Small sets are not bitmaps, because a bitmap takes at least
/// 168 bytes.
class Postings {
 public:
  Postings();
  ~Postings();
  Postings(Postings&&) noexcept;
  Postings& operator=(Postings&&) noexcept;

  /// Adds a number below UINT32_MAX that the set does not contain. Adding numbers in ascending
  /// order is fastest. Returns the approximate number of bytes by which the memory of the set has
  /// grown.
  size_t Add(uint32_t number);
  void AddTo(Roaring* set) const;
  /// Calls visit(number) for each number of the set, in ascending order.
  template <typename Visit>
  void ForEach(Visit&& visit) const;
  [[nodiscard]] bool Has(uint32_t number) const;
  [[nodiscard]] uint64_t size() const;

 private:
  static constexpr size_t kListMax = 64;
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Many {
    std::vector<uint32_t> list;
    std::unique_ptr<Roaring> bitmap;
  };
  uint32_t one_ = kNone;
  std::unique_ptr<Many> many_;  // all numbers, if there are two or more
};

/// Maps names of one fixed width to sets of numbers. Callers must lock the object: exclusively to
/// change it, and at least shared to read it.
class NamedPostings {
 public:
  explicit NamedPostings(size_t width) : width_(width) {}

  /// Returns the set of a name, or null if the name has no set. The address of a set does not
  /// change when other sets are added.
  [[nodiscard]] const Postings* Find(ByteView name) const;
  /// Returns the set of a name, and creates the set if it does not exist. The bytes of `name` must
  /// stay valid as long as this object exists.
  Postings* FindOrMake(ByteView name);
  /// Returns the memory of the table in bytes, without the contents of the sets.
  [[nodiscard]] size_t bytes() const { return all_.size() * sizeof(Named) + slots_.bytes(); }

 private:
  struct Named {
    const char* name;
    Postings postings;
  };
  [[nodiscard]] uint32_t NumberOf(ByteView name, uint32_t hash) const;

  // Size in bytes of one allocation. The size is so large that the allocator returns the memory of
  // a freed index to the operating system.
  static constexpr size_t kTogetherBytes = 512 << 10;
  using All = boost::container::deque<
      Named, void,
      boost::container::deque_options_t<boost::container::block_bytes<kTogetherBytes>>>;

  const size_t width_;
  All all_;
  NumberSlots slots_;  // finds the index of a set in all_ by its name
};

/// An index of series by metric and tags. Callers must lock the index: exclusively to change it,
/// and at least shared to read it.
class TagIndex {
 public:
  explicit TagIndex(const KeyLayout& layout)
      : layout_(layout),
        keys_(static_cast<size_t>(layout.tagk_width)),
        pairs_(static_cast<size_t>(layout.pair_width())) {}

  /// Adds the series with the number `number`, which the index does not contain. Adding series in
  /// ascending order of numbers is fastest. The bytes of `tsuid` must stay valid as long as the
  /// index exists.
  void Add(uint32_t number, ByteView tsuid);
  /// Returns the numbers of the series of the metric ("" = all metrics) that match all clauses, in
  /// ascending order. The caller must also check matcher.exact_tags and matcher.tsuids.
  [[nodiscard]] std::vector<uint32_t> Match(ByteView metric, const SeriesMatcher& matcher) const;
  /// Returns an upper bound for the number of matching series. The bound is exact if a metric is
  /// given and the matcher has no clauses. Costs much less than Match.
  [[nodiscard]] uint64_t MatchesAtMost(ByteView metric, const SeriesMatcher& matcher) const;
  /// Returns the ids of the metrics that have series, in ascending order.
  [[nodiscard]] std::vector<Bytes> Metrics() const;
  [[nodiscard]] size_t bytes() const;

 private:
  /// Adds to *set the tag sets that have the tag key of the clause with one of the values of the
  /// clause.
  void AddOneOf(const TagClause& clause, Roaring* set) const;
  /// Returns the postings of the tag sets that have the tag key of the clause, one for each value
  /// of the clause.
  [[nodiscard]] std::vector<const Postings*> ListsOf(const TagClause& clause) const;
  /// Returns the tag sets that match all clauses, as ascending numbers. Returns nullopt if there
  /// may be too many tag sets for a list of numbers; call MatchSets in this case.
  [[nodiscard]] std::optional<std::vector<uint32_t>> MatchFewSets(
      const std::vector<TagClause>& clauses) const;
  /// Returns the series of the metric (nullptr = all metrics) whose tag set is in `sets`, in
  /// ascending order. `has(set)` returns whether `sets` contains a tag set.
  template <typename Sets, typename Has>
  [[nodiscard]] std::vector<uint32_t> SeriesOf(const Sets& sets, const Postings* metric,
                                               Has&& has) const;
  static constexpr uint32_t kNone = NumberSlots::kNone;
  struct TagSet {
    ByteView pairs;
    uint32_t series = 0;    // number of series with this tag set
    uint32_t last = kNone;  // the series of this set that was added last; kNone = no series
  };
  struct Series {
    uint32_t set = kNone;
    uint32_t before = kNone;  // the series added to the set before this series; kNone = none
  };
  [[nodiscard]] uint32_t SetOf(ByteView pairs);
  void AddSet(uint32_t set, ByteView pairs);
  struct Recent {
    ByteView name;
    Postings* postings = nullptr;
  };
  void AddTo(NamedPostings* postings, Recent* recent, ByteView name, uint32_t set);
  [[nodiscard]] Roaring MatchSets(const std::vector<TagClause>& clauses) const;

  const KeyLayout layout_;
  std::map<Bytes, Postings, std::less<>> metrics_;  // key: metric id; value: series of the metric
  static constexpr int kBlockBits = 12;
  static constexpr uint32_t kBlockSeries = 1 << kBlockBits;
  using SeriesBlock = std::array<Series, kBlockSeries>;
  /// Returns the entry of a series in the index.
  [[nodiscard]] const Series& SeriesAt(uint32_t number) const {
    return (*series_[number >> kBlockBits])[number & (kBlockSeries - 1)];
  }
  /// Calls visit(number) for each series in the index, in ascending order.
  template <typename Visit>
  void ForEachSeries(Visit&& visit) const;
  // The series by number. The index is number >> kBlockBits. Series that are not in the tag index
  // have the set kNone. A block without series in the tag index is null, so forgotten series take
  // no memory.
  std::vector<std::unique_ptr<SeriesBlock>> series_;
  size_t series_bytes_ = 0;  // memory of the blocks in bytes
  uint64_t count_ = 0;       // number of series in the index
  std::vector<TagSet> sets_;
  NumberSlots set_slots_;  // finds the index of a tag set in sets_ by its pairs
  uint32_t last_set_ = kNone;
  NamedPostings keys_;   // id of a tag key → tag sets with this key
  NamedPostings pairs_;  // ids of a tag pair → tag sets with this pair
  // The tag keys and tag pairs of the tag set that was added last, by position. The next tag set
  // usually has some of the same keys and pairs, which then need not be looked up again.
  std::vector<Recent> recent_keys_, recent_pairs_;
  size_t bytes_ = 0;  // estimated memory of the metrics and of the content of all sets, in bytes
};

}  // namespace hg::engine
