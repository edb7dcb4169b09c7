// Writes to HBase. Puts are batched with those of other callers. Other changes are sent row by row.
// The spool takes the puts and appends that HBase does not accept now.

#include <algorithm>
#include <functional>
#include <utility>

#include "storage/hbase/check_request.h"
#include "storage/hbase/client.h"
#include "storage/hbase/failure.h"
#include "storage/hbase/hbase_store.h"
#include "storage/hbase/put_queue.h"
#include "storage/hbase/row_changes.h"
#include "storage/hbase/spool.h"
#include "storage/hbase/wire_types.h"

namespace hg::hbase {
namespace {

using Service = wire::THBaseServiceClient;

size_t BytesOf(const RowMutation& row) {
  size_t bytes = 0;
  for (const CellChange& change : row.changes) {
    bytes += row.key.size() + change.family.size() + change.qualifier.size() + change.value.size();
  }
  return bytes;
}

bool PutsOnly(const RowMutation& row) {
  return !row.changes.empty() &&
         std::all_of(row.changes.begin(), row.changes.end(),
                     [](const CellChange& c) { return c.kind == CellChange::Kind::kPut; });
}

// Returns whether a repetition could delete more. A delete without a timestamp deletes the newest
// version, so a second execution would delete the next older version.
bool DeletesMoreAgain(const CellChange& change) {
  return change.kind == CellChange::Kind::kDeleteVersion && !change.timestamp_ms;
}

Status Away() { return Status::Unavailable("older writes still wait for HBase"); }

// Sends puts together. If HBase temporarily refuses a row, no more rows are sent, because a retry
// of the refused row could overwrite a newer write of the same row.
class PutBatch {
 public:
  PutBatch(PutQueue* queue, const HbaseOptions& options, const std::string& table,
           std::vector<Status>* statuses)
      : queue_(queue), options_(options), table_(table), statuses_(statuses) {}

  void Add(size_t place, wire::TPut put, size_t bytes) {
    if (puts_.size() == options_.batch_rows || bytes_ + bytes > options_.batch_bytes) Send();
    puts_.push_back({std::move(put), bytes});
    places_.push_back(place);
    bytes_ += bytes;
  }

  void Send() {
    if (puts_.empty()) return;
    if (stopped_.ok()) {
      std::vector<Status> sent = queue_->Send(table_, std::exchange(puts_, {}));
      for (size_t i = 0; i < sent.size(); ++i) Tell(places_[i], std::move(sent[i]));
    } else {
      for (const size_t place : places_) Tell(place, stopped_);
      puts_.clear();
    }
    places_.clear();
    bytes_ = 0;
  }

  /// Sends the pending puts, and then `row`, which is not a put.
  void SendThen(size_t place, const std::function<Status()>& row) {
    Send();
    Tell(place, stopped_.ok() ? row() : stopped_);
  }

 private:
  void Tell(size_t place, Status status) {
    if (IsTemporary(status) && stopped_.ok()) stopped_ = status;
    (*statuses_)[place] = std::move(status);
  }

  PutQueue* const queue_;
  const HbaseOptions& options_;
  const std::string& table_;
  std::vector<Status>* const statuses_;
  std::vector<PutQueue::Put> puts_;
  std::vector<size_t> places_;  // indexes of their statuses
  size_t bytes_ = 0;
  Status stopped_;  // status of the first row that HBase may accept later
};

}  // namespace

Status HbaseStore::OpenSpool(FileSystem& files) {
  ASSIGN_OR_RETURN(spool_, Spool::Open(files, *client_->options.spool, SystemClock()));
  spool_->Start([this](const SpoolRecord& record) -> std::vector<Status> {
    if (record.kind == SpoolRecord::Kind::kAppend) {
      const RowMutation& row = record.rows[0];
      const CellChange& cell = row.changes[0];
      return {AppendNow(record.table, row.key, {cell.family, cell.qualifier, cell.value}, {})};
    }
    return WriteRows(record.table, record.rows);
  });
  return {};
}

Result<std::vector<CellChange>> HbaseStore::Settle(const std::string& table,
                                                   const RowMutation& row) {
  RETURN_IF_ERROR(CheckMutation(row));
  return SettleOrder(row.changes, [&](const Bytes& family) -> Result<std::vector<Bytes>> {
    CellSelection names;
    names.family = family;
    names.keys_only = true;
    ASSIGN_OR_RETURN(const Row present, GetCells(table, row.key, names));
    std::vector<Bytes> qualifiers;
    for (const Cell& cell : present.cells) qualifiers.push_back(cell.qualifier);
    return qualifiers;
  });
}

Status HbaseStore::MutateRow(const std::string& table, const RowMutation& row) {
  ASSIGN_OR_RETURN(const std::vector<CellChange> changes, Settle(table, row));
  if (changes.empty()) return {};
  const wire::TRowMutations mutations =
      WriteChanges(row.key, changes, DurabilityOf(client_->options.write_ahead));
  const bool again = std::none_of(changes.begin(), changes.end(), DeletesMoreAgain);
  RETURN_IF_ERROR(client_->Send({"mutateRow", table, again ? Repeat::kAlways : Repeat::kIfNotDone},
                                [&](Service& service) { service.mutateRow(table, mutations); }));
  if (DeletesNow(changes)) LetDeleteGrowOld();
  return {};
}

std::vector<Status> HbaseStore::WriteRows(const std::string& table,
                                          const std::vector<RowMutation>& rows) {
  std::vector<Status> statuses(rows.size());
  PutBatch batch(puts_.get(), client_->options, table, &statuses);
  bool refused = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    const RowMutation& row = rows[i];
    if (!PutsOnly(row)) {
      batch.SendThen(i, [&] { return MutateRow(table, row); });
      continue;
    }
    RowMutation settled{row.key, {}};
    auto changes = Settle(table, row);
    if (!changes.ok()) {
      statuses[i] = changes.status();
      refused = true;
      continue;
    }
    settled.changes = std::move(*changes);
    wire::TPut put;
    if (WritePut(settled, DurabilityOf(client_->options.write_ahead), &put)) {
      batch.Add(i, std::move(put), BytesOf(settled));
    } else {
      batch.SendThen(i, [&] { return MutateRow(table, row); });
    }
  }
  batch.Send();
  // Rows rejected by the checks above were not sent. If the table turns out to be missing, all rows
  // get that failure.
  const bool missing = std::any_of(statuses.begin(), statuses.end(), [](const Status& status) {
    return status.code() == StatusCode::kNotFound;
  });
  if (refused && missing) {
    const Status there = DescribeTable(table).status();
    if (there.code() == StatusCode::kNotFound) std::fill(statuses.begin(), statuses.end(), there);
  }
  return statuses;
}

