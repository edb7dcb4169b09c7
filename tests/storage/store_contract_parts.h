#pragma once
// Declares the parts of CheckStoreContract, and the helper functions that these parts share. Each
// topic has its own source file.

#include <string>
#include <vector>

#include "tests/storage/store_contract.h"

namespace hg {

/// A check of a cell store. When the check begins, the store has the empty table kContractTable.
using StoreCheck = void (*)(StoreSubject&);

extern const TableDescriptor kContractTable;  // the table "g" with the families a and b

std::vector<StoreCheck> TableChecks();
std::vector<StoreCheck> CellChecks();
/// Makes random operations and checks their results. Unlike all other checks, this check creates
/// its own stores and tables.
void CheckRandomSteps(const StoreFactory& make);

FamilyDescriptor Family(Bytes name, int32_t versions);
CellChange PutAt(Bytes family, Bytes qualifier, Bytes value, int64_t timestamp_ms);
CellChange DeleteFamily(Bytes family);
/// Returns the cells of the row as text, each in the form "family:qualifier=value ".
std::string Text(const Row& row);
/// Returns a scan of the rows [start, stop) of the table "g".
ScanSpec Spec(Bytes start = "", Bytes stop = "", size_t batch_rows = 128);

}  // namespace hg
