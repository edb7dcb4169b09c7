#pragma once
// What a data directory consists of. Replacing this file is the only commit point of flush and
// merge (FORMAT.md "Manifest"): a file that it does not name does not exist.

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
/// Each bucket of a salt is a region.
inline constexpr int kSaltBucketsMax = 1 << 20;

/// A part of a table's keys: from `start` to the start of the next one, or to the end.
struct RegionEntry {
  uint32_t id = 0;  // never reused within the table
  Bytes start;

  bool operator==(const RegionEntry&) const = default;
};

struct TableEntry {
  uint32_t id = 0;  // never reused; 0 is the hidden table `series`, one region with id 0
  std::string name;
  bool points = false;
  /// A family's place is its number in rows, for ever; one without a name was dropped.
  std::vector<FamilyDescriptor> families;
  std::vector<RegionEntry> regions = {RegionEntry{}};  // see Tiles
};

/// Parts of rows of one region that were written together: a cell file, a points file, or both.
struct RunEntry {
  uint32_t table = 0;
  uint32_t region = 0;
  uint64_t number = 0;          // of its files
  uint64_t first_sequence = 0;  // of the records in it; runs of a region never overlap
  uint64_t last_sequence = 0;
  uint64_t cells_bytes = 0;   // of the cell file, all regions'; 0 = none
  uint64_t points_bytes = 0;  // of the points file, likewise
  /// The files hold rows of other regions, too, and are named by other entries (spec
  /// region-store.md R16); readers keep to the region's keys.
  bool reference = false;
  bool marks = false;   // delete marks may be in it
  int64_t made_ms = 0;  // when it was written; 0 = nobody knows
  // Of a points table: which rows may be in it, by their base times; none if the first is above the
  // last. Wider than need be where nobody knows.
  uint32_t first_base = 0;
  uint32_t last_base = UINT32_MAX;
  bool loose = true;  // rows that have no base time may be in it; those of other tables have none
  uint32_t rewrites = 0;  // merges that the oldest of its bytes went through
  /// The namespace in whose folder its files stand; "" = in the data directory itself, as those of
  /// the default namespace do, and all that were written before namespaces had folders.
  std::string space = {};

  bool operator==(const RunEntry&) const = default;
};

/// The folder of a namespace's files below that of the store; "" = the latter itself.
std::string NamespaceFolder(const std::string& store, const std::string& space);
/// Has a folder for each namespace but the default one.
inline constexpr char kNamespacesName[] = "namespaces";

/// Plain value.
struct Manifest {
  KeyLayout layout;
  uint64_t next_number = 1;      // of files
  uint64_t flushed = 0;          // records up to this sequence are in files
  uint64_t log_file = 1;         // first log file that is still needed
  LogPosition log_position = 0;  // where its stream begins
  int64_t stamp_floor_ms = 0;    // no later server time of a cell is below it
  uint32_t next_table = 1;
  uint32_t next_region = 1;  // no region of any table has it or a greater one
  std::vector<TableEntry> tables;
  std::vector<RunEntry> runs;
  /// Not stored. Read from version 1, where keys whose salt no series has were in the first region
  /// of a points table: its runs may hold rows that are other regions' now.
  bool keys_astray = false;
  /// Not stored. Read from an earlier version: whoever writes anything beside it saves it first, so
  /// that programs of that version leave the rest alone, too.
  bool outdated = false;
};

/// The first region begins with the first key, each other one behind the one before it: together
/// they hold each key once, whatever their number (spec region-store.md R1). Ids are unique.
bool Tiles(const std::vector<RegionEntry>& regions);
/// Regions of all tables tile, and every run is in one of them. Holds for whatever is saved.
bool IsWhole(const Manifest& manifest);
/// One region for each salt bucket of the layout, the bucket its id; one in all without salt.
std::vector<RegionEntry> SaltRegions(const KeyLayout& layout);

Bytes EncodeManifest(const Manifest& manifest);
/// False: not a whole, undamaged manifest of a known version.
bool DecodeManifest(ByteView in, Manifest* manifest);

/// NotFound: there is none. Corruption: it is damaged. Unsupported: a newer program wrote it.
Result<Manifest> LoadManifest(FileSystem& files, const std::string& folder);
/// Durable when it returns ok; otherwise either the old or the new one holds after a restart.
Status SaveManifest(FileSystem& files, const std::string& folder, const Manifest& manifest);

}  // namespace hg::lsm
