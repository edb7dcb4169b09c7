#include "storage/hbase/check_request.h"

#include <limits>

namespace hg::hbase {

Status CheckKey(ByteView key) {
  if (!key.empty() && key.size() <= kKeyBytesMax) return {};
  return Status::InvalidArgument("a row key of " + std::to_string(key.size()) +
                                 " bytes: 1 to 32767 are allowed");
}

Status CheckMutation(const RowMutation& row) {
  RETURN_IF_ERROR(CheckKey(row.key));
  for (const CellChange& change : row.changes) {
    if (change.value.size() > kValueBytesMax) {
      return Status::InvalidArgument("a value of " + std::to_string(change.value.size()) +
                                     " bytes: at most 10 MiB are allowed");
    }
    // 2^63 - 1 means "now" to HBase; a time before 1970 is tried again until its timeout.
    if (change.timestamp_ms &&
        (*change.timestamp_ms < 0 || *change.timestamp_ms == std::numeric_limits<int64_t>::max())) {
      return Status::InvalidArgument("a cell time of " + std::to_string(*change.timestamp_ms) +
                                     " ms");
    }
    if (change.kind == CellChange::Kind::kDeleteFamilyVersion && !change.timestamp_ms) {
      return Status::InvalidArgument("versions of a family are deleted by their time: none given");
    }
  }
  return {};
}

}  // namespace hg::hbase
