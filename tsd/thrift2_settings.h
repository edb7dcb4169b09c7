#pragma once
// Reads the settings of the server of HBase's Thrift2 protocol.

#include <optional>

#include "storage/thrift2/thrift2_server.h"
#include "tsd/config.h"

namespace hg::tsd {

/// Returns nullopt if the settings name no port. InvalidArgument: a value is wrong, or the store is
/// not the embedded one.
Result<std::optional<thrift2::Thrift2Options>> ReadThrift2Options(const Config& config);

}  // namespace hg::tsd
