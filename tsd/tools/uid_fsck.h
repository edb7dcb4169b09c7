#pragma once
// The command `uid fsck`. It checks that forward and reverse mappings agree, and that the id
// counters are not too small (opentsdb-tools.md §6, opentsdb-schema.md §18.8).

#include <cstdint>

#include "storage/base/status.h"
#include "tsd/session.h"

namespace hg::tsd {

struct UidFsckOptions {
  bool fix = false;
  bool delete_unknown = false;  // has an effect only if `fix` is set, too
};

/// Reads the whole table of ids, logs errors, and repairs errors if the options request it. Returns
/// the number of errors that were found, whether they were repaired or not. Clients can assign,
/// rename and delete names during the check: the function reads mappings that disagree again, and
/// neither reports nor repairs mappings that have changed. A client writes the mappings of a name
/// one after the other. If the function reads the mappings between two of these writes, it can
/// still take them for errors.
Result<uint64_t> RunUidFsck(Session& session, const UidFsckOptions& options);

}  // namespace hg::tsd
