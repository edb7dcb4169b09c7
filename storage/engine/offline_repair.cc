#include "storage/engine/offline_repair.h"

#include <algorithm>
#include <map>
#include <set>

#include "storage/base/crc32c.h"
#include "storage/codec/row_key.h"
#include "storage/engine/log_body.h"
#include "storage/engine/readable_rows.h"
#include "storage/engine/row_file.h"
#include "storage/engine/stored_files.h"
#include "storage/engine/stored_row.h"
#include "storage/engine/version.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/log.h"
#include "storage/lsm/log_recovery.h"

namespace hg::engine {
namespace {

class Repair {
 public:
  Repair(FileSystem& files, std::string folder) : files_(files), folder_(std::move(folder)) {}

  Result<RepairReport> Run() {
    auto loaded = lsm::LoadManifest(files_, folder_);
    if (loaded.status().code() == StatusCode::kUnsupported) return loaded.status();
    if (!loaded.ok()) {
      return Prepend(loaded.status(),
                     "without a valid manifest the files cannot be interpreted: restore a "
                     "backup");
    }
    manifest_ = std::move(*loaded);
    RETURN_IF_ERROR(RepairFiles());
    RETURN_IF_ERROR(ReadSeries());
    RETURN_IF_ERROR(ReadLog());
    if (series_damaged_) RETURN_IF_ERROR(RebuildSeries());
    if (series_damaged_ || log_damaged_) RETURN_IF_ERROR(RewriteLog());
    if (aside_.empty() && report_.done.empty() && report_.lost.empty()) return report_;
    RETURN_IF_ERROR(Commit());
    return report_;
  }

 private:
  [[nodiscard]] std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  // Visits every readable entry of a file. Returns false if some entries could not be read.
  Result<bool> ReadableEntries(const StoredFile& file, const EntryVisit& visit) {
    const auto opened = OpenStored(files_, folder_, file);
    if (opened.status().code() == StatusCode::kIoError) return opened.status();
    return opened.ok() ? VisitReadable(**opened, visit) : Result<bool>(false);
  }

  // Rewrites damaged parts without their damaged files and blocks.
  Status RepairFiles() {
    const auto damaged = FindDamage(files_, folder_, manifest_.layout, manifest_.parts);
    for (const auto& [number, damages] : damaged) {
      for (const Damage& damage : damages) report_.lost.push_back(damage.ToString());
    }
    std::map<uint64_t, lsm::PartEntry> rewritten;  // by the old number
    for (lsm::PartEntry& part : manifest_.parts) {
      if (!damaged.contains(part.number)) continue;
      series_damaged_ = series_damaged_ || part.table == kSeriesTable;
      auto known = rewritten.find(part.number);
      if (known == rewritten.end()) {
        lsm::PartEntry fresh = part;
        fresh.number = manifest_.next_number++;
        RETURN_IF_ERROR(Rewrite(part, &fresh));
        known = rewritten.emplace(part.number, fresh).first;
      }
      part.TakeFilesOf(known->second);
    }
    std::erase_if(manifest_.parts, [](const lsm::PartEntry& part) {
      return part.cells_bytes == 0 && part.points_bytes == 0;
    });
    return {};
  }

  Status Rewrite(const lsm::PartEntry& part, lsm::PartEntry* fresh) {
    std::shared_ptr<const lsm::BlockFile> cells, points;
    for (const StoredFile& file : FilesOf({part})) {
      const auto opened = OpenStored(files_, folder_, file);
      if (opened.status().code() == StatusCode::kIoError) return opened.status();
      if (opened.ok()) (file.points ? points : cells) = *opened;
      SetAside(file.name);
    }
    return RewriteReadable(files_, folder_, manifest_.layout, cells.get(), points.get(), fresh)
        .status();
  }

  // Reads which TSUIDs the series numbers identify, as far as the files are readable.
  Status ReadSeries() {
    for (const StoredFile& file : FilesOf(manifest_.parts)) {
      if (file.part.table != kSeriesTable || file.points) continue;
      const auto read = ReadableEntries(file, [&](ByteView key, ByteView value) -> Status {
        lsm::CellRow row;
        if (key.size() != 4 || !lsm::DecodeCellRow(value, &row) || row.cells.size() != 1 ||
            !codec::CheckTsuid(manifest_.layout, row.cells[0].value).ok()) {
          series_damaged_ = true;
          return {};
        }
        numbers_[ReadBig32(key.data())] = row.cells[0].value;
        return {};
      });
      RETURN_IF_ERROR(read.status());
    }
    const size_t end = std::max<size_t>(
        manifest_.series_end, numbers_.empty() ? 0 : size_t{numbers_.rbegin()->first} + 1);
    if (end - numbers_.size() != manifest_.forgotten_series) series_damaged_ = true;
    return {};
  }

