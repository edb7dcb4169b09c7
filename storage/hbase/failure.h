#pragma once
// Interprets errors of HBase's gateway: what an error means, and whether the call should be
// repeated (hbase-backend.md §6.16, §8). All functions are pure.

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::hbase {

struct Failure {
  Status status;
  bool temporary = false;  // whether the same call may succeed later
};

/// Interprets a TIOError. `message` is the text of HBase's exception with a stack trace.
/// `can_retry` is the gateway's hint whether to retry, which is wrong for some exceptions.
Failure ReadIoError(std::string_view message, std::optional<bool> can_retry,
                    const std::string& table);

/// Returns whether HBase may accept the write later. This is the case if `status` is Unavailable or
/// Busy.
bool IsTemporary(const Status& status);

/// Returns the first line of a message that is not empty. While the returned text ends with a
/// colon, the next line is appended.
std::string FirstLine(std::string_view message);

}  // namespace hg::hbase
