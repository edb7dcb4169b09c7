#pragma once
// What an error of HBase's gateway means and whether the call is worth another try (spec
// hbase-backend.md §6.16, §8). Pure.

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::hbase {

struct Failure {
  Status status;
  bool temporary = false;  // the same call may succeed a little later
};

/// A TIOError: its text, which is HBase's exception with a stack trace, and its word on whether to
/// try again, which is wrong for some.
Failure ReadIoError(std::string_view message, std::optional<bool> can_retry,
                    const std::string& table);

/// What a write hears that HBase may take later: Unavailable or Busy.
bool IsTemporary(const Status& status);

/// The first line of a message; the second one too where the first only announces it.
std::string FirstLine(std::string_view message);

}  // namespace hg::hbase
