#pragma once
// The manifest lists the contents of a data directory. A flush or a merge takes effect at the
// moment when the manifest is replaced (FORMAT.md "Manifest"). Files that are not in the manifest
// are not part of the store.

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/lsm/log_format.h"
#include "storage/model/key_layout.h"
#include "storage/table_descriptor.h"

namespace hg::lsm {

inline constexpr char kManifestName[] = "MANIFEST";
/// Maximum number of salt buckets of a table. Each salt bucket has at least one region.
inline constexpr int kSaltBucketsMax = 1 << 20;

/// A region: the keys of a table from `start` to the start of the next region, or to the end of the
/// table.
struct RegionEntry {
  uint32_t id = 0;  // never reused within the table
  Bytes start;

  bool operator==(const RegionEntry&) const = default;
};

struct TableEntry {
  uint32_t id = 0;  // never reused; 0 = the hidden table `series`, whose only region has id 0
  std::string name;
  bool points = false;
  /// The families of the table. Stored rows identify a family by its index in this list, which
  /// never changes. A family without a name was dropped.
  std::vector<FamilyDescriptor> families;
  // Each key is in exactly one of these regions (Tiles).
  std::vector<RegionEntry> regions = {RegionEntry{}};
  TableSplitPolicy split_policy = {};
};

/// A part: the rows of one region that one flush or merge wrote, as a cell file, a points file, or
/// both files.
struct PartEntry {
  uint32_t table = 0;
  uint32_t region = 0;
  uint64_t number = 0;  // number in the names of the part's files
  // Sequence numbers of the first and the last record. Parts of a region of a points table may have
  // overlapping ranges. Of two parts with the same row, the newer has the greater last number.
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
  uint64_t cells_bytes = 0;  // size of the whole cell file in bytes; 0 = no cell file
  // Size of the whole points file in bytes; 0 = no points file.
  uint64_t points_bytes = 0;
  // Checksums of the trailers of the cell file and the points file. They protect the whole files,
  // so a reader also detects a file of another part.
  uint32_t cells_crc = 0;
  uint32_t points_crc = 0;
  /// Whether the files also have rows of other regions. The entries of the other regions name the
  /// same files (region-store.md R16). Readers use only rows with keys of their region.
  bool reference = false;
  bool tombstones = false;  // whether the part may have tombstones
  int64_t made_ms = 0;      // time at which the part was written, in ms
  // For a points table: the smallest and the greatest base time of the rows. If first_base >
  // last_base, the part has no rows. After a repair, the range may be wider than necessary.
  uint32_t first_base = 0;
  uint32_t last_base = UINT32_MAX;
  // Whether the part may have rows whose keys do not identify an hour of a series. In tables other
  // than a points table, no key identifies an hour of a series.
  bool loose = true;
  uint32_t rewrites = 0;  // number of merges that rewrote the oldest bytes of the part
  /// The namespace whose folder has the files; "" = the default namespace, whose files are in the
  /// data directory itself. The manifest stores only whether this is "" or the table's namespace.
  std::string space = {};

  /// Copies the numbers, sizes and checksums of the files from `other`, not their namespace.
  void TakeFilesOf(const PartEntry& other) {
    number = other.number;
    cells_bytes = other.cells_bytes;
    points_bytes = other.points_bytes;
    cells_crc = other.cells_crc;
    points_crc = other.points_crc;
  }

  bool operator==(const PartEntry&) const = default;
};

/// Returns the folder for the files of a namespace, below the folder of the store. For the
/// namespace "", returns the folder of the store.
std::string NamespaceFolder(const std::string& store, const std::string& space);
/// The name of the folder that has one subfolder for each namespace except the default namespace.
inline constexpr char kNamespacesName[] = "namespaces";

/// The contents of a data directory. Manifest is a plain value.
struct Manifest {
  KeyLayout layout;
  uint64_t next_number = 1;      // next number for names of files
  uint64_t flushed = 0;          // records up to this sequence number are in part files
  uint64_t log_file = 1;         // number of the first log file that is still needed
  LogPosition log_position = 0;  // position at which the log file `log_file` begins
  /// The log files that have durable records and must exist, in ascending order, from log_file on.
  /// Other log files may exist, because a file is added to this list when its first records are
  /// durable, not when it is created.
  std::vector<LogFile> logs;
  int64_t stamp_floor_ms = 0;  // all later server times of cells are at least this time
  uint32_t next_table = 1;
  uint32_t next_region = 1;  // greater than all region ids of all tables
  std::vector<TableEntry> tables;
  std::vector<PartEntry> parts;
  // All series numbers below series_end were assigned, and none of them is assigned again. The
  // number of those that have no row in the table of series is forgotten_series: the engine has
  // forgotten their series.
  uint32_t series_end = 0;
  uint32_t forgotten_series = 0;
};

/// Returns whether each key is in exactly one region (region-store.md R1): the first region begins
/// with the first key, and each other region begins where the previous region ends. Also checks
/// that region ids are unique.
bool Tiles(const std::vector<RegionEntry>& regions);
/// Returns whether the regions of all tables satisfy Tiles, every part belongs to a region, the log
/// files are ascending, and ids and counts are within their limits. Every saved manifest is whole.
bool IsWhole(const Manifest& manifest);
/// Returns one region for each salt bucket of the layout. The id of the region is the number of the
/// bucket. If the layout has no salt, returns one region.
std::vector<RegionEntry> SaltRegions(const KeyLayout& layout);

Bytes EncodeManifest(const Manifest& manifest);
/// Decodes a manifest. Returns false if `in` is damaged, or has a version that is not supported.
bool DecodeManifest(ByteView in, Manifest* manifest);

/// Decodes the manifest in `content`. `path` is for error messages. Returns Corruption if the
/// manifest is damaged, and Unsupported if the manifest has another version.
Result<Manifest> ManifestFrom(ByteView content, const std::string& path);
/// Reads the manifest of a store. Returns NotFound if the folder has no manifest, Corruption if the
/// manifest is damaged, and Unsupported if the manifest has another version.
Result<Manifest> LoadManifest(FileSystem& files, const std::string& folder);
/// Replaces the manifest of a store. If the result is ok, the new manifest is durable. If the call
/// fails, either the old or the new manifest exists after a restart.
Status SaveManifest(FileSystem& files, const std::string& folder, const Manifest& manifest);

}  // namespace hg::lsm
