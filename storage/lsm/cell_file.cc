#include "storage/lsm/cell_file.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "storage/base/invariant.h"

namespace hg::lsm {
namespace {

// Charges the read of an encoded row, and then decodes the wanted columns. Returns false if
// `encoded` is not an encoded row. If only some columns are wanted, the whole row is searched, but
// only these columns are copied. Their sizes are not known before the copy, so all bytes of
// `encoded` are charged until the copy is done. A piece of a row is short, unless it is a single
// large cell.
Result<bool> DecodeCharged(ByteView encoded, const ColumnChoice& wanted, MemoryTally* memory,
                           CellRow* row) {
  if (memory == nullptr) return DecodeCellRow(encoded, row, wanted);
  const uint64_t cells = CellsIn(encoded);
  if (wanted.all()) {
    RETURN_IF_ERROR(ChargeRow(cells, encoded.size(), memory));
    return DecodeCellRow(encoded, row, wanted);
  }
  RETURN_IF_ERROR(memory->Step(cells));
  const int64_t before = memory->held();
  RETURN_IF_ERROR(ChargeRow(std::min<uint64_t>(cells, wanted.qualifiers().size()), 0, memory));
  RETURN_IF_ERROR(memory->Add(kRowCopies * static_cast<int64_t>(encoded.size())));
  if (!DecodeCellRow(encoded, row, wanted)) return false;
  const int64_t charged = memory->held() - before;
  const int64_t copied = kRowCopies * static_cast<int64_t>(row->MemoryBytes());
  if (copied < charged) memory->Remove(charged - copied);
  return true;
}

// Maximum bytes of a row that is stored in one piece. Larger rows are wide and are cut into pieces
// of kPieceBytes. A look-up of one column decodes only the first piece and the few pieces that may
// have the column.
constexpr size_t kWideBytes = 32 << 10;

PieceChoice ChoiceOf(const ColumnChoice& wanted) {
  return [&wanted](ByteView column) { return wanted.NextFrom(column); };
}

Bytes ColumnOf(uint8_t family, ByteView qualifier) {
  Bytes column(1, static_cast<char>(family));
  column += qualifier;
  return column;
}

// Returns a name that is greater than the column of `before` and at most the column of `cell`. If
// both cells are versions of one column, returns this column.
template <typename Cell>
Bytes PartBetween(const Cell& before, const Cell& cell) {
  Bytes column = ColumnOf(cell.family, cell.qualifier);
  const Bytes last = ColumnOf(before.family, before.qualifier);
  if (last != column) column.resize(Separator(last, column).size());
  return column;
}

// Cuts the cells of a row into pieces. Calls add(begin, end, part) for each piece. `part` is at
// most the first column of the piece, and not less than the columns of previous pieces.
template <typename Cells, typename AddCells>
Status CutIntoPieces(const Cells& cells, const AddCells& add) {
  constexpr size_t kCellBytes = 16;  // approximate bytes of a cell besides qualifier and value
  // The index of a file keeps the part of each piece, so a piece with a long part must be large.
  constexpr size_t kShortPartBytes = 64, kLongPartPieceBytes = 1 << 20;
  if (cells.empty()) return {};
  Bytes part = ColumnOf(cells.front().family, cells.front().qualifier);
  for (auto begin = cells.begin(); begin != cells.end();) {
    Bytes next_part;
    auto end = begin;
    for (size_t bytes = 0; end != cells.end(); ++end) {
      bytes += kCellBytes + end->qualifier.size() + end->value.size();
      // A large cell gets a piece of its own, so that its neighbours can be read without it.
      if (end == begin || bytes <= kPieceBytes) continue;
      next_part = PartBetween(*std::prev(end), *end);
      if (next_part.size() <= kShortPartBytes || bytes > kLongPartPieceBytes) break;
    }
    RETURN_IF_ERROR(add(begin, end, part));
    begin = end;
    part = std::move(next_part);
  }
  return {};
}

class CellFileSource : public RowSource {
 public:
  CellFileSource(std::shared_ptr<const BlockFile> file, Bytes start, Bytes stop, CacheUse use,
                 RequestContext* context)
      : scan_(std::move(file), std::move(start), std::move(stop), use, context) {}

