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

namespace hg::lsm {

inline constexpr char kManifestName[] = "MANIFEST";

struct TableEntry {
  uint32_t id = 0;  // never reused; 0 is the hidden table `series`
  std::string name;
  bool points = false;
  std::vector<Bytes> families;
};

/// Parts of rows of one region that were written together: a cell file, a points file, or both.
struct RunEntry {
  uint32_t table = 0;
  uint32_t region = 0;
  uint64_t number = 0;          // of its files
  uint64_t first_sequence = 0;  // of the records in it; runs of a region never overlap
  uint64_t last_sequence = 0;
  uint64_t cells_bytes = 0;   // 0 = no cell file
  uint64_t points_bytes = 0;  // 0 = no points file

  bool operator==(const RunEntry&) const = default;
};

/// Plain value.
struct Manifest {
  KeyLayout layout;
  uint64_t next_number = 1;      // of files
  uint64_t flushed = 0;          // records up to this sequence are in files
  uint64_t log_file = 1;         // first log file that is still needed
  LogPosition log_position = 0;  // where its stream begins
  int64_t stamp_floor_ms = 0;    // no later server time of a cell is below it
  uint32_t next_table = 1;
  std::vector<TableEntry> tables;
  std::vector<RunEntry> runs;
};

Bytes EncodeManifest(const Manifest& manifest);
/// False: not a whole, undamaged manifest of this version.
bool DecodeManifest(ByteView in, Manifest* manifest);

/// NotFound: there is none. Corruption: it is damaged.
Result<Manifest> LoadManifest(FileSystem& files, const std::string& folder);
/// Durable when it returns ok; otherwise either the old or the new one holds after a restart.
Status SaveManifest(FileSystem& files, const std::string& folder, const Manifest& manifest);

}  // namespace hg::lsm
