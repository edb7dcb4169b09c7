#pragma once
// The parts of CheckStoreContract, one topic per file, and their shared helpers.

#include <string>
#include <vector>

#include "tests/storage/store_contract.h"

namespace hg {

/// A check. The store that it gets has an empty table kContractTable.
using StoreCheck = void (*)(StoreSubject&);

extern const TableDescriptor kContractTable;  // "g", families a and b

std::vector<StoreCheck> TableChecks();
std::vector<StoreCheck> CellChecks();
/// Unlike other checks, this one creates its own stores and tables.
void CheckRandomSteps(const StoreFactory& make);

FamilyDescriptor Family(Bytes name, int32_t versions);
CellChange PutAt(Bytes family, Bytes qualifier, Bytes value, int64_t timestamp_ms);
CellChange DeleteFamily(Bytes family);
/// Formats each cell as "family:qualifier=value ".
std::string Text(const Row& row);
/// Returns a scan of the rows [start, stop) of table "g".
ScanSpec Spec(Bytes start = "", Bytes stop = "", size_t batch_rows = 128);

}  // namespace hg
