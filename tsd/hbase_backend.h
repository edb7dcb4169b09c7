#pragma once
// The tables of an HBase cluster as the program's store.

#include "storage/hbase/options.h"
#include "tsd/backend.h"

namespace hg::tsd {

/// A BackendOpener for tsd.storage.backend = hbase: points over cells over HBase's gateways. What
/// is missing of the tables is created for StoreUse::kWork. InvalidArgument: a setting is wrong, or
/// a table lacks a family. Unavailable: no gateway answers.
Result<std::unique_ptr<Backend>> OpenHbaseBackend(const Config& config, const std::string& words,
                                                  StoreUse use);

Result<hbase::HbaseOptions> ReadHbaseOptions(const Config& config);

/// Creates tables of tsd/tables.h that are missing; to look, it leaves them missing. Those that
/// exist are taken as they are, for others may have made them; InvalidArgument: one lacks a family.
Status EnsureHbaseTables(const Config& config, Store& store, StoreUse use);

}  // namespace hg::tsd
