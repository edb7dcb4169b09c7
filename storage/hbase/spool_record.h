#pragma once
// The records in the log of the spool. Each record has the rows of one call of one writer. All
// functions are pure.

#include <string>
#include <vector>

#include "storage/store.h"

namespace hg::hbase {

struct SpoolRecord {
  enum class Kind : uint8_t {
    kPuts = 1,    // rows whose changes are all puts
    kAppend = 2,  // one row with one change, whose value is appended to the column
  };
  Kind kind = Kind::kPuts;
  int64_t taken_ms = 0;  // time at which the spool accepted the write
  std::string table;
  std::vector<RowMutation> rows;

  [[nodiscard]] static bool IsKind(uint8_t kind) { return kind == 1 || kind == 2; }
};

/// Returns the body of the log record. The kind of the record is in the header of the log record.
/// The body consists of varints and length-prefixed bytes (storage/base/sized_bytes.h): time
/// (zig-zag), table, number of rows, rows. Each row has its key, the number of its puts, and its
/// puts. Each put has family, qualifier, value and a byte of flags (1: a time follows, 2: a TTL
/// follows), followed by the time and the TTL, if any.
Bytes EncodeSpoolRecord(const SpoolRecord& record);
/// Decodes the body of a log record. Returns false if EncodeSpoolRecord did not produce these
/// bytes.
bool DecodeSpoolRecord(uint8_t kind, ByteView body, SpoolRecord* record);

}  // namespace hg::hbase
