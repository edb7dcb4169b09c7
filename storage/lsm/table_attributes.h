#pragma once
// Names, limits and texts of table descriptors (storage/table_descriptor.h).

#include <string>
#include <string_view>

#include "storage/base/status.h"
#include "storage/table_descriptor.h"

namespace hg::lsm {

inline constexpr size_t kFamiliesMax = 16;  // of a table (D6)

/// The name without the namespace "default". InvalidArgument: it cannot be a table's.
Result<std::string> TableName(std::string_view name);

/// "" = "default". The name is a TableName.
std::string_view NamespaceOf(std::string_view table);

/// InvalidArgument or Unsupported: which attribute, and what it may be.
Status CheckDescriptor(const TableDescriptor& table);

/// True if they describe the same table: the order of the families does not matter.
bool SameDescriptor(const TableDescriptor& a, const TableDescriptor& b);

/// Sets one attribute by HBase's name and text: VERSIONS, MIN_VERSIONS, TTL (seconds or FOREVER),
/// KEEP_DELETED_CELLS, NEW_VERSION_BEHAVIOR, COMPRESSION, DATA_BLOCK_ENCODING, BLOOMFILTER,
/// IN_MEMORY, BLOCKCACHE, BLOCKSIZE.
Status SetAttribute(std::string_view name, std::string_view text, FamilyDescriptor* family);

/// Every attribute of the family, as SetAttribute reads them: "NAME => 't', VERSIONS => 1, …".
std::string DescribeFamily(const FamilyDescriptor& family);

/// True if the engine can keep points of the family natively: one version, no kept deleted cells,
/// HBase's order of versions (engine.md §11).
bool FitsPoints(const FamilyDescriptor& family);

}  // namespace hg::lsm
