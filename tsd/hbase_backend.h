#pragma once
// The tables of an HBase cluster as the store of the program.

#include "storage/hbase/options.h"
#include "tsd/backend.h"

namespace hg::tsd {

/// The BackendOpener for tsd.storage.backend = hbase: PointsOverCells over HBase's gateways. With
/// StoreUse::kWork it creates missing tables. InvalidArgument: a setting is wrong, or a table lacks
/// a family. Unavailable: no gateway responds.
Result<std::unique_ptr<Backend>> OpenHbaseBackend(const Config& config, const std::string& words,
                                                  StoreUse use);

Result<hbase::HbaseOptions> ReadHbaseOptions(const Config& config);

/// Creates missing tables of tsd/tables.h, except for StoreUse::kLook. Does not change existing
/// tables, because other programs may have created them. InvalidArgument: a table lacks a
/// family.
Status EnsureHbaseTables(const Config& config, Store& store, StoreUse use);

}  // namespace hg::tsd
