#pragma once
// Converts the types of the store to Thrift types and Thrift types to types of the store. All
// functions are pure. Only files in storage/hbase and storage/thrift2 use this file, because it
// includes headers that Thrift generated.

#include <hbase_types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "storage/hbase/options.h"
#include "storage/store.h"

namespace hg::hbase {

/// Converts a row. If the row does not exist, the result has no key and no cells.
Row ReadRow(wire::TResult result);

/// Returns the selected columns (family and qualifier). An empty result means that all columns are
/// selected.
std::vector<wire::TColumn> ChosenColumns(const CellSelection& wanted);
/// Sets *range to the selected range of times, without times before the epoch. Returns false if the
/// selected range is empty.
bool ChosenTimes(const CellSelection& wanted, wire::TTimeRange* range);
/// Returns whether all times are selected.
bool AllTimes(const CellSelection& wanted);

wire::TDurability::type DurabilityOf(WriteAhead write_ahead);
/// Converts the changes of one row: one TPut for each TTL, and one TDelete for each kind of delete.
wire::TRowMutations WriteChanges(const Bytes& key, const std::vector<CellChange>& changes,
                                 wire::TDurability::type durability);
/// Converts the puts of a row to one TPut. Returns false if the row has changes that are not puts,
/// or if its puts have different TTLs.
bool WritePut(const RowMutation& row, wire::TDurability::type durability, wire::TPut* put);

/// The attribute of a put, increment or append that has the TTL of its cells, in 8 bytes.
inline constexpr const char* kTtlAttribute = "_ttl";
/// Returns the attributes of a change whose cells have this TTL.
std::map<std::string, std::string> TtlAttribute(int64_t ttl_ms);

/// Converts a table name. `name` is "table" or "namespace:table".
wire::TTableName WriteTableName(const std::string& name);
std::string ReadTableName(const wire::TTableName& name);
/// Converts a table descriptor, except its splits.
wire::TTableDescriptor WriteDescriptor(const TableDescriptor& table);
/// Converts a column family. Fields that are not set get HBase's defaults. Each value of
/// KEEP_DELETED_CELLS except FALSE becomes true, including the value that keeps deleted cells only
/// until their TTL. Each Bloom filter except NONE is read as ROW.
FamilyDescriptor ReadFamily(const wire::TColumnFamilyDescriptor& column);
/// Converts a table descriptor. The families are converted as by ReadFamily. A split policy that
/// Hourglass does not support becomes the default policy.
TableDescriptor ReadDescriptor(const wire::TTableDescriptor& table);
/// Returns the split policy of a table. Returns an error if Hourglass does not support the policy.
Result<TableSplitPolicy> ReadSplitPolicy(const wire::TTableDescriptor& table);
/// Removes those attributes that ReadSplitPolicy reads.
void EraseSplitPolicy(std::map<std::string, std::string>* attributes);

}  // namespace hg::hbase
