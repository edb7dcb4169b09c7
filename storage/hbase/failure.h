#pragma once
// Interprets errors of HBase's gateway: their meaning, and whether the call should be repeated
// (hbase-backend.md §6.16, §8). Pure functions.

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
/// `can_retry` is the gateway's hint, which is wrong for some exceptions.
Failure ReadIoError(std::string_view message, std::optional<bool> can_retry,
                    const std::string& table);

/// Returns whether HBase may accept the write later, which is so if the status is Unavailable or
/// Busy.
bool IsTemporary(const Status& status);

/// Returns the first line of a message. If that line only announces the next one, returns both.
std::string FirstLine(std::string_view message);

}  // namespace hg::hbase
