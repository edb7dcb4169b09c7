#pragma once
// Rows that HBase rejected permanently, as text. The text consists of commands of the HBase
// shell, so that operators can read the rows and send them again when the cause is fixed. Pure
// functions.

#include <string>
#include <vector>

#include "storage/hbase/spool_record.h"

namespace hg::hbase {

struct RefusedRow {
  RowMutation row;
  Status why;
};

/// Returns, for each row, a comment with the reason and the time of the write, and then a `put` for
/// each cell, or the `append`. Bytes other than letters and digits are written as \xNN.
std::string RefusedText(const SpoolRecord& record, const std::vector<RefusedRow>& rows);

}  // namespace hg::hbase
