#pragma once
// Functions for repairs of an open store (online_repair.h) and of a closed store
// (offline_repair.h). The functions find damaged parts, write the readable rows to new files, and
// move damaged files to the folder "lost".

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

/// The name of the folder for damaged files. This folder is in the folder of the store.
inline constexpr char kLostFolder[] = "lost";

using EntryVisit = std::function<Status(ByteView key, ByteView value)>;

/// Verifies the files of these parts. Returns the damage of each damaged part. The keys of the
/// result are part numbers.
std::map<uint64_t, std::vector<Damage>> FindDamage(FileSystem& files, const std::string& folder,
                                                   const KeyLayout& layout,
                                                   const std::vector<lsm::PartEntry>& parts);

/// Visits all readable entries of the file in order, and skips the rest of a block after
/// Corruption. Returns false if it skipped something. Any other error ends the visit.
Result<bool> VisitReadable(const lsm::BlockFile& file, const EntryVisit& visit);

/// Writes the readable rows of a cell file and a points file to a new part, which has the number of
/// `fresh`. Sets those members of `fresh` that describe files. If there are no rows, the file sizes
/// in `fresh` are 0. `cells` or `points` is nullptr if the old part has no such file. Returns false
/// if some rows could not be read. `folder` is the folder of the store.
Result<bool> RewriteReadable(FileSystem& files, const std::string& folder, const KeyLayout& layout,
                             const lsm::BlockFile* cells, const lsm::BlockFile* points,
                             lsm::PartEntry* fresh);

/// Writes the numbers and TSUIDs of all series to a new part. fresh->number is the number of this
/// part. For a series number below `count`, `tsuid_of` returns the TSUID of the series, or "" if
/// the series is forgotten (registry.h). `flushed` is the last sequence number that is in files.
/// Returns the number of series in the part. If there are no series, writes no file, and the file
/// sizes in `fresh` are 0.
Result<uint32_t> WriteSeries(FileSystem& files, const std::string& folder, const KeyLayout& layout,
                             uint32_t count,
                             const std::function<ByteView(uint32_t number)>& tsuid_of,
                             uint64_t flushed, lsm::PartEntry* fresh);

/// Hard-links or copies files of the store (`names`, relative to `folder`) to the folder "lost" of
/// the store, and appends a line for each file to `done`. Skips missing files.
Status LinkIntoLost(FileSystem& files, const std::string& folder,
                    const std::set<std::string>& names, std::vector<std::string>* done);

}  // namespace hg::engine
