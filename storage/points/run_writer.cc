#include "storage/points/run_writer.h"

#include "storage/points/row_block.h"
#include "storage/points/row_file.h"
#include "storage/points/split_row.h"
#include "storage/points/version.h"

namespace hg::points {

RunWriter::RunWriter(FileSystem& files, std::string folder, const KeyLayout& layout,
                     uint64_t number, RowDensity density)
    : files_(files),
      folder_(std::move(folder)),
      layout_(layout),
      number_(number),
      density_(density) {}

Status RunWriter::AddCells(ByteView key, const lsm::CellRow& row) {
  if (cells_ == nullptr) {
    ASSIGN_OR_RETURN(cells_,
                     lsm::BlockFileWriter::Create(files_, Run::CellsPath(folder_, number_)));
  }
  marks_ = marks_ || row.HasMarks();
  value_.clear();
  lsm::EncodeCellRow(row, &value_);
  return cells_->Add(key, value_);
}

Status RunWriter::AddPoints(ByteView tsuid, uint32_t base, const Part& part) {
  value_.clear();
  EncodeFileRow(part, &value_);
  return AddEncodedPoints(RowFileKey(layout_, tsuid, base), value_);
}

Status RunWriter::AddEncodedPoints(ByteView file_key, ByteView value) {
  const bool packed = density_ == RowDensity::kPacked;
  if (points_ == nullptr) {
    ASSIGN_OR_RETURN(points_,
                     lsm::BlockFileWriter::Create(files_, Run::PointsPath(folder_, number_),
                                                  packed ? &RowBlockPacker() : nullptr));
  }
  if (!packed) return points_->Add(file_key, value);
  split_.clear();
  if (!SplitRow(value, &split_)) {
    return Status::Corruption("the row-hour " + ToHex(file_key) + " cannot be read");
  }
  return points_->Add(file_key, split_);
}

Status RunWriter::Finish(lsm::RunEntry* entry) {
  if (cells_ != nullptr) RETURN_IF_ERROR(cells_->Finish());
  if (points_ != nullptr) RETURN_IF_ERROR(points_->Finish());
  entry->cells_bytes = cells_ ? cells_->bytes() : 0;
  entry->points_bytes = points_ ? points_->bytes() : 0;
  entry->marks = marks_;
  return {};
}

uint64_t RunWriter::bytes() const {
  return (cells_ ? cells_->bytes() : 0) + (points_ ? points_->bytes() : 0);
}

}  // namespace hg::points
