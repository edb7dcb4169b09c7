#pragma once
// What we mean, in the structures of the wire, and back. Pure. Inside of this folder only: it
// includes what Thrift generates.

#include <hbase_types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "storage/hbase/options.h"
#include "storage/store.h"

namespace hg::hbase {

/// No row = a row without cells and key.
Row ReadRow(wire::TResult result);

/// The columns of families and qualifiers that are wanted; none = all.
std::vector<wire::TColumn> ChosenColumns(const CellSelection& wanted);
/// The times that are wanted, from the epoch on. False: there are none.
bool ChosenTimes(const CellSelection& wanted, wire::TTimeRange* range);
/// Whether every time is wanted.
bool AllTimes(const CellSelection& wanted);

wire::TDurability::type DurabilityOf(WriteAhead write_ahead);
/// Changes of one row; a put for each time to live, a delete for each kind.
wire::TRowMutations WriteChanges(const Bytes& key, const std::vector<CellChange>& changes,
                                 wire::TDurability::type durability);
/// The puts of a row as one structure; false: there is something else among them, or their times to
/// live differ.
bool WritePut(const RowMutation& row, wire::TDurability::type durability, wire::TPut* put);

/// 8 bytes, the value of a put's attribute kTtlAttribute.
Bytes TtlBytes(int64_t ttl_ms);
inline constexpr const char* kTtlAttribute = "_ttl";

/// "table" or "namespace:table".
wire::TTableName WriteTableName(const std::string& name);
std::string ReadTableName(const wire::TTableName& name);
/// The descriptor without its splits.
wire::TTableDescriptor WriteDescriptor(const TableDescriptor& table);
/// Kept deleted cells until their TTL count as kept; blooms other than by row as by row.
TableDescriptor ReadDescriptor(const wire::TTableDescriptor& table);

}  // namespace hg::hbase
