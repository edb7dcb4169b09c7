#pragma once
// Rows that waited for HBase and that it refuses for good, as text: commands of HBase's shell, so
// that they can be read, and sent again once the cause is gone. Pure.

#include <string>
#include <vector>

#include "storage/hbase/spool_record.h"

namespace hg::hbase {

struct RefusedRow {
  RowMutation row;
  Status why;
};

/// For each row a comment with the reason and the time it was taken at, then a `put` for each of
/// its cells, or the `append`. Bytes that are no letters or digits are written as \xNN.
std::string RefusedText(const SpoolRecord& record, const std::vector<RefusedRow>& rows);

}  // namespace hg::hbase
