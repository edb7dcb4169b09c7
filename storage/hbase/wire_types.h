#pragma once
// Converts the types of the store to Thrift types and back. Pure functions. Only this folder and
// storage/thrift2 use this file, because it includes headers that Thrift generated.

#include <hbase_types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "storage/hbase/options.h"
#include "storage/store.h"

namespace hg::hbase {

/// Converts a row. If the row is missing, the result has no key and no cells.
Row ReadRow(wire::TResult result);

/// Returns the selected columns (family and qualifier). An empty result means that all columns are
/// selected.
std::vector<wire::TColumn> ChosenColumns(const CellSelection& wanted);
/// Sets *range to the selected range of times, without times before the epoch. Returns false if the
/// range is empty.
bool ChosenTimes(const CellSelection& wanted, wire::TTimeRange* range);
/// Returns whether all times are selected.
bool AllTimes(const CellSelection& wanted);

wire::TDurability::type DurabilityOf(WriteAhead write_ahead);
/// Converts the changes of one row: one TPut for each TTL, one TDelete for each kind.
wire::TRowMutations WriteChanges(const Bytes& key, const std::vector<CellChange>& changes,
                                 wire::TDurability::type durability);
/// Converts the puts of a row to one TPut. Returns false if there are other changes than puts, or
/// if the TTLs differ.
bool WritePut(const RowMutation& row, wire::TDurability::type durability, wire::TPut* put);

/// Returns the 8-byte value of the put attribute kTtlAttribute.
Bytes TtlBytes(int64_t ttl_ms);
inline constexpr const char* kTtlAttribute = "_ttl";

/// Converts a table name. `name` is "table" or "namespace:table".
wire::TTableName WriteTableName(const std::string& name);
std::string ReadTableName(const wire::TTableName& name);
/// Converts the descriptor without its splits.
wire::TTableDescriptor WriteDescriptor(const TableDescriptor& table);
/// Converts a family. Fields that are not set get HBase's defaults. See ReadDescriptor.
FamilyDescriptor ReadFamily(const wire::TColumnFamilyDescriptor& column);
/// Converts a descriptor. Every setting with which HBase keeps deleted cells becomes "kept", even
/// the one with which it keeps them until their TTL. Bloom filters other than ROW are read as ROW.
TableDescriptor ReadDescriptor(const wire::TTableDescriptor& table);
/// Returns the split policy of a table. Fails if Hourglass does not support it. ReadDescriptor then
/// returns the default policy.
Result<TableSplitPolicy> ReadSplitPolicy(const wire::TTableDescriptor& table);
/// Removes the attributes that ReadSplitPolicy reads.
void EraseSplitPolicy(std::map<std::string, std::string>* attributes);

}  // namespace hg::hbase
