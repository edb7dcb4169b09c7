#pragma once
// What waits for HBase in the spool's log: one record for each call of a writer. Pure.

#include <string>
#include <vector>

#include "storage/store.h"

namespace hg::hbase {

struct SpoolRecord {
  enum class Kind : uint8_t {
    kPuts = 1,    // rows, of which every change is a put
    kAppend = 2,  // one row with one change, whose value is appended to its column
  };
  Kind kind = Kind::kPuts;
  int64_t taken_ms = 0;  // when it came
  std::string table;
  std::vector<RowMutation> rows;

  [[nodiscard]] static bool IsKind(uint8_t kind) { return kind == 1 || kind == 2; }
};

/// The body of the log's record; its kind stands in the record's header. Varints and sized bytes
/// (storage/base/sized_bytes.h): time (zig-zag), table, number of rows; of each row its key and the
/// number of its puts; of each put family, qualifier, value, a byte of flags (1: it has a time, 2:
/// a time to live) and these two.
Bytes EncodeSpoolRecord(const SpoolRecord& record);
/// False: not such a body.
bool DecodeSpoolRecord(uint8_t kind, ByteView body, SpoolRecord* record);

}  // namespace hg::hbase
