#pragma once
// Opens the tables of an HBase cluster as the store of the program.

#include "storage/hbase/options.h"
#include "tsd/backend.h"

namespace hg::tsd {

/// The BackendOpener for tsd.storage.backend = hbase. The store consists of PointsOverCells over
/// HBase's gateways. The function creates missing tables (EnsureHbaseTables), unless `use` is
/// StoreUse::kLook. InvalidArgument: a setting is invalid, or a table lacks a family. Unavailable:
/// no gateway responds.
Result<std::unique_ptr<Backend>> OpenHbaseBackend(const Config& config, const std::string& words,
                                                  StoreUse use);

Result<hbase::HbaseOptions> ReadHbaseOptions(const Config& config);

/// Creates the tables of tsd/tables.h that are missing, unless `use` is StoreUse::kLook. Existing
/// tables are not changed, because other programs may have created them. InvalidArgument: an
/// existing table lacks a family. NotFound: a table is missing, and tsd.storage.hbase.create_tables
/// is off.
Status EnsureHbaseTables(const Config& config, Store& store, StoreUse use);

}  // namespace hg::tsd
