#pragma once
// What a table is made of and how its families keep cells: HBase's attributes (spec
// region-store.md D1, D6, D12–D23) by their names there.

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/bytes.h"

namespace hg {

/// "For ever" of a TTL in seconds, as HBase writes it.
inline constexpr int64_t kTtlForever = 2147483647;

/// BLOOMFILTER: which gets may skip a file (D20).
enum class BloomFilter : uint8_t { kNone, kRow };

/// A family of a table. A new family is given these defaults.
struct FamilyDescriptor {
  Bytes name;                   // 1…127 printable bytes without ':'
  int32_t versions = 1;         // VERSIONS: newest n of a column are kept
  int32_t min_versions = 0;     // MIN_VERSIONS: of them so many stay though their TTL has passed
  int64_t ttl_s = kTtlForever;  // TTL: from the cell's time; points: from their data time
  bool keep_deleted_cells = false;     // reads of times before a delete still see what it deleted
  bool new_version_behavior = false;   // a delete hides only what was written before it
  std::string compression = "SNAPPY";  // NONE, SNAPPY, ZSTD
  std::string data_block_encoding = "NONE";  // remembered; blocks always share prefixes of keys
  BloomFilter bloom_filter = BloomFilter::kRow;
  bool in_memory = false;       // its blocks have the cache's highest priority
  bool block_cache = true;      // its blocks are cached when read
  uint32_t block_size = 65536;  // bytes of a block before compression

  bool operator==(const FamilyDescriptor&) const = default;
};

/// Immutable value.
struct TableDescriptor {
  std::string name;  // "table" or "namespace:table"
  std::vector<FamilyDescriptor> families;
  /// True for the data table: family "t" holds points natively where the engine can (engine.md §8).
  bool points = false;
  /// First keys of the regions that a new table is made with, behind those of its salt buckets. In
  /// any order, no two alike, none empty. Of no meaning where the table exists.
  std::vector<Bytes> splits = {};

  bool operator==(const TableDescriptor&) const = default;
};

}  // namespace hg
