#pragma once
// The contents of a data directory. Replacing this file is the only commit point of flush and merge
// (FORMAT.md "Manifest"). A file that the manifest does not list does not exist.

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
/// Maximum number of salt buckets of a table. Each salt bucket is a region of its own.
inline constexpr int kSaltBucketsMax = 1 << 20;

/// A range of the keys of a table, from `start` to the start of the next region or to the end.
struct RegionEntry {
  uint32_t id = 0;  // never reused within the table
  Bytes start;

  bool operator==(const RegionEntry&) const = default;
};

struct TableEntry {
  uint32_t id = 0;  // never reused; 0 is the hidden table `series`, which has one region with id 0
  std::string name;
  bool points = false;
  /// The index of a family is its number in stored rows and never changes. A family without a name
  /// was dropped.
  std::vector<FamilyDescriptor> families;
  std::vector<RegionEntry> regions = {RegionEntry{}};  // see Tiles
};

/// A part: rows of one region that one flush or merge wrote, as a cell file, a points file, or
/// both.
struct RunEntry {
  uint32_t table = 0;
  uint32_t region = 0;
  uint64_t number = 0;  // number in the names of its files
  // Sequence number of the first record in it; the parts of a region never overlap.
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
  uint64_t cells_bytes = 0;   // size of the cell file with the rows of all regions; 0 = none
  uint64_t points_bytes = 0;  // size of the points file with the rows of all regions; 0 = none
  // Checksums of the trailers of both files. They cover the whole file, so they detect a wrong
  // file.
  uint32_t cells_crc = 0;
  uint32_t points_crc = 0;
  /// True if the files also hold rows of other regions, whose entries list them too
  /// (region-store.md R16). Readers use only the keys of their region.
  bool reference = false;
  bool marks = false;   // it may hold tombstones
  int64_t made_ms = 0;  // when it was written
  // For a points table: the range of base times of its rows. There are none if first_base >
  // last_base. After a repair the range may be wider than necessary.
  uint32_t first_base = 0;
  uint32_t last_base = UINT32_MAX;
  bool loose = true;      // it may hold rows without a base time; rows of other tables have none
  uint32_t rewrites = 0;  // number of merges that its oldest bytes went through
  /// The namespace in whose folder the files are. "" means the data directory itself, as for the
  /// default namespace.
  std::string space = {};

  /// Takes over the files of `other`.
  void TakeFilesOf(const RunEntry& other) {
    number = other.number;
    cells_bytes = other.cells_bytes;
    points_bytes = other.points_bytes;
    cells_crc = other.cells_crc;
    points_crc = other.points_crc;
  }

  bool operator==(const RunEntry&) const = default;
};

/// Returns the folder for the files of a namespace, below the folder of the store. For "" it is the
/// folder of the store.
std::string NamespaceFolder(const std::string& store, const std::string& space);
/// The folder that holds one folder for each namespace except the default one.
inline constexpr char kNamespacesName[] = "namespaces";

/// Plain value.
struct Manifest {
  KeyLayout layout;
  uint64_t next_number = 1;      // next number for file names
  uint64_t flushed = 0;          // records up to this sequence number are in files
  uint64_t log_file = 1;         // first log file that is still needed
  LogPosition log_position = 0;  // position at which that file begins
  /// The log files that hold durable records and must exist. Ascending, none below log_file. Other
  /// log files may exist, because a file is listed when its first records are durable and not when
  /// it is created.
  std::vector<LogFile> logs;
  int64_t stamp_floor_ms = 0;  // no future server time of a cell is below this
  uint32_t next_table = 1;
  uint32_t next_region = 1;  // greater than all region ids of all tables
  std::vector<TableEntry> tables;
  std::vector<RunEntry> runs;
};

/// Whether the first region begins with the first key and each other region begins where the
/// previous one ends, so each key is in exactly one region (region-store.md R1). Also checks that
/// ids are unique.
bool Tiles(const std::vector<RegionEntry>& regions);
/// Whether the regions of all tables tile, every part belongs to a region, and log files ascend.
/// Every saved manifest satisfies this.
bool IsWhole(const Manifest& manifest);
/// Returns one region per salt bucket of the layout, with the bucket as id. Without salt it returns
/// one region.
std::vector<RegionEntry> SaltRegions(const KeyLayout& layout);

Bytes EncodeManifest(const Manifest& manifest);
/// Returns false unless `in` is a complete, undamaged manifest of this version.
bool DecodeManifest(ByteView in, Manifest* manifest);

/// Decodes the manifest in `content`. Errors name `path`. Returns Corruption if it is damaged, and
/// Unsupported if it has another version.
Result<Manifest> ManifestFrom(ByteView content, const std::string& path);
/// Returns NotFound if there is none, Corruption if it is damaged, and Unsupported if it has
/// another version.
Result<Manifest> LoadManifest(FileSystem& files, const std::string& folder);
/// If it returns ok, the manifest is durable. Otherwise either the old or the new one is present
/// after a restart.
Status SaveManifest(FileSystem& files, const std::string& folder, const Manifest& manifest);

}  // namespace hg::lsm
