#pragma once
// Lines of InfluxDB's protocol → series numbers: the raw bytes of measurement and tags are looked
// up once a line, the names of its fields are compared with those that this line had before,
// beginning behind the one met last. So a line of ten fields costs one hash (spec performance.md
// §5.1).

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/model/point_sink.h"
#include "storage/points/points.h"
#include "tsd/ingest/spelling_hash.h"

namespace hg::tsd {

/// Thread-safe.
class LineTable {
 public:
  /// `key` makes the hash unpredictable. Where what is remembered fills bytes_max, all of it is
  /// forgotten and learnt anew as it comes.
  LineTable(uint64_t key, size_t bytes_max);
  ~LineTable();

  /// numbers[i] = the series of fields[i]; as long as `fields`. False: at least one is unknown or
  /// stands twice in its line, or a writer is at work: this never waits.
  bool TryFindAll(std::span<const SpelledLine> lines, std::span<const SpelledField> fields,
                  SeriesNumber* numbers) const;

  [[nodiscard]] std::optional<SeriesNumber> Find(std::string_view series,
                                                 std::string_view field) const;
  /// Ids of keys and values, sorted, of the tags of a line; "" = unknown.
  [[nodiscard]] Bytes FindPairs(std::string_view series) const;

  /// `generation`: what generation() said before the names were resolved; if Forget came between,
  /// nothing is remembered.
  void Remember(std::string_view series, std::string_view field, ByteView pairs,
                SeriesNumber number, uint32_t generation);
  [[nodiscard]] uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Makes everything unknown again, because names changed.
  void Forget();

  struct Stats {
    uint64_t spellings = 0;  // fields of lines
    uint64_t bytes = 0;      // about
  };
  [[nodiscard]] Stats stats() const;

 private:
  struct Field {
    const char* name;  // in names_
    uint32_t name_size;
    SeriesNumber number;

    [[nodiscard]] bool Is(std::string_view text) const {
      return text == std::string_view(name, name_size);
    }
  };
  struct Hash {
    uint64_t secret[3];

    using is_avalanching = void;
    size_t operator()(std::string_view text) const {
      return spelling_hash::HashBytes(text, secret[0], secret);
    }
  };
  struct Line {
    Line(std::string_view raw, ByteView ids, const Hash& hash)
        : series(raw), pairs(ids), places(0, hash) {}

    const std::string series;
    const Bytes pairs;
    std::vector<Field> fields;
    /// Of `fields`, by name, where they are too many to look through; else empty.
    boost::unordered_flat_map<std::string_view, uint32_t, Hash> places;
  };
  /// What is forgotten together. The keys are the lines' own.
  struct Known {
    explicit Known(const Hash& hash) : lines(0, hash), names(0, hash) {}

    boost::unordered_flat_map<std::string_view, std::unique_ptr<Line>, Hash> lines;
    std::unordered_set<std::string, Hash> names;  // of fields: the same of many lines
    size_t spellings = 0, bytes = 0;
  };

  // With mutex_, shared at least. Null: not there.
  [[nodiscard]] const Line* FindLine(std::string_view series) const;
  /// The field from `*at` on, modulo their number, and from the beginning again; *at = the place
  /// behind it, so that it grows by the fields that were passed over.
  static const Field* FindField(const Line& line, std::string_view name, size_t* at);
  /// Behind the others. Returns the bytes that it takes, about.
  static size_t AddField(Line* line, const Field& field);

  // Constant.
  const Hash hash_;
  const size_t bytes_max_;

  // Self-synchronised.
  std::atomic<uint32_t> generation_{0};

  // Guarded by mutex_, which nobody holds while he waits for anything.
  mutable std::shared_mutex mutex_;
  std::unique_ptr<Known> known_;
};

}  // namespace hg::tsd
