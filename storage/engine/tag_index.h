#pragma once
// Which series have a metric, a tag key, a pair (engine.md §9). Ids only, no names. Series with the
// same pairs, as the metrics of one host, are one tag set: keys and pairs know tag sets, and these
// their series.

#include <cstdint>
#include <deque>
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

namespace hg::points {

/// A growing set of numbers: one, as that of a tag that tells hosts apart, a short list, or a
/// bitmap above kListMax (a short list as bitmap takes 168 bytes).
class Postings {
 public:
  Postings();
  ~Postings();
  Postings(Postings&&) noexcept;
  Postings& operator=(Postings&&) noexcept;

  /// Numbers come in rising order, below UINT32_MAX. Returns about how many bytes it took.
  size_t Add(uint32_t number);
  void AddTo(Roaring* set) const;
  /// Calls visit(number) for each, rising.
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
  std::unique_ptr<Many> many_;  // all of them, once there are two
};

/// Sets by name, the names all of one width. Callers lock: one writer or many readers.
class NamedPostings {
 public:
  explicit NamedPostings(size_t width) : width_(width) {}

  /// Null: there is none. Others keep their places.
  [[nodiscard]] const Postings* Find(ByteView name) const;
  /// Made if missing; the bytes of `name` live as long as this.
  Postings* FindOrMake(ByteView name);
  /// Without what the sets hold.
  [[nodiscard]] size_t bytes() const { return all_.size() * sizeof(Named) + slots_.bytes(); }

 private:
  struct Named {
    const char* name;
    Postings postings;
  };
  [[nodiscard]] uint32_t NumberOf(ByteView name, uint32_t hash) const;

  const size_t width_;
  std::deque<Named> all_;
  NumberSlots slots_;  // places in all_
};

/// Callers lock: one writer or many readers.
class TagIndex {
 public:
  explicit TagIndex(const KeyLayout& layout)
      : layout_(layout),
        keys_(static_cast<size_t>(layout.tagk_width)),
        pairs_(static_cast<size_t>(layout.pair_width())) {}

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
  static constexpr uint32_t kNone = NumberSlots::kNone;
  struct TagSet {
    ByteView pairs;
    uint32_t series = 0;    // how many
    uint32_t last = kNone;  // of them
  };
  struct Series {
    uint32_t set;
    uint32_t before;  // the one of the same set, or kNone
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
  std::map<Bytes, Postings, std::less<>> metrics_;  // their series
  std::vector<Series> series_;
  std::vector<TagSet> sets_;
  NumberSlots set_slots_;  // sets by their pairs
  uint32_t last_set_ = kNone;
  NamedPostings keys_;   // their tag sets
  NamedPostings pairs_;  // their tag sets
  // Of the set added last, by place in it: the next one mostly shares some.
  std::vector<Recent> recent_keys_, recent_pairs_;
  size_t bytes_ = 0;  // of metrics and of what sets hold, an estimate
};

}  // namespace hg::points
