#pragma once
// The counters of the command `fsck`, and the report that prints them (opentsdb-schema.md §18.4).

#include <cstdint>
#include <string>

namespace hg::tsd {

/// The counters of fsck. Counters whose names end in "deleted", "resolved", "fixed" or "shortened"
/// count repairs that were stored.
struct FsckCounts {
  uint64_t cells = 0;
  uint64_t rows = 0;
  uint64_t valid_points =
      0;  // number of distinct times; damaged points count, too, because OpenTSDB counts them
  uint64_t annotations = 0;
  uint64_t bad_keys = 0;
  uint64_t bad_keys_deleted = 0;
  // Number of points that have the same time as another point of their row. If n points have the
  // same time, n − 1 of them are counted.
  uint64_t duplicates = 0;
  uint64_t duplicates_resolved = 0;
  uint64_t orphans = 0;  // rows whose key has a metric id or a tag id without a name
  uint64_t orphans_deleted = 0;
  // Number of cells that a later version of OpenTSDB may have written. These cells are not errors.
  uint64_t future_objects = 0;
  uint64_t unknown = 0;
  uint64_t unknown_deleted = 0;
  uint64_t bad_values = 0;
  uint64_t bad_values_deleted = 0;
  uint64_t bad_encodings = 0;  // number of float values that are stored in 8 bytes
  uint64_t bad_encodings_fixed = 0;
  uint64_t bad_compacts = 0;
  uint64_t bad_compacts_deleted = 0;
  // This counter is included in the number of errors and in "fixable", but the report has no line
  // for it.
  uint64_t unsorted_compacts = 0;
  uint64_t long_integers = 0;  // integers stored in 8 bytes although fewer are enough; not errors
  uint64_t long_integers_shortened = 0;
  uint64_t bytes_saved = 0;  // bytes that shorter integers save, also if nothing was changed

  FsckCounts& operator+=(const FsckCounts& other);

  /// Returns the number of errors. Every error is also counted as correctable.
  [[nodiscard]] uint64_t errors() const;
  [[nodiscard]] uint64_t errors_fixed() const;

  bool operator==(const FsckCounts&) const = default;
};

/// Returns lines "name: number", with the names and in the order that OpenTSDB uses.
std::string FsckReport(const FsckCounts& counts);

}  // namespace hg::tsd
