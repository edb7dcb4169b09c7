#pragma once
// Reads the settings of the server for HBase's Thrift2 protocol.

#include <optional>

#include "storage/thrift2/thrift2_server.h"
#include "tsd/config.h"

namespace hg::tsd {

/// Returns the options of the Thrift2 server, or nullopt if the settings contain no port for it.
/// InvalidArgument: a value is invalid, or the store is not the embedded store.
Result<std::optional<thrift2::Thrift2Options>> ReadThrift2Options(const Config& config);

}  // namespace hg::tsd
