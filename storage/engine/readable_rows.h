#pragma once
// Functions for repairs of an open store (online_repair.h) and of a closed store
// (offline_repair.h). They find damaged parts, write the readable rows to new files, and move
// damaged files to the folder "lost".

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "storage/base/file.h"
#include "storage/base/status.h"
#include "storage/engine/part_writer.h"
#include "storage/lsm/block_file.h"
#include "storage/maintenance.h"

namespace hg::engine {

/// The name of the folder for damaged files, in the folder of the store.
inline constexpr char kLostFolder[] = "lost";

using EntryVisit = std::function<Status(ByteView key, ByteView value)>;

/// Verifies the files of these parts. Returns the damage of each damaged part, by the number of the
/// part.
std::map<uint64_t, std::vector<Damage>> FindDamage(FileSystem& files, const std::string& folder,
                                                   const KeyLayout& layout,
                                                   const std::vector<lsm::PartEntry>& parts);

/// Visits every readable entry in order and skips damaged blocks. Returns false if it skipped a
/// block.
Result<bool> VisitReadable(const lsm::BlockFile& file, const EntryVisit& visit);

/// Writes the readable rows of a cell file and a points file as the part with the number of
/// `fresh`, and sets those members of `fresh` that describe files; without rows, their sizes are 0.
/// A file that is nullptr has no rows. Returns false if some rows could not be read. `folder` is
/// the folder of the store.
Result<bool> RewriteReadable(FileSystem& files, const std::string& folder, const KeyLayout& layout,
                             const lsm::BlockFile* cells, const lsm::BlockFile* points,
                             lsm::PartEntry* fresh);

/// Writes the table of series to a new part that has the number in `fresh`. `tsuid_of` returns the
/// TSUIDs of the numbers below `count`, or "" for forgotten ones. `flushed` is the last sequence
/// number that is in files. Returns the number of series in the part. Without series, there is no
/// file, and the sizes in `fresh` are 0.
Result<uint32_t> WriteSeries(FileSystem& files, const std::string& folder, const KeyLayout& layout,
                             uint32_t count,
                             const std::function<ByteView(uint32_t number)>& tsuid_of,
                             uint64_t flushed, lsm::PartEntry* fresh);

/// Hard-links or copies files of the store (`names`, relative to `folder`) to its folder "lost",
/// and appends a line for each file to `done`. Skips missing files.
Status LinkIntoLost(FileSystem& files, const std::string& folder,
                    const std::set<std::string>& names, std::vector<std::string>* done);

}  // namespace hg::engine
