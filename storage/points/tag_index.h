#pragma once
// Which series have a metric, a tag key, a pair (engine.md §9). Ids only, no names. Series with the
// same pairs, as the metrics of one host, are one tag set: keys and pairs know tag sets, and these
// their series.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/model/key_layout.h"
#include "storage/series_matcher.h"

class Roaring;  // CRoaring 0.2 keeps its class in the global namespace

namespace hg::points {

/// A growing set of numbers: a short list, or a bitmap above kListMax (a short list as bitmap takes
/// 168 bytes).
class Postings {
 public:
  Postings();
  ~Postings();
  Postings(Postings&&) noexcept;
  Postings& operator=(Postings&&) noexcept;

  /// Numbers come in rising order.
  void Add(uint32_t number);
  void AddTo(Roaring* set) const;
  /// Calls visit(number) for each, rising.
  template <typename Visit>
  void ForEach(Visit&& visit) const;
  [[nodiscard]] bool Has(uint32_t number) const;
  [[nodiscard]] uint64_t size() const;
  [[nodiscard]] size_t bytes() const;

 private:
  static constexpr size_t kListMax = 64;
  std::vector<uint32_t> list_;
  std::unique_ptr<Roaring> bitmap_;
};

/// Callers lock: one writer or many readers.
class TagIndex {
 public:
  explicit TagIndex(const KeyLayout& layout) : layout_(layout) {}

  /// Numbers come one after the other from 0; the bytes of `tsuid` live as long as the index.
  void Add(uint32_t number, ByteView tsuid);
  /// Numbers of the metric ("" = all metrics), rising, that hold to all clauses. exact_tags and
  /// tsuids are the caller's.
  [[nodiscard]] std::vector<uint32_t> Match(ByteView metric, const SeriesMatcher& matcher) const;
  /// No more than these match, without looking for them.
  [[nodiscard]] uint64_t MatchesAtMost(ByteView metric, const SeriesMatcher& matcher) const;
  /// The metrics that have series, rising.
  [[nodiscard]] std::vector<Bytes> Metrics() const;
  [[nodiscard]] size_t bytes() const;

 private:
  /// Tag sets that have the key with one of the clause's values.
  void AddOneOf(const TagClause& clause, Roaring* set) const;
  /// The lists of these tag sets, value by value.
  [[nodiscard]] std::vector<const Postings*> ListsOf(const TagClause& clause) const;
  /// As MatchSets, rising; none where they are not few.
  [[nodiscard]] std::optional<std::vector<uint32_t>> MatchFewSets(
      const std::vector<TagClause>& clauses) const;
  /// Series of the metric (nullptr = all) in the tag sets, rising. `has`: of a set, whether it is
  /// one of them.
  template <typename Sets, typename Has>
  [[nodiscard]] std::vector<uint32_t> SeriesOf(const Sets& sets, const Postings* metric,
                                               Has&& has) const;
  static constexpr uint32_t kNone = UINT32_MAX;
  struct TagSet {
    ByteView pairs;
    uint32_t series = 0;    // how many
    uint32_t last = kNone;  // of them
  };
  struct Slot {
    uint32_t hash = 0;
    uint32_t set = kNone;
  };
  struct Series {
    uint32_t set;
    uint32_t before;  // the one of the same set, or kNone
  };
  [[nodiscard]] uint32_t SetOf(ByteView pairs);
  void AddSet(uint32_t set, ByteView pairs);
  struct Recent {
    Bytes name;
    Postings* postings = nullptr;
  };
  void AddTo(std::unordered_map<Bytes, Postings>* postings, Recent* recent, ByteView name,
             uint32_t set);
  void Rehash();
  [[nodiscard]] Roaring MatchSets(const std::vector<TagClause>& clauses) const;

  const KeyLayout layout_;
  std::map<Bytes, Postings, std::less<>> metrics_;  // their series
  std::vector<Series> series_;
  std::vector<TagSet> sets_;
  std::vector<Slot> slots_;  // sets by their pairs, linear probing
  uint32_t last_set_ = kNone;
  std::unordered_map<Bytes, Postings> keys_;   // their tag sets
  std::unordered_map<Bytes, Postings> pairs_;  // their tag sets
  // Of the set added last, by place in it: the next one mostly shares some.
  std::vector<Recent> recent_keys_, recent_pairs_;
  size_t bytes_ = 0;  // of maps, an estimate
};

}  // namespace hg::points
