#pragma once
// Writes rows that HBase rejected permanently as text. The text consists of commands of the HBase
// shell, so that operators can read the rows and send them again when the cause is fixed. All
// functions are pure.

#include <string>
#include <vector>

#include "storage/hbase/spool_record.h"

namespace hg::hbase {

struct RefusedRow {
  RowMutation row;
  Status why;
};

/// Returns text for each row: a comment with the reason and the time of the write, followed by a
/// `put` command for each cell, or by an `append` command. Bytes other than letters and digits are
/// written as \xNN.
std::string RefusedText(const SpoolRecord& record, const std::vector<RefusedRow>& rows);

}  // namespace hg::hbase
