#pragma once
// Which series have a metric, a tag key, a pair: sets of series numbers (engine.md §9). Ids only,
// no names.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
  /// Leaves in the set what is here, too.
  void RetainIn(Roaring* set) const;
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

  void Add(uint32_t number, ByteView tsuid);
  /// Numbers of the metric ("" = all metrics), rising, that hold to all clauses. exact_tags and
  /// tsuids are the caller's.
  [[nodiscard]] std::vector<uint32_t> Match(ByteView metric, const SeriesMatcher& matcher) const;
  /// No more than these match, without looking for them.
  [[nodiscard]] uint64_t MatchesAtMost(ByteView metric, const SeriesMatcher& matcher) const;
  /// The metrics that have series, rising.
  [[nodiscard]] std::vector<Bytes> Metrics() const;
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  /// Those that have the key with one of the clause's values.
  void AddOneOf(const TagClause& clause, Roaring* set) const;

  const KeyLayout layout_;
  std::map<Bytes, Postings, std::less<>> metrics_;
  std::unordered_map<Bytes, Postings> keys_;
  std::unordered_map<Bytes, Postings> pairs_;
  size_t bytes_ = 0;  // estimate
};

}  // namespace hg::points