std::vector<Status> HbaseStore::MutateRows(const std::string& table,
                                           const std::vector<RowMutation>& rows) {
  const bool may_wait =
      spool_ && spool_->Takes(table) && std::all_of(rows.begin(), rows.end(), PutsOnly);
  if (!may_wait) {
    const Status may_delete = MayDelete(table);
    return may_delete.ok() ? WriteRows(table, rows) : std::vector<Status>(rows.size(), may_delete);
  }
  std::vector<Status> statuses;
  if (spool_->holding()) {
    for (const RowMutation& row : rows) {
      statuses.push_back(CheckMutation(row));
      if (statuses.back().ok()) statuses.back() = Away();
    }
  } else {
    statuses = WriteRows(table, rows);
  }
  SpoolRecord record{SpoolRecord::Kind::kPuts, 0, table, {}};
  for (size_t i = 0; i < rows.size(); ++i) {
    if (IsTemporary(statuses[i])) record.rows.push_back(rows[i]);
  }
  if (record.rows.empty()) return statuses;
  Status held = spool_->Hold(std::move(record));
  for (Status& status : statuses) {
    if (IsTemporary(status)) status = held;
  }
  return statuses;
}

// Nothing can be deleted while writes wait in the spool, because their replay would restore it.
Status HbaseStore::MayDelete(const std::string& table) const {
  if (!spool_ || !spool_->Takes(table) || !spool_->holding()) return {};
  return Status::Unavailable("rows and cells of table " + table +
                             " are not deleted while older writes wait for HBase");
}

Status HbaseStore::DeleteRow(const std::string& table, ByteView key) {
  RETURN_IF_ERROR(CheckKey(key));
  RETURN_IF_ERROR(MayDelete(table));
  wire::TDelete gone;
  gone.row = Bytes(key);
  gone.__set_durability(DurabilityOf(client_->options.write_ahead));
  RETURN_IF_ERROR(client_->Send({"deleteSingle", table},
                                [&](Service& service) { service.deleteSingle(table, gone); }));
  LetDeleteGrowOld();
  return {};
}

Status HbaseStore::AppendColumns(const std::string& table, ByteView key,
                                 const std::vector<ColumnAppend>& columns,
                                 std::optional<int64_t> ttl_ms) {
  RETURN_IF_ERROR(CheckKey(key));
  if (columns.empty()) return {};
  if (columns.size() > 1) {
    return Status::Unsupported("this store appends to one column at a time, not to " +
                               std::to_string(columns.size()));
  }
  const ColumnAppend& one = columns.front();
  // The spool takes points only, and they have no TTL of their own.
  if (!spool_ || !spool_->Takes(table) || ttl_ms) return AppendNow(table, key, one, ttl_ms);
  Status status = Away();
  if (!spool_->holding()) status = AppendNow(table, key, one, {});
  if (!IsTemporary(status)) return status;
  return spool_->Hold({SpoolRecord::Kind::kAppend,
                       0,
                       table,
                       {{Bytes(key), {PutCell(one.family, one.qualifier, one.value)}}}});
}

Status HbaseStore::AppendNow(const std::string& table, ByteView key, const ColumnAppend& column,
                             std::optional<int64_t> ttl_ms) {
  wire::TAppend append;
  append.row = Bytes(key);
  append.__set_durability(DurabilityOf(client_->options.write_ahead));
  append.__set_returnResults(false);
  wire::TColumnValue& cell = append.columns.emplace_back();
  cell.family = column.family;
  cell.qualifier = column.qualifier;
  cell.value = column.value;
  if (ttl_ms) append.__set_attributes(TtlAttribute(*ttl_ms));
  return client_->Send({"append", table, Repeat::kIfNotDone, client_->PutDeadlineMs(table)},
                       [&](Service& service) {
                         wire::TResult unused;
                         service.append(unused, table, append);
                       });
}

}  // namespace hg::hbase
