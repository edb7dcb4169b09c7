#pragma once
// uid fsck: do forward and reverse mappings agree, and is the counter not behind (spec cli.md §6,
// schema.md §18.8)?

#include <cstdint>

#include "storage/base/status.h"
#include "tsd/session.h"

namespace hg::tsd {

struct UidFsckOptions {
  bool fix = false;
  bool delete_unknown = false;  // only together with fix
};

/// Reads the whole table of ids, logs what is wrong, repairs it if asked; how many errors were
/// found, repaired or not.
Result<uint64_t> RunUidFsck(Session& session, const UidFsckOptions& options);

}  // namespace hg::tsd
