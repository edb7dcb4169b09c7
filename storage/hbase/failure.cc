#include "storage/hbase/failure.h"

#include <algorithm>
#include <array>

#include "storage/table_name.h"

namespace hg::hbase {
namespace {

struct Sign {
  std::string_view text;
  StatusCode code;
  bool temporary;
};

// The first entry whose text occurs in the message decides. A message 'Failed 1 action: …' says
// that a retry helps, even if the exception that it quotes says the contrary.
constexpr std::array<Sign, 16> kSigns = {{
    {"the response exceeds", StatusCode::kLimitExceeded, false},  // message of storage/thrift2
    {"NoSuchColumnFamily", StatusCode::kNotFound, false},
    {"TableNotFoundException", StatusCode::kNotFound, false},
    {"NamespaceNotFoundException", StatusCode::kNotFound, false},
    {"TableExistsException", StatusCode::kConflict, false},
    {"NamespaceExistException", StatusCode::kConflict, false},
    {"RegionTooBusy", StatusCode::kBusy, true},
    {"CallQueueTooBig", StatusCode::kBusy, true},
    {"is not a long", StatusCode::kInvalidArgument, false},
    {"isn't 64 bits wide", StatusCode::kInvalidArgument, false},
    {"is disabled.", StatusCode::kUnavailable, false},
    {"AccessDenied", StatusCode::kUnsupported, false},
    {"DeserializationException", StatusCode::kUnsupported, false},
    {"ClassNotFound", StatusCode::kUnsupported, false},
    {"IllegalArgumentException", StatusCode::kInvalidArgument, false},
    {"DoNotRetry", StatusCode::kInvalidArgument, false},
}};

// Returns whether the line has the name of the table instead of an exception, for example "Failed 2
// actions: tsdb: 2 times, servers with issues: null".
bool NamesAlone(std::string_view line, const std::string& table) {
  const size_t colon = line.find(": ");
  return line.starts_with("Failed ") && colon != std::string_view::npos &&
         line.substr(colon + 2).starts_with(table + ": ");
}

}  // namespace

bool IsTemporary(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kBusy;
}

std::string FirstLine(std::string_view message) {
  std::string line;
  while (!message.empty()) {
    const size_t end = std::min(message.find('\n'), message.size());
    if (end > 0) {
      if (!line.empty()) line += ' ';
      line += message.substr(0, end);
      if (!line.ends_with(':')) break;
    }
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return line;
}

Failure ReadIoError(std::string_view message, std::optional<bool> can_retry,
                    const std::string& table) {
  if (WithoutDefaultNamespace(message) == WithoutDefaultNamespace(table)) {
    return {Status::NotFound("no such table: " + table), false};
  }
  const std::string line = FirstLine(message);
  // A failed batch has the name of the table in the place of the exception name.
  if (NamesAlone(line, table)) {
    return {Status::NotFound("no such table: " + table), false};
  }
  for (const Sign& sign : kSigns) {
    if (message.find(sign.text) != std::string_view::npos) {
      return {Status(sign.code, "HBase: " + line), sign.temporary};
    }
  }
  if (!can_retry.value_or(true)) return {Status::IoError("HBase: " + line), false};
  return {Status::Unavailable("HBase: " + line), true};
}

}  // namespace hg::hbase