  Result<lsm::LogRecovery> VisitLog(const std::function<Status(const lsm::LogRecord&)>& visit) {
    return lsm::RecoverLog(files_, folder_, manifest_.log_file, manifest_.log_position,
                           manifest_.flushed, visit, lsm::AtBreak::kReport, manifest_.logs);
  }

  // Reads the series that the log creates or writes to.
  Status ReadLog() {
    ASSIGN_OR_RETURN(const lsm::LogRecovery log, VisitLog([&](const lsm::LogRecord& record) {
                       ReadLogRecord(record);
                       return Status();
                     }));
    log_end_ = log.next;
    if (log.damage.empty()) return {};
    log_damaged_ = true;
    report_.lost.push_back(log.damage + "; lost: all records from there on");
    return {};
  }
  void ReadLogRecord(const lsm::LogRecord& record) {
    uint32_t number;
    ByteView tsuid;
    RowRecord row;
    if (static_cast<LogKind>(record.kind) == LogKind::kSeries &&
        DecodeSeries(record.body, &number, &tsuid)) {
      numbers_[number] = tsuid;
    } else if (static_cast<LogKind>(record.kind) == LogKind::kRow &&
               DecodeRowRecord(record.body, &row)) {
      AddSeriesOf(row.key, row.table);
    }
  }
  void AddSeriesOf(ByteView key, uint32_t table) {
    Bytes tsuid;
    uint32_t base;
    if (IsPointsTable(table) && IsRegularKey(manifest_.layout, key, &tsuid, &base)) {
      found_.insert(std::move(tsuid));
    }
  }
  [[nodiscard]] bool IsPointsTable(uint32_t id) const {
    return std::any_of(manifest_.tables.begin(), manifest_.tables.end(),
                       [id](const lsm::TableEntry& t) { return t.id == id && t.points; });
  }

  // Assigns new numbers to all series that the files, the old registry or the log know.
  Status RebuildSeries() {
    for (const StoredFile& file : FilesOf(manifest_.parts)) {
      if (!IsPointsTable(file.part.table)) continue;
      const auto read = ReadableEntries(file, [&](ByteView key, ByteView) {
        Bytes tsuid;
        uint32_t base;
        if (!file.points) {
          AddSeriesOf(key, file.part.table);
        } else if (SplitRowFileKey(manifest_.layout, key, &tsuid, &base)) {
          found_.insert(std::move(tsuid));
        }
        return Status();
      });
      RETURN_IF_ERROR(read.status());
    }
    for (const auto& [number, tsuid] : numbers_) {
      if (fresh_numbers_.try_emplace(tsuid, static_cast<uint32_t>(series_.size())).second) {
        series_.push_back(tsuid);
      }
    }
    const size_t known = series_.size();
    for (const Bytes& tsuid : found_) {
      if (fresh_numbers_.try_emplace(tsuid, static_cast<uint32_t>(series_.size())).second) {
        series_.push_back(tsuid);
      }
    }
    lsm::PartEntry entry;
    entry.number = manifest_.next_number++;
    RETURN_IF_ERROR(WriteSeries(
                        files_, folder_, manifest_.layout, static_cast<uint32_t>(series_.size()),
                        [this](uint32_t number) -> ByteView { return series_[number]; },
                        manifest_.flushed, &entry)
                        .status());
    manifest_.series_end = manifest_.forgotten_series = 0;
    for (const StoredFile& file : FilesOf(manifest_.parts)) {
      if (file.part.table == kSeriesTable) SetAside(file.name);
    }
    std::erase_if(manifest_.parts,
                  [](const lsm::PartEntry& part) { return part.table == kSeriesTable; });
    if (entry.cells_bytes > 0) manifest_.parts.push_back(entry);
    report_.done.push_back("the registry of series is rebuilt: " + std::to_string(series_.size()) +
                           " series, " + std::to_string(series_.size() - known) +
                           " of them found in rows only");
    return {};
  }

