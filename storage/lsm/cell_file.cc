#include "storage/lsm/cell_file.h"

namespace hg::lsm {
namespace {

class CellFileSource : public RowSource {
 public:
  CellFileSource(std::shared_ptr<const BlockFile> file, Bytes start, Bytes stop, CacheUse use)
      : scan_(std::move(file), std::move(start), std::move(stop), use) {}

  Result<bool> Next() override {
    ASSIGN_OR_RETURN(const bool more, scan_.Next());
    if (more && !DecodeCellRow(scan_.value(), &row_)) return scan_.Damaged("a row cannot be read");
    return more;
  }
  void Seek(Bytes start) override { scan_.Seek(std::move(start)); }
  [[nodiscard]] const Bytes& key() const override { return scan_.key(); }
  CellRow TakeRow() override { return std::move(row_); }

 private:
  BlockFileScan scan_;
  CellRow row_;
};

}  // namespace

Result<bool> GetRow(const BlockFile& file, ByteView key, CellRow* row) {
  Bytes value;
  ASSIGN_OR_RETURN(const bool found, file.Get(key, &value));
  if (found && !DecodeCellRow(value, row)) {
    return file.Damaged(0, "a row cannot be read");
  }
  return found;
}

std::unique_ptr<RowSource> ScanRows(std::shared_ptr<const BlockFile> file, Bytes start, Bytes stop,
                                    CacheUse use) {
  return std::make_unique<CellFileSource>(std::move(file), std::move(start), std::move(stop), use);
}

}  // namespace hg::lsm
