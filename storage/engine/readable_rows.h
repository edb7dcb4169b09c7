#pragma once
// Salvages the readable rows of damaged files, and moves damaged files to the folder "lost".

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/engine/part_writer.h"
#include "storage/lsm/block_file.h"

namespace hg::engine {

/// The folder for damaged files, relative to the folder of the store.
inline constexpr char kLostFolder[] = "lost";

using EntryVisit = std::function<Status(ByteView key, ByteView value)>;

/// Visits every readable entry in order and skips damaged blocks. Returns false if a block was
/// skipped.
Result<bool> VisitReadable(const lsm::BlockFile& file, const EntryVisit& visit);

/// Adds every readable row to the writer. `points` is true for a points file, false for a cell
/// file. Returns false if some rows could not be read.
Result<bool> CopyReadable(const lsm::BlockFile& file, bool points, PartWriter* writer);

/// Hard-links or copies files of the store (`names`, relative to `folder`) into its folder "lost",
/// and appends a line for each to `done`. Missing files are skipped.
Status LinkIntoLost(FileSystem& files, const std::string& folder,
                    const std::set<std::string>& names, std::vector<std::string>* done);

}  // namespace hg::engine
