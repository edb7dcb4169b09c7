#pragma once
// The descriptor of a table: the families of the table, and how they keep cells. The attributes
// have the same names as in HBase (region-store.md D1, D6, D12–D23).

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/bytes.h"

namespace hg {

/// The TTL in seconds that means "forever" in HBase.
inline constexpr int64_t kTtlForever = 2147483647;

/// The maximum length of a split key in the descriptor of a new table, in bytes.
inline constexpr size_t kSplitKeyBytesMax = 1024;

/// The attribute BLOOMFILTER. kRow means that files have a Bloom filter, with which reads skip
/// files that do not have the row (region-store.md D20).
enum class BloomFilter : uint8_t { kNone, kRow };

/// A family of a table. The default values are the attributes of a new family.
struct FamilyDescriptor {
  Bytes name;                // 1…127 printable bytes without ':'
  int32_t versions = 1;      // VERSIONS: number of versions kept per column; the newest are kept
  int32_t min_versions = 0;  // MIN_VERSIONS: number of versions kept even after their TTL
  // TTL: the number of seconds for which a cell is kept after its time. A point is kept for this
  // time after the time of the point.
  int64_t ttl_s = kTtlForever;
  bool keep_deleted_cells = false;     // reads of times before a delete still return deleted cells
  bool new_version_behavior = false;   // a delete hides only cells written earlier
  std::string compression = "SNAPPY";  // NONE, SNAPPY or ZSTD
  // DATA_BLOCK_ENCODING is only stored. Blocks always use prefix compression of keys.
  std::string data_block_encoding = "NONE";
  BloomFilter bloom_filter = BloomFilter::kRow;
  bool in_memory = false;       // whether blocks have the highest priority in the cache
  bool block_cache = true;      // whether blocks are cached when they are read
  uint32_t block_size = 65536;  // size of a block in bytes before compression

  bool operator==(const FamilyDescriptor&) const = default;
};

/// The attribute SPLIT_POLICY: when and where the store splits the regions of a table
/// (region-store.md R9–R13).
struct TableSplitPolicy {
  enum class Kind : uint8_t {
    kDefault,       // the settings of the store decide
    kDisabled,      // regions are not split automatically
    kConstantSize,  // a region is split at the maximum size of a region
    kIncreasing,    // the size at which regions are split grows with their number in the table
    // A small split size applies to the only region of a table. If a table has several regions, the
    // maximum size of a region applies to each of them.
    kStepping,
    kKeyPrefix,  // as kIncreasing; keys with the same prefix stay in one region
    // As kIncreasing; keys that are equal up to a delimiter stay in one region.
    kDelimitedKeyPrefix,
  };
  Kind kind = Kind::kDefault;
  uint32_t prefix_length = 0;  // prefix length in bytes; set only for kKeyPrefix
  Bytes delimiter;             // set only for kDelimitedKeyPrefix

  bool operator==(const TableSplitPolicy&) const = default;
};

/// A table and its families. TableDescriptor is an immutable value.
struct TableDescriptor {
  std::string name;  // "table" or "namespace:table"
  std::vector<FamilyDescriptor> families;
  /// Whether this is the data table. The family "t" of the data table has points, which an engine
  /// may store as points instead of cells.
  bool points = false;
  /// First keys of the regions of a new table, in addition to the regions of its salt buckets. The
  /// keys may be in any order, but must be unique and not empty. If the table already exists,
  /// `splits` is ignored.
  std::vector<Bytes> splits = {};
  TableSplitPolicy split_policy = {};

  bool operator==(const TableDescriptor&) const = default;
};

}  // namespace hg
