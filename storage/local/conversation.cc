#include "storage/local/conversation.h"

#include <algorithm>

#include "storage/changed_rows.h"
#include "storage/local/calls.h"
#include "storage/local/local_server.h"

namespace hg::local {
namespace {

template <typename... T>
Bytes Packed(const T&... values) {
  return Packer().Put(values...).Take();
}

Status NoFiles() { return Status::Unsupported("this store has no files of its own"); }

}  // namespace

void Conversation::Run() {
  for (;;) {
    const auto frame = channel_.Receive(greeted_ ? kRequestBytesMax : kGreetingBytesMax);
    if (!frame.ok()) return;
    auto answer = Answer(*frame);
    if (!answer) return;
    if (answer->size() > options_.answer_bytes_max) {
      answer = Packed(Status::LimitExceeded("the response has " + std::to_string(answer->size()) +
                                            " bytes; the maximum is " +
                                            std::to_string(options_.answer_bytes_max)));
    }
    if (!channel_.Send(*answer).ok()) return;
  }
}

std::optional<Bytes> Conversation::Answer(ByteView frame) {
  Unpacker in(frame);
  if (!greeted_) return Greet(&in);
  Call call{};
  if (!in.Get(&call)) return {};
  if (!with_cells_ && call < Call::kBackup) return {};
  switch (call) {
    case Call::kCreateTable:
      return CreateTable(&in);
    case Call::kAlterTable:
      return AlterTable(&in);
    case Call::kDropTable:
      return DropTable(&in);
    case Call::kDescribeTable:
      return OfName(&in, &Store::DescribeTable);
    case Call::kListTables:
      return Packed(store_().ListTables());
    case Call::kMutateRows:
      return MutateRows(&in);
    case Call::kDeleteRow:
      return DeleteRow(&in);
    case Call::kGetCells:
      return GetCells(&in);
    case Call::kGetRows:
      return GetRows(&in);
    case Call::kIncrementColumns:
      return IncrementColumns(&in);
    case Call::kAppendColumns:
      return AppendColumns(&in);
    case Call::kCompareAndMutate:
      return CompareAndMutate(&in);
    case Call::kMutateIfUnchanged:
      return MutateIfUnchanged(&in);
    case Call::kScan:
      return Scan(&in);
    case Call::kNext:
      return Next();
    case Call::kEndScan:
      cursor_.reset();
      return Packed(Status());
    case Call::kCapabilities:
      return Packed(Status(), store_().Capabilities());
    case Call::kRegions:
      return Regions(&in);
    case Call::kRegionStarts:
      return OfName(&in, &Store::RegionStarts);
    case Call::kFlush:
      return Packed(store_().Flush());
    case Call::kCompact:
      return Packed(store_().Compact(&reads_));
    case Call::kCompactTable:
      return CompactTable(&in);
    case Call::kSplit:
      return Split(&in);
    case Call::kMergeRegions:
      return MergeRegions(&in);
    case Call::kSync:
      return Packed(store_().Sync());
    case Call::kBackup:
      return Backup(&in);
    case Call::kBackupProgress:
      return BackupProgress();
    case Call::kCheck:
      return Check();
    case Call::kRepair:
      return Repair();
  }
  return {};
}

std::optional<Bytes> Conversation::Greet(Unpacker* in) {
  uint64_t protocol = 0;
  if (!in->Get(&protocol)) return {};
  if (protocol != kProtocol) {
    return Packed(Status::Unsupported(
        "the daemon has another version: it uses version " + std::to_string(kProtocol) +
        " of the protocol for tools, and this program version " + std::to_string(protocol) +
        "; use the program of the daemon's version, or stop the "
        "daemon first"));
  }
  std::optional<KeyLayout> layout;
  if (!in->Get(&layout)) return {};
  if (layout && !(*layout == options_.layout)) {
    return Packed(
        Status::InvalidArgument("the daemon's settings have other widths of UIDs or salt than the "
                                "settings of this program"));
  }
  greeted_ = true;
  with_cells_ = layout.has_value();
  return Packed(Status());
}

std::optional<Bytes> Conversation::CreateTable(Unpacker* in) {
  TableDescriptor table;
  if (!in->Get(&table)) return {};
  return Packed(store_().CreateTable(table));
}
std::optional<Bytes> Conversation::AlterTable(Unpacker* in) {
  TableDescriptor table;
  std::optional<TableDescriptor> before;
  if (!in->Get(&table, &before)) return {};
  return Packed(store_().AlterTable(table, before ? &*before : nullptr));
}
template <typename T>
std::optional<Bytes> Conversation::OfName(Unpacker* in, T (Store::*call)(const std::string&)) {
  std::string table;
  if (!in->Get(&table)) return {};
  return Packed((store_().*call)(table));
}

std::optional<Bytes> Conversation::DropTable(Unpacker* in) {
  std::string table;
  if (!in->Get(&table)) return {};
  return Packed(Changing(options_.changed, table, {RowMutation()},
                         [&] { return store_().DropTable(table); }));
}
std::optional<Bytes> Conversation::MutateRows(Unpacker* in) {
  std::string table;
  std::vector<RowMutation> rows;
  if (!in->Get(&table, &rows)) return {};
  const Result<std::vector<Status>> done =
      Changing(options_.changed, table, rows, [&] { return store_().MutateRows(table, rows); });
  return Packed(done);
}
std::optional<Bytes> Conversation::DeleteRow(Unpacker* in) {
  std::string table, key;
  if (!in->Get(&table, &key)) return {};
  return Packed(Changing(options_.changed, table, {RowMutation{key, {}}},
                         [&] { return store_().DeleteRow(table, key); }));
}
std::optional<Bytes> Conversation::GetCells(Unpacker* in) {
  std::string table, key;
  CellSelection wanted;
  if (!in->Get(&table, &key, &wanted)) return {};
  wanted.context = &reads_;
  return Packed(store_().GetCells(table, key, wanted));
}
std::optional<Bytes> Conversation::GetRows(Unpacker* in) {
  std::string table;
  std::vector<Bytes> keys;
  CellSelection wanted;
  if (!in->Get(&table, &keys, &wanted)) return {};
  wanted.context = &reads_;
  const Result<std::vector<Result<Row>>> rows = store_().GetRows(table, keys, wanted);
  return Packed(rows);
}
std::optional<Bytes> Conversation::IncrementColumns(Unpacker* in) {
  std::string table, key;
  std::vector<ColumnIncrement> columns;
  std::optional<int64_t> ttl_ms;
  if (!in->Get(&table, &key, &columns, &ttl_ms)) return {};
  return Packed(store_().IncrementColumns(table, key, columns, ttl_ms));
}
std::optional<Bytes> Conversation::AppendColumns(Unpacker* in) {
  std::string table, key;
  std::vector<ColumnAppend> columns;
  std::optional<int64_t> ttl_ms;
  if (!in->Get(&table, &key, &columns, &ttl_ms)) return {};
  return Packed(store_().AppendColumns(table, key, columns, ttl_ms));
}
std::optional<Bytes> Conversation::CompareAndMutate(Unpacker* in) {
  Bytes family, qualifier;
  Expected expected;
  std::string table;
  RowMutation mutation;
  if (!in->Get(&family, &qualifier, &expected, &table, &mutation)) return {};
  const auto mutate = [&] {
    return store_().CompareAndMutate(family, qualifier, expected, table, mutation);
  };
  return Packed(OnlyAdds(family, qualifier, expected, mutation)
                    ? mutate()
                    : Changing(options_.changed, table, {mutation}, mutate));
}
std::optional<Bytes> Conversation::MutateIfUnchanged(Unpacker* in) {
  Bytes family;
  std::vector<Cell> cells;
  std::string table;
  RowMutation mutation;
  if (!in->Get(&family, &cells, &table, &mutation)) return {};
  return Packed(Changing(options_.changed, table, {mutation}, [&] {
    return store_().MutateIfUnchanged(family, cells, table, mutation);
  }));
}
std::optional<Bytes> Conversation::Scan(Unpacker* in) {
  ScanSpec spec;
  if (!in->Get(&spec)) return {};
  spec.batch_bytes = std::min(spec.batch_bytes, kFetchBytes);
  spec.context = &reads_;
  auto cursor = store_().Scan(spec);
  if (cursor.ok()) cursor_ = std::move(*cursor);
  return Packed(cursor.status());
}
std::optional<Bytes> Conversation::Next() {
  if (!cursor_) return {};
  std::vector<Row> rows;
  const Status status = cursor_->Next(&rows);
  return status.ok() ? Packed(status, rows, cursor_->rows_examined()) : Packed(status);
}
std::optional<Bytes> Conversation::Regions(Unpacker* in) {
  std::string table;
  if (!in->Get(&table)) return {};
  return Packed(store_().Regions(table, &reads_));
}
std::optional<Bytes> Conversation::Split(Unpacker* in) {
  std::string table, key;
  std::optional<Bytes> at;
  if (!in->Get(&table, &key, &at)) return {};
  return Packed(store_().Split(table, key, at));
}
std::optional<Bytes> Conversation::CompactTable(Unpacker* in) {
  std::string table;
  if (!in->Get(&table)) return {};
  return Packed(store_().CompactTable(table, &reads_));
}

std::optional<Bytes> Conversation::MergeRegions(Unpacker* in) {
  std::string table, boundary;
  if (!in->Get(&table, &boundary)) return {};
  return Packed(store_().MergeRegions(table, boundary, &reads_));
}

std::optional<Bytes> Conversation::Backup(Unpacker* in) {
  std::string folder;
  if (!in->Get(&folder)) return {};
  Result<CopyProgress> done = NoFiles();
  if (options_.maintenance != nullptr) {
    // The backup ends if the client is gone.
    done = options_.maintenance->Backup(folder, [this](const CopyProgress& progress) {
      return channel_.Send(Packed(true, progress)).ok();
    });
  }
  return Packed(false, done);
}
std::optional<Bytes> Conversation::BackupProgress() {
  if (options_.maintenance == nullptr) return Packed(NoFiles());
  return Packed(Status(), options_.maintenance->BackupProgress());
}
std::optional<Bytes> Conversation::Check() {
  if (options_.maintenance == nullptr) return Packed(NoFiles());
  return Packed(options_.maintenance->Check(&reads_));
}
std::optional<Bytes> Conversation::Repair() {
  if (options_.maintenance == nullptr) return Packed(NoFiles());
  return Packed(options_.maintenance->Repair());
}

}  // namespace hg::local
