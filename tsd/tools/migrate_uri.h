#pragma once
// The URIs of source and target of `migrate`:
//
//   dir:///var/lib/tsdb                     a data directory (absolute path)
//   hbase://gateway1:9090,gateway2:9090     HBase behind these gateways
//   hbase://gateway1:9090/space             … with its tables in a namespace

#include <string>
#include <string_view>

#include "storage/base/status.h"
#include "tsd/config.h"

namespace hg::tsd {

/// Returns the settings for opening the store of a URI: the given settings with the backend, its
/// place and the names of the four tables from the URI. Rollup tables keep their names from
/// tsd.rollups.config. Writes to HBase are at least as durable as its tables say. InvalidArgument
/// names the URI and the error.
Result<Config> SettingsOfUri(const Config& settings, std::string_view uri);

}  // namespace hg::tsd
