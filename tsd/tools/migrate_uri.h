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

/// Returns the settings with which the store of a URI is opened. The backend, its place, and the
/// names of the four tables come from the URI; all other settings come from `settings`. Rollup
/// tables have the names in tsd.rollups.config. Writes to HBase are at least as durable as its
/// tables require. InvalidArgument: the URI is invalid; the message contains the URI and describes
/// the error.
Result<Config> SettingsOfUri(const Config& settings, std::string_view uri);

}  // namespace hg::tsd
