#pragma once
// The counters of fsck and their report (opentsdb-schema.md §18.4).

#include <cstdint>
#include <string>

namespace hg::tsd {

/// Plain value. Counters ending in "fixed", "deleted" and the like count repairs that were stored.
struct FsckCounts {
  uint64_t cells = 0;
  uint64_t rows = 0;
  uint64_t valid_points =
      0;  // distinct times, including damaged points, which OpenTSDB counts before it checks them
  uint64_t annotations = 0;
  uint64_t bad_keys = 0;
  uint64_t bad_keys_deleted = 0;
  // Points with the same time as another point of the row: if n points have one time, n − 1 count.
  uint64_t duplicates = 0;
  uint64_t duplicates_resolved = 0;
  uint64_t orphans = 0;  // rows whose metric or tags have an id without a name
  uint64_t orphans_deleted = 0;
  // Cells that a later version of OpenTSDB may have written. They are not errors.
  uint64_t future_objects = 0;
  uint64_t unknown = 0;
  uint64_t unknown_deleted = 0;
  uint64_t bad_values = 0;
  uint64_t bad_values_deleted = 0;
  uint64_t bad_encodings = 0;  // floats stored in 8 bytes
  uint64_t bad_encodings_fixed = 0;
  uint64_t bad_compacts = 0;
  uint64_t bad_compacts_deleted = 0;
  // Counted as an error and as "fixable", but the report has no line for this counter.
  uint64_t unsorted_compacts = 0;
  uint64_t long_integers = 0;  // integers stored in 8 bytes although fewer suffice; not an error
  uint64_t long_integers_shortened = 0;
  uint64_t bytes_saved = 0;  // bytes that shortening saves, whether or not it was done

  FsckCounts& operator+=(const FsckCounts& other);

  /// Returns the number of errors. Every error also counts as correctable.
  [[nodiscard]] uint64_t errors() const;
  [[nodiscard]] uint64_t errors_fixed() const;

  bool operator==(const FsckCounts&) const = default;
};

/// Returns OpenTSDB's lines "name: number", in its order and with its names.
std::string FsckReport(const FsckCounts& counts);

}  // namespace hg::tsd
