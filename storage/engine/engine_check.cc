#include "storage/engine/engine_check.h"

#include <algorithm>

#include "storage/codec/row_key.h"
#include "storage/engine/day_index.h"
#include "storage/engine/engine.h"
#include "storage/engine/engine_backup.h"
#include "storage/engine/row_file.h"
#include "storage/lsm/block_file.h"
#include "storage/lsm/cell_row.h"
#include "storage/lsm/log_recovery.h"
#include "storage/points/row_statistics.h"

namespace hg {

std::string Damage::ToString() const {
  std::string text = file + " at " + std::to_string(offset) + ": " + what;
  if (!lost.empty()) text += "; lost: " + lost;
  return text;
}

namespace engine {
namespace {

// Converts an error to a Damage. The message of a Corruption is "file at offset: what". For other
// errors, `file` is used.
Damage DamageOf(const Status& status, const std::string& file) {
  constexpr ByteView kDigits = "0123456789";
  const ByteView message = status.message();
  for (size_t at = message.find(" at "); at != ByteView::npos; at = message.find(" at ", at + 1)) {
    const size_t digits = at + 4;
    const size_t end = std::min(message.find_first_not_of(kDigits, digits), message.size());
    if (end == digits || message.substr(end, 2) != ": ") continue;
    Damage damage;
    damage.file = message.substr(0, at);
    for (const char digit : message.substr(digits, end - digits)) {
      damage.offset = damage.offset * 10 + static_cast<uint64_t>(digit - '0');
    }
    damage.what = message.substr(end + 2);
    return damage;
  }
  return {file, 0, std::string(message), ""};
}

std::string RowsOfBlock(const lsm::BlockFile& file, size_t block) {
  std::string text = "rows from key " + ToHex(file.separator(block));
  if (block + 1 < file.blocks()) text += " to before " + ToHex(file.separator(block + 1));
  return text;
}

Status CheckEntry(const KeyLayout& layout, const StoredFile& file, const std::string& path,
                  ByteView key, ByteView value) {
  const auto bad = [&](const char* what) {
    return Status::Corruption(path + " at 0: " + what + ", key " + ToHex(key));
  };
  if (!file.points) {
    lsm::CellRow row;
    return lsm::DecodeCellRow(value, &row) ? Status() : bad("unreadable cells");
  }
  Bytes tsuid;
  uint32_t base;
  points::RowPart row_part;
  if (!SplitRowFileKey(layout, key, &tsuid, &base)) return bad("not the key of a row-hour");
  if (!DecodeFileRow(value, 0, &row_part)) return bad("unreadable row-hour");
  return points::StatisticsHold(value) ? Status() : bad("statistics differ from the points");
}

// Verifies that the numbers of the series begin with 0, and that only numbers of forgotten series
// are missing.
void CheckSeries(FileSystem& files, const std::string& folder, const lsm::Manifest& manifest,
                 const std::vector<StoredFile>& list, CheckReport* report) {
  std::vector<uint32_t> numbers;
  bool whole = true;
  for (const StoredFile& file : list) {
    if (file.part.table != kSeriesTable || file.points) continue;
    const auto opened = OpenStored(files, folder, file);
    whole = whole && opened.ok();
    for (size_t block = 0; opened.ok() && block < (*opened)->blocks(); ++block) {
      const Status read = (*opened)->ReadEntries(block, [&](ByteView key, ByteView) {
        if (key.size() == 4) numbers.push_back(ReadBig32(key.data()));
        return Status();
      });
      whole = whole && read.ok();
    }
  }
  if (!whole) return;  // the damaged file is already in the report
  std::sort(numbers.begin(), numbers.end());
  const size_t end =
      std::max<size_t>(manifest.series_end, numbers.empty() ? 0 : size_t{numbers.back()} + 1);
  const bool twice = std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end();
  if (!twice && end - numbers.size() == manifest.forgotten_series) return;
  size_t missing = 0;  // the first gap, which may be a forgotten series
  while (missing < numbers.size() && numbers[missing] == missing) ++missing;
  const std::string what = manifest.forgotten_series == 0
                               ? "series " + std::to_string(missing) + " is missing"
                               : "the files have " + std::to_string(numbers.size()) + " of " +
                                     std::to_string(end) + " series, and only " +
                                     std::to_string(manifest.forgotten_series) + " were forgotten";
  report->damages.push_back({folder, 0, what, "which series the numbers in the log stand for"});
}

Status CheckLog(FileSystem& files, const std::string& folder, const lsm::Manifest& manifest,
                CheckReport* report) {
  ASSIGN_OR_RETURN(
      const lsm::LogRecovery log,
      lsm::RecoverLog(
          files, folder, manifest.log_file, manifest.log_position, manifest.flushed,
          [](const lsm::LogRecord&) { return Status(); }, lsm::AtBreak::kReport, manifest.logs));
  report->bytes += log.bytes;
  if (!log.damage.empty()) {
    Damage damage = DamageOf(Status::Corruption(log.damage), log.end_file);
    damage.lost = "all records from there on whose data is in no other file";
    report->damages.push_back(std::move(damage));
  } else if (!log.end_file.empty()) {
    report->notes.push_back("the log ends at " + log.end_file + " at " +
                            std::to_string(log.end_offset) + "; the next start replays " +
                            std::to_string(log.records) + " records");
  }
  return {};
}

}  // namespace

Status CheckFile(FileSystem& files, const std::string& folder, const KeyLayout& layout,
                 const StoredFile& file, CheckReport* report, RequestContext& context) {
  const std::string path = folder + "/" + file.name;
  ++report->files;
  const auto opened = OpenStored(files, folder, file);
  if (!opened.ok()) {
    Damage damage = DamageOf(opened.status(), path);
    damage.lost = "all of the file";
    report->damages.push_back(std::move(damage));
    return {};
  }
  report->bytes += file.bytes;
  const lsm::BlockFile& blocks = **opened;
  if (blocks.has_meta()) {
    const auto index = blocks.ReadMeta(lsm::CacheUse::kPast, nullptr);
    Status status = index.status();
    if (status.ok() && !IsDayIndex(**index)) status = blocks.DamagedMeta("not a day index");
    if (!status.ok()) {
      Damage damage = DamageOf(status, path);
      damage.lost = "the index of the days on which series have rows; no row is lost";
      report->damages.push_back(std::move(damage));
    }
  }
  for (size_t part = 0; part < blocks.filter_parts(); ++part) {
    const Status read = blocks.CheckFilterPart(part);
    if (read.ok()) continue;
    Damage damage = DamageOf(read, path);
    damage.lost =
        "a part of the filter of row keys; no row is lost, but single rows cannot be read until "
        "the file is repaired";
    report->damages.push_back(std::move(damage));
  }
  Bytes last_key;
  uint64_t entries = 0;
  bool whole = true;
  for (size_t block = 0; block < blocks.blocks(); ++block) {
    RETURN_IF_ERROR(context.Check());
    const Status read = blocks.ReadEntries(block, [&](ByteView key, ByteView value) {
      const bool piece = blocks.continues(block);
      if (piece ? key != last_key : entries++ > 0 && key <= last_key) {
        return Status::Corruption(path + " at 0: keys out of order at " + ToHex(key));
      }
      last_key = key;
      return CheckEntry(layout, file, path, key, value);
    });
    if (read.ok()) continue;
    whole = false;
    Damage damage = DamageOf(read, path);
    damage.lost = RowsOfBlock(blocks, block);
    report->damages.push_back(std::move(damage));
  }
  if (whole && entries != blocks.entries()) {
    report->damages.push_back({path, 0, "number of entries differs from the trailer", ""});
  }
  return {};
}

Result<CheckReport> CheckDirectory(FileSystem& files, const std::string& folder) {
  const bool backup = files.Exists(folder + "/" + kBackupName);
  if (!backup && !files.Exists(folder + "/" + lsm::kManifestName)) {
    return Status::InvalidArgument(folder + ": neither a data directory (" + lsm::kManifestName +
                                   ") nor a backup (" + kBackupName + ")");
  }
  const auto lock = files.Lock(folder + "/LOCK", "tsdb check");
  if (lock.status().code() == StatusCode::kBusy) return lock.status();
  CheckReport report;
  ++report.files;
  lsm::Manifest manifest;
  const std::string named_by = folder + "/" + (backup ? kBackupName : lsm::kManifestName);
  Status loaded;
  if (backup) {
    auto head = LoadBackupHead(files, folder);
    loaded = head.status();
    if (head.ok()) manifest = std::move(head->manifest);
  } else {
    auto stored = lsm::LoadManifest(files, folder);
    loaded = stored.status();
    if (stored.ok()) manifest = std::move(*stored);
  }
  if (loaded.code() == StatusCode::kUnsupported) return loaded;
  if (!loaded.ok()) {
    Damage damage = DamageOf(loaded, named_by);
    damage.lost = "the list of the files and their contents";
    report.damages.push_back(std::move(damage));
    return report;
  }
  const std::vector<StoredFile> list = FilesOf(manifest.parts);
  for (const StoredFile& file : list) {
    RETURN_IF_ERROR(
        CheckFile(files, folder, manifest.layout, file, &report, RequestContext::Unlimited()));
  }
  CheckSeries(files, folder, manifest, list, &report);
  if (!backup) RETURN_IF_ERROR(CheckLog(files, folder, manifest, &report));
  ASSIGN_OR_RETURN(const auto foreign, ForeignFilesIn(files, folder));
  for (const std::string& name : foreign) {
    report.notes.push_back(
        folder + "/" + name +
        " has a name like a file of the store, but is not one: it is not changed");
  }
  return report;
}

Result<CheckReport> Engine::Check(RequestContext* context) {
  const Parts held = Pin()->AllParts();  // keeps the files on disk while they are checked
  std::vector<lsm::PartEntry> parts;
  for (const auto& part : held) parts.push_back(part->entry());
  CheckReport report;
  for (const StoredFile& file : FilesOf(parts)) {
    RETURN_IF_ERROR(CheckFile(env_.files, env_.options.path, env_.layout(), file, &report,
                              context != nullptr ? *context : RequestContext::Unlimited()));
  }
  return report;
}

}  // namespace engine
}  // namespace hg
