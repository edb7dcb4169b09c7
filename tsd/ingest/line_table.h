#pragma once
// Maps lines of the InfluxDB line protocol to series numbers. The table looks up the raw bytes of
// measurement and tags once per line. Then it compares the field names with the known fields of
// that line, beginning after the last match. Usually, one comparison per field is sufficient. Thus
// a line of ten fields needs only one hash computation (performance.md §5.1).

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
#include "storage/base/keyed_hash.h"
#include "storage/model/point_sink.h"
#include "storage/points/points.h"

namespace hg::tsd {

/// Maps a line (measurement and tags) and a field name to a series number. The object is
/// thread-safe.
class LineTable {
 public:
  /// `key` makes the hash unpredictable for clients. If the table exceeds `bytes_max` bytes, it
  /// removes all its entries. After that, Remember adds the fields again that clients still send.
  LineTable(uint64_t key, size_t bytes_max);
  ~LineTable();

  /// Sets numbers[i] to the series of fields[i]; `numbers` must be as long as `fields`. Returns
  /// false if a field is unknown, if a field is repeated in its line, or if a writer holds the
  /// lock. Never waits.
  bool TryFindAll(std::span<const KeyedLine> lines, std::span<const KeyedField> fields,
                  SeriesNumber* numbers) const;

  [[nodiscard]] std::optional<SeriesNumber> Find(std::string_view series,
                                                 std::string_view field) const;
  /// Returns the sorted ids of the tag keys and tag values of a line, or "" if the line is unknown.
  [[nodiscard]] Bytes FindPairs(std::string_view series) const;

  /// Stores the series of one field of a line in the table. Call generation() before you resolve
  /// the names, and pass its result as `generation`. If Forget is called between these two calls,
  /// Remember does nothing.
  void Remember(std::string_view series, std::string_view field, ByteView pairs,
                SeriesNumber number, uint32_t generation);
  [[nodiscard]] uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Removes all entries. Call this function after names have changed.
  void Forget();

  struct Stats {
    uint64_t raw_keys = 0;  // total number of known fields in all lines
    uint64_t bytes = 0;     // approximate memory of the table in bytes
  };
  [[nodiscard]] Stats stats() const;

 private:
  struct Field {
    const char* name;  // points to the text of an element of Known::names
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
      return keyed_hash::HashBytes(text, secret[0], secret);
    }
  };
  struct Line {
    Line(std::string_view raw, ByteView ids, const Hash& hash)
        : series(raw), pairs(ids), places(0, hash) {}

    const std::string series;
    const Bytes pairs;
    std::vector<Field> fields;
    /// Maps the name of a field to its index in `fields`. The map is empty as long as a linear
    /// search is fast enough.
    boost::unordered_flat_map<std::string_view, uint32_t, Hash> places;
  };
  /// The part of the table that Forget clears. The keys of `lines` are views of texts within the
  /// elements of `lines`.
  struct Known {
    explicit Known(const Hash& hash) : lines(0, hash), names(0, hash) {}

    boost::unordered_flat_map<std::string_view, std::unique_ptr<Line>, Hash> lines;
    std::unordered_set<std::string, Hash> names;  // names of fields; many lines share them
    size_t raw_keys = 0, bytes = 0;
  };

  // The following functions return nullptr if nothing is found. Callers must hold mutex_, at least
  // in shared mode.
  [[nodiscard]] const Line* FindLine(std::string_view series) const;
  /// Searches all fields of a line, beginning at the index `*at` modulo the number of fields.
  /// Increases *at by the number of positions from the start of the search to the position after
  /// the found field, so that the next search begins there.
  static const Field* FindField(const Line& line, std::string_view name, size_t* at);
  /// Appends a field to a line. Returns the approximate number of bytes that the field needs.
  static size_t AddField(Line* line, const Field& field);

  // The following members do not change after construction.
  const Hash hash_;
  const size_t bytes_max_;

  // mutex_ does not guard the following members, because they are atomic or have their own
  // synchronization.
  std::atomic<uint32_t> generation_{0};

  // The following members are guarded by mutex_. Threads hold mutex_ only for short operations
  // without I/O.
  mutable std::shared_mutex mutex_;
  std::unique_ptr<Known> known_;
};

}  // namespace hg::tsd
