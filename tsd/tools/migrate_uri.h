#pragma once
// Where `migrate` copies from and to, in one word:
//
//   dir:///var/lib/tsdb                     a data directory (absolute path)
//   hbase://gateway1:9090,gateway2:9090     HBase behind these gateways
//   hbase://gateway1:9090/space             … its tables in a namespace

#include <string>
#include <string_view>

#include "storage/base/status.h"
#include "tsd/config.h"

namespace hg::tsd {

/// The settings with which that side's store is opened: those given, and the backend, its place and
/// the names of the four tables as the word says. Rollup tables keep the names that
/// tsd.rollups.config gives them. Writes to HBase are as durable as its tables say, or more.
/// InvalidArgument names the word and what is wrong with it.
Result<Config> SettingsOfUri(const Config& settings, std::string_view uri);

}  // namespace hg::tsd
