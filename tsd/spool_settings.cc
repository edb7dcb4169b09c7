#include "tsd/spool_settings.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "storage/hbase/spool.h"
#include "tsd/log.h"
#include "tsd/tables.h"

namespace hg::tsd {
namespace {

// A file that contains the path of the spool folder.
constexpr char kNoteName[] = "spool-folder";

std::string DefaultFolder(const Config& config) {
  return config.String("tsd.storage.path") + "/spool";
}

Result<std::string> NotedFolder(const Config& config, FileSystem& files) {
  const std::string note = config.String("tsd.storage.path") + "/" + kNoteName;
  if (!files.Exists(note)) return DefaultFolder(config);
  return ReadWholeFile(files, note);
}

// Returns the first folder other than `own` in which points wait, or "" if there is none.
Result<std::string> WaitsElsewhere(const Config& config, FileSystem& files,
                                   const std::string& own) {
  ASSIGN_OR_RETURN(const std::string noted, NotedFolder(config, files));
  for (const std::string& folder : {DefaultFolder(config), noted}) {
    if (folder == own) continue;
    ASSIGN_OR_RETURN(const bool waits, hbase::Spool::Waits(files, folder));
    if (waits) return folder;
  }
  return std::string();
}

}  // namespace

Result<std::optional<hbase::SpoolOptions>> ReadSpoolOptions(const Config& config,
                                                            FileSystem& files) {
  hbase::SpoolOptions spool;
  ASSIGN_OR_RETURN(const int64_t bytes,
                   config.Int("tsd.storage.hbase.spool.size", 1 << 30, 0, int64_t{1} << 50));
  spool.folder = config.String("tsd.storage.hbase.spool.path");
  if (spool.folder.empty()) spool.folder = DefaultFolder(config);
  const bool reads_only = config.String("tsd.mode") == "ro";
  const bool none = bytes == 0 || reads_only;
  const auto waits = WaitsElsewhere(config, files, none ? "" : spool.folder);
  if (reads_only) {
    // Waiting points cause only a warning, because another daemon may replay them.
    const std::string where = waits.ok() ? *waits : waits.status().ToString();
    if (!where.empty()) {
      LogWarning("spool",
                 "points wait for HBase in the spool; this daemon does not write them, because "
                 "tsd.mode is ro. Start a daemon with tsd.mode = rw",
                 {{"where", where}});
    }
    return std::optional<hbase::SpoolOptions>();
  }
  RETURN_IF_ERROR(waits.status());
  if (!waits->empty()) {
    // The daemon must not start. If a later daemon replayed the points in the other folder, they
    // would overwrite the points of this daemon.
    const std::string now = bytes == 0 ? "tsd.storage.hbase.spool.size = 0"
                                       : "tsd.storage.hbase.spool.path = \"" + spool.folder + "\"";
    return Status::InvalidArgument("points wait for HBase in " + *waits + ": " + now +
                                   " would leave them there. First start a daemon with that spool "
                                   "folder until it has written them, or move the folder away");
  }
  if (bytes == 0) return std::optional<hbase::SpoolOptions>();
  spool.bytes_max = static_cast<uint64_t>(bytes);
  ASSIGN_OR_RETURN(const int64_t patience_ms,
                   config.Int("tsd.storage.hbase.spool.patience", 2000, 1, 3'600'000));
  spool.patience_ms = static_cast<int>(patience_ms);
  const std::string& durability = config.String("tsd.storage.durability");
  spool.write_on_commit = durability == "synced" || durability == "logged";
  spool.sync_on_commit = durability == "synced";
  // The tables of ids, metadata and trees are not spooled, because other processes change them,
  // too.
  ASSIGN_OR_RETURN(const std::vector<TableDescriptor> tables, DescribeTables(config));
  for (const TableDescriptor& table : tables) spool.tables.push_back(table.name);
  for (const char* other : {"tsd.storage.hbase.uid_table", "tsd.storage.hbase.tree_table",
                            "tsd.storage.hbase.meta_table"}) {
    std::erase(spool.tables, config.String(other));
  }
  return std::optional(std::move(spool));
}

void NoteSpoolFolder(const Config& config, const std::string& folder, FileSystem& files) {
  const auto noted = NotedFolder(config, files);
  if (noted.ok() && *noted == folder) return;
  const std::string& path = config.String("tsd.storage.path");
  Status written = files.CreateFolder(path);
  if (written.ok()) written = ReplaceFile(files, path, kNoteName, folder);
  if (!written.ok()) {
    LogWarning("spool",
               "the spool folder could not be recorded; a daemon with another "
               "tsd.storage.hbase.spool.path will not find points that wait in it",
               {{"path", folder}, LogField(written)});
  }
}

}  // namespace hg::tsd