  // Copies the readable part of the log to new files, with the new series numbers.
  Status RewriteLog() {
    ASSIGN_OR_RETURN(const auto names, LogFilesIn(files_, folder_));
    for (const std::string& name : names) {
      uint64_t number;
      if (lsm::ParseLogFileName(name, &number) && number >= manifest_.log_file) SetAside(name);
    }
    // Overwritten log files no longer look like log files, so they are taken from the manifest.
    for (const lsm::LogFile& file : manifest_.logs) SetAside(lsm::LogFileName(file.number));
    lsm::LogOptions options;
    options.folder = folder_;
    options.write_on_commit = false;
    std::vector<lsm::LogFile> logs;
    options.name_files = [&logs](const std::list<lsm::LogFile>& files) {
      logs.insert(logs.end(), files.begin(), files.end());
      return Status();
    };
    lsm::Log log(files_, options, {log_end_.file_number, manifest_.log_position, {}});
    uint64_t unknown_points = 0;
    uint64_t records = 0;
    ASSIGN_OR_RETURN(const auto old, VisitLog([&](const lsm::LogRecord& record) -> Status {
                       Bytes body(record.body);
                       if (series_damaged_) {
                         if (static_cast<LogKind>(record.kind) == LogKind::kSeries) return {};
                         if (static_cast<LogKind>(record.kind) == LogKind::kPoints) {
                           unknown_points += Renumber(&body);
                           if (body.empty()) return {};
                         }
                       }
                       log.Add(record.kind, record.sequence, body, crc32c::Value(body));
                       ++records;
                       return {};
                     }));
    (void)old;
    RETURN_IF_ERROR(log.WaitSynced(log.End()));
    RETURN_IF_ERROR(log.Close());
    manifest_.log_file = log_end_.file_number;
    manifest_.logs = std::move(logs);
    report_.done.push_back("the log is written anew: " + std::to_string(records) + " records");
    if (unknown_points > 0) {
      report_.lost.push_back(std::to_string(unknown_points) +
                             " points in the log, because their series are unknown");
    }
    return {};
  }

  // Replaces the series numbers in a body. Returns the number of points left out. The body is empty
  // if no point remains.
  uint64_t Renumber(Bytes* body) const {
    std::vector<PointEntry> entries;
    if (!DecodePoints(*body, &entries)) return 0;
    const size_t before = entries.size();
    std::erase_if(entries, [&](PointEntry& entry) {
      const auto tsuid = numbers_.find(entry.series);
      if (tsuid == numbers_.end()) return true;
      entry.series = fresh_numbers_.at(tsuid->second);
      return false;
    });
    Bytes out(2 + entries.size() * kEntryBytesMax + 8, '\0');
    out.resize(entries.empty() ? 0 : EncodePoints(entries, out.data()));
    *body = std::move(out);
    return before - entries.size();
  }

  void SetAside(const std::string& name) {
    if (files_.Exists(Path(name))) aside_.insert(name);
  }

  Status Commit() {
    RETURN_IF_ERROR(LinkIntoLost(files_, folder_, aside_, &report_.done));
    RETURN_IF_ERROR(SyncFolders(files_, FoldersOf(folder_, manifest_.parts)));
    RETURN_IF_ERROR(lsm::SaveManifest(files_, folder_, manifest_));
    for (const std::string& name : aside_) RETURN_IF_ERROR(files_.Remove(Path(name)));
    return {};
  }

  FileSystem& files_;
  const std::string folder_;
  lsm::Manifest manifest_;
  RepairReport report_;
  bool series_damaged_ = false;
  bool log_damaged_ = false;
  lsm::LogStart log_end_;
  std::map<uint32_t, Bytes> numbers_;        // as found in the files and the log
  std::set<Bytes> found_;                    // series that have rows
  std::vector<Bytes> series_;                // indexed by new number
  std::map<Bytes, uint32_t> fresh_numbers_;  // from TSUID to new number
  std::set<std::string> aside_;
};

}  // namespace

Result<RepairReport> RepairDirectory(FileSystem& files, const std::string& folder) {
  if (!files.Exists(folder + "/" + lsm::kManifestName)) {
    return Status::InvalidArgument(folder + ": not a data directory: " + lsm::kManifestName +
                                   " is missing");
  }
  ASSIGN_OR_RETURN(const auto lock, files.Lock(folder + "/LOCK", "tsdb repair"));
  return Repair(files, folder).Run();
}

}  // namespace hg::engine
