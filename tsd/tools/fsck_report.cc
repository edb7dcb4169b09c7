#include "tsd/tools/fsck_report.h"

namespace hg::tsd {

FsckCounts& FsckCounts::operator+=(const FsckCounts& other) {
  cells += other.cells;
  rows += other.rows;
  valid_points += other.valid_points;
  annotations += other.annotations;
  bad_keys += other.bad_keys;
  bad_keys_deleted += other.bad_keys_deleted;
  duplicates += other.duplicates;
  duplicates_resolved += other.duplicates_resolved;
  orphans += other.orphans;
  orphans_deleted += other.orphans_deleted;
  future_objects += other.future_objects;
  unknown += other.unknown;
  unknown_deleted += other.unknown_deleted;
  bad_values += other.bad_values;
  bad_values_deleted += other.bad_values_deleted;
  bad_encodings += other.bad_encodings;
  bad_encodings_fixed += other.bad_encodings_fixed;
  bad_compacts += other.bad_compacts;
  bad_compacts_deleted += other.bad_compacts_deleted;
  unsorted_compacts += other.unsorted_compacts;
  long_integers += other.long_integers;
  long_integers_shortened += other.long_integers_shortened;
  bytes_saved += other.bytes_saved;
  return *this;
}

uint64_t FsckCounts::errors() const {
  return bad_keys + duplicates + orphans + unknown + bad_values + bad_encodings + bad_compacts +
         unsorted_compacts;
}

// Returns the number of repaired errors. As in OpenTSDB, deleted compacted cells are not included.
uint64_t FsckCounts::errors_fixed() const {
  return bad_keys_deleted + duplicates_resolved + orphans_deleted + unknown_deleted +
         bad_values_deleted + bad_encodings_fixed;
}

std::string FsckReport(const FsckCounts& counts) {
  std::string out;
  const auto line = [&out](const char* name, uint64_t number) {
    out += std::string(name) + ": " + std::to_string(number) + "\n";
  };
  line("Key Values Processed", counts.cells);
  line("Rows Processed", counts.rows);
  line("Valid Datapoints", counts.valid_points);
  line("Annotations", counts.annotations);
  line("Invalid Row Keys Found", counts.bad_keys);
  line("Invalid Rows Deleted", counts.bad_keys_deleted);
  line("Duplicate Datapoints", counts.duplicates);
  line("Duplicate Datapoints Resolved", counts.duplicates_resolved);
  line("Orphaned UID Rows", counts.orphans);
  line("Orphaned UID Rows Deleted", counts.orphans_deleted);
  line("Possible Future Objects", counts.future_objects);
  line("Unknown Objects", counts.unknown);
  line("Unknown Objects Deleted", counts.unknown_deleted);
  line("Unparseable Datapoint Values", counts.bad_values);
  line("Unparseable Datapoint Values Deleted", counts.bad_values_deleted);
  line("Improperly Encoded Floating Point Values", counts.bad_encodings);
  line("Improperly Encoded Floating Point Values Fixed", counts.bad_encodings_fixed);
  line("Unparseable Compacted Columns", counts.bad_compacts);
  line("Unparseable Compacted Columns Deleted", counts.bad_compacts_deleted);
  line("Datapoints Qualified for VLE", counts.long_integers);
  line("Datapoints Compressed with VLE", counts.long_integers_shortened);
  line("Bytes Saved with VLE", counts.bytes_saved);
  line("Total Errors", counts.errors());
  line("Total Correctable Errors", counts.errors());
  line("Total Errors Fixed", counts.errors_fixed());
  return out;
}

}  // namespace hg::tsd