  Result<bool> Next() override { return scan_.Next(); }
  void Seek(Bytes start) override { scan_.Seek(std::move(start)); }
  [[nodiscard]] const Bytes& key() const override { return scan_.key(); }
  Result<bool> TakePiece(const ColumnChoice& wanted, MemoryTally* memory, CellRow* row) override {
    CellRow piece;
    ASSIGN_OR_RETURN(const bool valid, DecodeCharged(scan_.value(), wanted, memory, &piece));
    if (!valid) return scan_.Damaged("a row cannot be read");
    AppendPiece(std::move(piece), row);
    return scan_.NextPiece(ChoiceOf(wanted));
  }

 private:
  BlockFileScan scan_;
};

// Calls add(piece, part) for each piece of the row. CutIntoPieces describes `part`.
template <typename Add>
Status ForEachPiece(const CellRow& row, const Add& add) {
  CellRow piece;
  piece.family_tombstones = row.family_tombstones;
  RETURN_IF_ERROR(CutIntoPieces(row.cells, [&](auto begin, auto end, const Bytes& part) {
    piece.cells.assign(begin, end);
    return add(std::exchange(piece, {}), part);
  }));
  return CutIntoPieces(row.versions, [&](auto begin, auto end, const Bytes& part) {
    piece.versions.assign(begin, end);
    return add(std::exchange(piece, {}), part);
  });
}

}  // namespace

Status AddRow(ByteView key, const CellRow& row, BlockFileWriter* writer) {
  // A row with this size in memory is wide. It is not encoded as a whole, because that would need
  // as much memory again.
  constexpr size_t kSurelyWideBytes = 1 << 20;
  Bytes value;
  if (row.MemoryBytes() < kSurelyWideBytes) {
    EncodeCellRow(row, &value);
    if (value.size() <= kWideBytes) return writer->Add(key, value);
  }
  bool first = true;
  return ForEachPiece(row, [&](const CellRow& piece, const Bytes& part) {
    value.clear();
    EncodeCellRow(piece, &value);
    return std::exchange(first, false) ? writer->Add(key, value) : writer->AddPiece(part, value);
  });
}

Status AddColumns(const CellRow& columns, BlockFileWriter* writer) {
  INVARIANT(columns.family_tombstones.empty());  // they belong to the first piece
  return ForEachPiece(columns, [&](const CellRow& piece, const Bytes& part) {
    Bytes value;
    EncodeCellRow(piece, &value);
    return writer->AddPiece(part, value);
  });
}

void AppendPiece(CellRow piece, CellRow* row) {
  if (row->empty()) {
    *row = std::move(piece);
    return;
  }
  std::move(piece.cells.begin(), piece.cells.end(), std::back_inserter(row->cells));
  std::move(piece.versions.begin(), piece.versions.end(), std::back_inserter(row->versions));
}

Result<bool> GetRow(const BlockFile& file, ByteView key, const ColumnChoice& wanted,
                    MemoryTally* memory, CellRow* row) {
  *row = CellRow();
  const auto visit = [&](ByteView value) -> Status {
    CellRow piece;
    ASSIGN_OR_RETURN(const bool valid, DecodeCharged(value, wanted, memory, &piece));
    if (!valid) return file.Damaged(0, "a row cannot be read");
    AppendPiece(std::move(piece), row);
    return {};
  };
  return file.VisitPieces(key, ChoiceOf(wanted), visit,
                          memory != nullptr ? memory->context() : nullptr);
}

std::unique_ptr<RowSource> ScanRows(std::shared_ptr<const BlockFile> file, Bytes start, Bytes stop,
                                    CacheUse use, RequestContext* context) {
  return std::make_unique<CellFileSource>(std::move(file), std::move(start), std::move(stop), use,
                                          context);
}

}  // namespace hg::lsm
