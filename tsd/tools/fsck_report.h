#pragma once
// What fsck counts, and how it says so (spec schema.md §18.4).

#include <cstdint>
#include <string>

namespace hg::tsd {

/// Plain value. Numbers behind "fixed" and "deleted" are repairs that were stored.
struct FsckCounts {
  uint64_t cells = 0;
  uint64_t rows = 0;
  uint64_t valid_points = 0;  // instants, damaged ones too: OpenTSDB counts them before it looks
  uint64_t annotations = 0;
  uint64_t bad_keys = 0;
  uint64_t bad_keys_deleted = 0;
  uint64_t duplicates = 0;  // of n points of one instant n − 1
  uint64_t duplicates_resolved = 0;
  uint64_t orphans = 0;  // rows whose metric or tags have no name
  uint64_t orphans_deleted = 0;
  uint64_t future_objects = 0;  // no error
  uint64_t unknown = 0;
  uint64_t unknown_deleted = 0;
  uint64_t bad_values = 0;
  uint64_t bad_values_deleted = 0;
  uint64_t bad_encodings = 0;  // singles on 8 bytes
  uint64_t bad_encodings_fixed = 0;
  uint64_t bad_compacts = 0;
  uint64_t bad_compacts_deleted = 0;
  uint64_t unsorted_compacts = 0;  // "fixable": counted among the errors, without a line of its own
  uint64_t long_integers = 0;      // on 8 bytes where fewer do; no error
  uint64_t long_integers_shortened = 0;
  uint64_t bytes_saved = 0;  // by shortening, done or not

  FsckCounts& operator+=(const FsckCounts& other);

  /// All of them count as correctable, too.
  [[nodiscard]] uint64_t errors() const;
  [[nodiscard]] uint64_t errors_fixed() const;

  bool operator==(const FsckCounts&) const = default;
};

/// OpenTSDB's lines "name: number", in its order and with its names, each with a line end.
std::string FsckReport(const FsckCounts& counts);

}  // namespace hg::tsd
