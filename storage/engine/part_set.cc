#include "storage/engine/part_set.h"

#include "storage/base/invariant.h"

namespace hg::engine {

PartSet::PartSet(FileSystem& files, std::string folder, const KeyLayout& layout, const Table* table,
                 const Registry& registry, RowDensity density, Choose choose, NewEntry new_entry,
                 std::vector<lsm::PartEntry>* entries)
    : files_(files),
      folder_(std::move(folder)),
      layout_(layout),
      table_(table),
      registry_(registry),
      density_(density),
      choose_(std::move(choose)),
      new_entry_(std::move(new_entry)),
      entries_(entries) {}

template <typename Add>
Status PartSet::AddTo(std::optional<uint32_t> base, const Add& add) {
  auto [at, fresh] = members_.try_emplace(choose_(base));
  Member& member = at->second;
  if (fresh) {
    member.entry = entries_->size();
    entries_->push_back(new_entry_());
    member.writer = std::make_unique<PartWriter>(files_, folder_, layout_, entries_->back().number,
                                                 table_, &registry_, density_);
  }
  INVARIANT(member.entry < entries_->size());
  const uint64_t before = member.writer->bytes();
  RETURN_IF_ERROR(add(member.writer.get()));
  INVARIANT(member.writer->bytes() >= before);
  bytes_ += member.writer->bytes() - before;
  return {};
}

std::optional<uint32_t> PartSet::BaseOf(ByteView key) const {
  Bytes tsuid;
  uint32_t base;
  const bool regular =
      table_ != nullptr && table_->points_family >= 0 && IsRegularKey(layout_, key, &tsuid, &base);
  return regular ? std::optional(base) : std::nullopt;
}

Status PartSet::AddCells(ByteView key, const lsm::CellRow& row) {
  return AddTo(BaseOf(key), [&](PartWriter* writer) { return writer->AddCells(key, row); });
}

Status PartSet::AddColumns(ByteView key, const lsm::CellRow& columns) {
  return AddTo(BaseOf(key), [&](PartWriter* writer) { return writer->AddColumns(key, columns); });
}

Status PartSet::AddPoints(ByteView tsuid, std::optional<uint32_t> number, uint32_t base,
                          const points::RowPart& row_part) {
  return AddTo(
      base, [&](PartWriter* writer) { return writer->AddPoints(tsuid, number, base, row_part); });
}

Status PartSet::AddEncodedPoints(ByteView file_key, ByteView value) {
  return AddTo(ReadBig32(file_key.data() + file_key.size() - 4),
               [&](PartWriter* writer) { return writer->AddEncodedPoints(file_key, value); });
}

Status PartSet::Finish() {
  for (auto& [which, member] : members_) {
    INVARIANT(member.entry < entries_->size());
    RETURN_IF_ERROR(member.writer->Finish(&(*entries_)[member.entry]));
  }
  return {};
}

}  // namespace hg::engine
