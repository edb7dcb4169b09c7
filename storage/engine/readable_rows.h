#pragma once
// What of damaged files can still be read, and where they go.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/engine/run_writer.h"
#include "storage/lsm/block_file.h"

namespace hg::points {

/// Below the folder of the store.
inline constexpr char kLostFolder[] = "lost";

using EntryVisit = std::function<Status(ByteView key, ByteView value)>;

/// Every entry that can be read, in order; a damaged block is passed over. False: there was one.
Result<bool> VisitReadable(const lsm::BlockFile& file, const EntryVisit& visit);

/// Adds every row that can be read to the writer; `points`: it is a points file. False: some could
/// not.
Result<bool> CopyReadable(const lsm::BlockFile& file, bool points, RunWriter* writer);

/// Gives files of the store (`names` within its folder) second names in its folder of lost ones,
/// and tells of each in `done`. Those that are not there are passed over.
Status LinkIntoLost(FileSystem& files, const std::string& folder,
                    const std::set<std::string>& names, std::vector<std::string>* done);

}  // namespace hg::points
