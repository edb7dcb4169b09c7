#include "storage/engine/part_writer.h"

#include <algorithm>

#include "storage/base/invariant.h"
#include "storage/engine/row_block.h"
#include "storage/engine/row_file.h"
#include "storage/engine/version.h"
#include "storage/lsm/cell_file.h"
#include "storage/points/split_row.h"

namespace hg::engine {

PartWriter::PartWriter(FileSystem& files, std::string folder, const KeyLayout& layout,
                       uint64_t number, const Table* table, const Registry* registry,
                       RowDensity density)
    : files_(files),
      folder_(std::move(folder)),
      layout_(layout),
      number_(number),
      table_(table),
      registry_(registry),
      density_(density) {
  if (registry == nullptr || table == nullptr || table->points_family < 0) return;
  cell_days_.emplace();
  point_days_.emplace();
}

// Returns how the file of cells is written. One file holds the rows of all families, so its block
// size is the smallest of all families. Its compression is that of the first family.
lsm::BlockWriting PartWriter::Writing() const {
  lsm::BlockWriting writing;
  if (table_ == nullptr) return writing;
  const std::vector<FamilyDescriptor>& families = table_->descriptor.families;
  const std::string& compression = families.front().compression;
  writing.packing = compression == "ZSTD"   ? lsm::Packing::kZstd
                    : compression == "NONE" ? lsm::Packing::kPlain
                                            : lsm::Packing::kSnappy;
  writing.block_bytes = families.front().block_size;
  for (const FamilyDescriptor& family : families) {
    writing.block_bytes = std::min<size_t>(writing.block_bytes, family.block_size);
    writing.bloom = writing.bloom || family.bloom_filter == BloomFilter::kRow;
  }
  return writing;
}

// Adds the times of the row to the time range of the cell file. For a regular row, these are the
// times of its hour. For any other row, these are the timestamps of its cells and tombstones.
void PartWriter::NoteTimes(ByteView key, const lsm::CellRow& row) {
  if (table_ == nullptr) return;
  Bytes tsuid;
  uint32_t base;
  if (table_->points_family >= 0 && IsRegularKey(layout_, key, &tsuid, &base)) {
    cells_->AddTime(int64_t{base} * 1000);
    cells_->AddTime((int64_t{base} + kRowSpan) * 1000 - 1);
    rows_.AddBase(base);
    NoteDay(tsuid, {}, base, &cell_days_);
    return;
  }
  rows_.loose = true;
  for (const lsm::CellVersion& cell : row.versions) cells_->AddTime(cell.timestamp_ms);
  for (const lsm::StoredCell& cell : row.cells) {
    if (cell.has_value) cells_->AddTime(cell.timestamp_ms);
    if (cell.tombstone_ms != lsm::kNoTombstone) cells_->AddTime(cell.tombstone_ms);
  }
  for (const int64_t tombstone : row.family_tombstones) {
    if (tombstone != lsm::kNoTombstone) cells_->AddTime(tombstone);
  }
}

Status PartWriter::AddCells(ByteView key, const lsm::CellRow& row) {
  if (cells_ == nullptr) {
    ASSIGN_OR_RETURN(
        cells_, lsm::BlockFileWriter::Create(files_, Part::CellsPath(folder_, number_), Writing()));
  }
  NoteTimes(key, row);
  tombstones_ = tombstones_ || row.HasTombstones();
  return lsm::AddRow(key, row, cells_.get());
}

Status PartWriter::AddColumns(ByteView key, const lsm::CellRow& columns) {
  INVARIANT(cells_ != nullptr);
  NoteTimes(key, columns);
  tombstones_ = tombstones_ || columns.HasTombstones();
  return lsm::AddColumns(columns, cells_.get());
}

Status PartWriter::AddSeries(uint32_t number, ByteView tsuid) {
  Bytes key;
  AppendBig(&key, number, 4);
  lsm::CellRow row;
  row.Put(0, "", tsuid, 0);
  return AddCells(key, row);
}

void PartWriter::NoteDay(ByteView tsuid, std::optional<uint32_t> number, uint32_t base,
                         std::optional<DayIndexWriter>* days) const {
  if (!*days) return;
  if (!number) number = registry_->Find(tsuid);
  if (number) {
    (*days)->Add(*number, tsuid, base);
  } else {
    days->reset();
  }
}

Status PartWriter::AddPoints(ByteView tsuid, std::optional<uint32_t> number, uint32_t base,
                             const points::RowPart& row_part) {
  value_.clear();
  EncodeFileRow(row_part, &value_);
  const Bytes file_key = RowFileKey(layout_, tsuid, base);
  NoteDay(tsuid, number, base, &point_days_);
  last_series_.assign(file_key, 0, file_key.size() - sizeof(base));
  return WritePoints(file_key, value_);
}

Status PartWriter::AddEncodedPoints(ByteView file_key, ByteView value) {
  const uint32_t base = ReadBig32(file_key.data() + file_key.size() - sizeof(base));
  const ByteView series = file_key.substr(0, file_key.size() - sizeof(base));
  if (point_days_ && series == last_series_) {
    point_days_->AddAgain(base);
  } else if (point_days_) {
    last_series_ = series;
    Bytes tsuid;
    uint32_t same_base;
    if (SplitRowFileKey(layout_, file_key, &tsuid, &same_base)) {
      NoteDay(tsuid, {}, base, &point_days_);
    } else {
      point_days_.reset();
    }
  }
  return WritePoints(file_key, value);
}

Status PartWriter::WritePoints(ByteView file_key, ByteView value) {
  const bool packed = density_ == RowDensity::kPacked;
  if (points_ == nullptr) {
    // Points files have no Bloom filter, because rows of points are scanned by series and rarely
    // read by key.
    lsm::BlockWriting writing;
    if (packed) writing.packer = &RowBlockPacker();
    ASSIGN_OR_RETURN(
        points_, lsm::BlockFileWriter::Create(files_, Part::PointsPath(folder_, number_), writing));
  }
  const uint32_t base = ReadBig32(file_key.data() + file_key.size() - 4);
  points_->AddTime(int64_t{base} * 1000);
  points_->AddTime((int64_t{base} + kRowSpan) * 1000 - 1);
  rows_.AddBase(base);
  if (!packed) return points_->Add(file_key, value);
  split_.clear();
  if (!points::SplitRow(value, &split_)) {
    return Status::Corruption("the row-hour " + ToHex(file_key) + " cannot be read");
  }
  return points_->Add(file_key, split_);
}

Status PartWriter::Finish(lsm::PartEntry* entry) {
  INVARIANT(entry->number == number_);
  if (cells_ != nullptr && cell_days_) cells_->SetMeta(cell_days_->Encode());
  if (points_ != nullptr && point_days_) points_->SetMeta(point_days_->Encode());
  if (cells_ != nullptr) RETURN_IF_ERROR(cells_->Finish());
  if (points_ != nullptr) RETURN_IF_ERROR(points_->Finish());
  entry->cells_bytes = cells_ ? cells_->bytes() : 0;
  entry->points_bytes = points_ ? points_->bytes() : 0;
  entry->cells_crc = cells_ ? cells_->trailer_crc() : 0;
  entry->points_crc = points_ ? points_->trailer_crc() : 0;
  entry->tombstones = tombstones_;
  if (table_ == nullptr || table_->points_family < 0) return {};
  entry->first_base = rows_.first_base;
  entry->last_base = rows_.last_base;
  entry->loose = rows_.loose;
  return {};
}

uint64_t PartWriter::bytes() const {
  return (cells_ ? cells_->bytes() : 0) + (points_ ? points_->bytes() : 0);
}

}  // namespace hg::engine
