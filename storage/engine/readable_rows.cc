#include "storage/engine/readable_rows.h"

#include <utility>

#include "storage/engine/engine_check.h"
#include "storage/engine/row_file.h"
#include "storage/engine/stored_row.h"
#include "storage/lsm/cell_file.h"
#include "storage/points/row_statistics.h"

namespace hg::engine {
namespace {

// Adds every readable row to the writer. `points` is true for a points file, false for a cell file.
// Returns false if some rows could not be read.
Result<bool> CopyReadable(const lsm::BlockFile& file, bool points, PartWriter* writer) {
  Bytes last;
  bool rows_whole = true;
  const auto unreadable = [&rows_whole] {
    rows_whole = false;
    return Status();
  };
  lsm::CellRow row;  // pieces read so far of the row with the key `last`
  const auto write_row = [&]() -> Status {
    if (row.empty()) return {};
    return writer->AddCells(last, std::exchange(row, {}));
  };
  ASSIGN_OR_RETURN(const bool whole,
                   VisitReadable(file, [&](ByteView key, ByteView value) -> Status {
                     // An entry that is out of order, or is not a row, is left out. CheckFile
                     // reports it as damage.
                     const bool piece = !points && key == last && !row.empty();
                     if (key <= last && !piece) return unreadable();
                     if (!piece) RETURN_IF_ERROR(write_row());
                     last = key;
                     if (points) {
                       points::RowPart row_part;
                       if (!DecodeFileRow(value, 0, &row_part)) return unreadable();
                       if (points::StatisticsHold(value))
                         return writer->AddEncodedPoints(key, value);
                       Bytes anew;  // working memory: the encoded row with new statistics
                       EncodeFileRow(row_part, &anew);
                       return writer->AddEncodedPoints(key, anew);
                     }
                     lsm::CellRow read;
                     if (!lsm::DecodeCellRow(value, &read)) return unreadable();
                     lsm::AppendPiece(std::move(read), &row);
                     return {};
                   }));
  RETURN_IF_ERROR(write_row());
  return whole && rows_whole;
}

}  // namespace

std::map<uint64_t, std::vector<Damage>> FindDamage(FileSystem& files, const std::string& folder,
                                                   const KeyLayout& layout,
                                                   const std::vector<lsm::PartEntry>& parts) {
  std::map<uint64_t, std::vector<Damage>> damaged;
  for (const StoredFile& file : FilesOf(parts)) {
    CheckReport report;
    (void)CheckFile(files, folder, layout, file, &report, RequestContext::Unlimited());
    if (report.damages.empty()) continue;
    std::vector<Damage>& damages = damaged[file.part.number];
    damages.insert(damages.end(), report.damages.begin(), report.damages.end());
  }
  return damaged;
}

Result<bool> VisitReadable(const lsm::BlockFile& file, const EntryVisit& visit) {
  bool whole = true;
  for (size_t block = 0; block < file.blocks(); ++block) {
    const Status read = file.ReadEntries(block, visit);
    if (read.ok()) continue;
    if (read.code() != StatusCode::kCorruption) return read;
    whole = false;
  }
  return whole;
}

Result<bool> RewriteReadable(FileSystem& files, const std::string& folder, const KeyLayout& layout,
                             const lsm::BlockFile* cells, const lsm::BlockFile* points,
                             lsm::PartEntry* fresh) {
  // The writer gets no table, so the file has default options. The next merge applies the options
  // of the table's families.
  PartWriter writer(files, lsm::NamespaceFolder(folder, fresh->space), layout, fresh->number,
                    nullptr, nullptr, RowDensity::kPacked);
  bool whole = true;
  for (const lsm::BlockFile* file : {cells, points}) {
    if (file == nullptr) continue;
    ASSIGN_OR_RETURN(const bool all, CopyReadable(*file, file == points, &writer));
    whole = whole && all;
  }
  RETURN_IF_ERROR(writer.Finish(fresh));
  return whole;
}

Result<uint32_t> WriteSeries(FileSystem& files, const std::string& folder, const KeyLayout& layout,
                             uint32_t count,
                             const std::function<ByteView(uint32_t number)>& tsuid_of,
                             uint64_t flushed, lsm::PartEntry* fresh) {
  fresh->table = kSeriesTable;
  fresh->first_sequence = 1;
  fresh->last_sequence = flushed;
  PartWriter writer(files, folder, layout, fresh->number, nullptr, nullptr);
  uint32_t written = 0;
  for (uint32_t number = 0; number < count; ++number) {
    const ByteView tsuid = tsuid_of(number);
    if (tsuid.empty()) continue;
    RETURN_IF_ERROR(writer.AddSeries(number, tsuid));
    ++written;
  }
  RETURN_IF_ERROR(writer.Finish(fresh));
  return written;
}

Status LinkIntoLost(FileSystem& files, const std::string& folder,
                    const std::set<std::string>& names, std::vector<std::string>* done) {
  const std::string lost = folder + "/" + kLostFolder;
  RETURN_IF_ERROR(files.CreateFolder(lost));
  for (const std::string& name : names) {
    const std::string from = folder + "/" + name;
    if (!files.Exists(from)) continue;
    // File numbers are unique across namespaces, so the names need no namespace.
    const std::string place = lost + "/" + name.substr(name.rfind('/') + 1);
    std::string to = place;
    for (int i = 1; files.Exists(to); ++i) to = place + "." + std::to_string(i);
    RETURN_IF_ERROR(LinkOrCopy(files, from, to).status());
    done->push_back(from + " is set aside as " + to);
  }
  return files.SyncFolder(lost);
}

}  // namespace hg::engine
