#pragma once
// Converts Thrift2 requests to requests to the cell store, and the store's rows and errors to
// Thrift2 responses. For invalid requests, the functions throw HBase's exceptions, because Thrift
// handlers return errors by throwing (hbase-backend.md §6). Only files in storage/thrift2 use this
// file.

#include <hbase_types.h>

#include <string>
#include <vector>

#include "storage/store.h"
#include "storage/thrift2/cell_filter.h"

namespace hg::thrift2 {

namespace wire = hbase::wire;

/// Maximum number of changes of one row in one call: the number of cells that are put and of
/// columns that are deleted, incremented or appended to. A row changes atomically, so all other
/// writers of the store wait until all its changes are applied.
inline constexpr size_t kRowChangesMax = 50'000;

/// Throws a TIOError with this message. `can_retry` says whether the client may retry.
[[noreturn]] void Refuse(const std::string& message, bool can_retry);
/// Throws an exception that the client receives as 'Internal error processing METHOD'. Callers use
/// this function for arguments that HBase's Java client rejects before it calls HBase.
[[noreturn]] void RefuseArgument(const std::string& method);
/// Throws the error for a column family that does not exist.
[[noreturn]] void RefuseFamily(bool can_retry);
/// If `status` is an error, throws the exception that HBase returns for this error. `table` and
/// `method` are the table and the method of the call. `family_retry` says whether the error for a
/// missing column family tells the client that a retry may help, as HBase's error does for some
/// methods.
void Check(const Status& status, const std::string& table, const std::string& method,
           bool family_retry = false);
/// Throws an exception if the response exceeds its limit. `held` is the memory in bytes that is
/// charged for the response. `advice` is a text that says what the client can do.
void CheckResponse(int64_t held, int64_t bytes_max, const std::string& advice);
void CheckRowKey(const std::string& key, const std::string& method);
/// Throws an exception if a row has more than kRowChangesMax changes.
void CheckChanges(size_t count);
void CheckFamilies(const TableDescriptor& table, const std::vector<wire::TColumn>& columns);

/// The cells that a get or scan requests. The store selects cells as far as it can. Keep removes
/// those cells that the store cannot exclude.
class CellChoice {
 public:
  CellChoice(const wire::TGet& get, const std::string& method);
  CellChoice(const wire::TScan& scan, const std::string& method);

  [[nodiscard]] const CellSelection& selection() const { return selection_; }
  /// Removes the cells that the client did not request. Reports its work to the context. Throws if
  /// the context ends the call, or if a filter fails.
  void Keep(Row* row, RequestContext* context);
  /// Returns whether the store selects exactly the requested cells. If true, Keep has nothing to
  /// remove.
  [[nodiscard]] bool keeps_all() const { return columns_.empty() && filter_ == nullptr; }
  /// Returns the approximate memory of the object in bytes.
  [[nodiscard]] int64_t memory_bytes() const;

 private:
  void SetColumns(const std::vector<wire::TColumn>& columns);
  void SetVersions(int32_t versions, const std::string& method);
  void SetTimes(const wire::TTimeRange& range, const std::string& method);
  void SetFilter(const std::string& bytes);
  void SetFilterText(const std::string& text, const std::string& method);

  CellSelection selection_;
  std::vector<wire::TColumn> columns_;  // empty if selection_ selects the requested columns
  std::unique_ptr<CellFilter> filter_;  // may be null
  size_t filter_bytes_ = 0;
  int32_t limit_ = -1;  // maximum number of cells of each family; below 0 = all cells
  int32_t offset_ = 0;  // number of cells to leave out at the start of each family
};

wire::TResult WriteRow(Row row);

/// Returns the TTL in ms that the attribute _ttl gives to the cells of a change, or nullopt if
/// there is no such attribute. Throws TIOError if the attribute does not have 8 bytes.
std::optional<int64_t> TtlOf(const std::map<std::string, std::string>& attributes);
/// CheckPut throws the errors that ReadPut would throw, and CheckDelete those of ReadDelete.
void CheckPut(const wire::TPut& put, const std::string& method);
void CheckDelete(const wire::TDelete& gone, const std::string& method);
/// Returns the changes of a put. All of these changes have the kind kPut.
std::vector<CellChange> ReadPut(const wire::TPut& put, const std::string& method);
std::vector<CellChange> ReadDelete(const TableDescriptor& table, const wire::TDelete& gone,
                                   const std::string& method);
/// Returns all changes of a row. They are in an order in which deletes hide puts, as in HBase,
/// which gives all changes of a mutation the same timestamp.
RowMutation ReadMutations(const TableDescriptor& table, const wire::TRowMutations& row,
                          const std::string& method);

/// Returns whether `expected` `op` `stored` is true. As in HBase, the expected value is the left
/// operand. An empty expected value stands for an absent column.
bool Compares(wire::TCompareOperator::type op, const Bytes& expected, const Bytes* stored);

}  // namespace hg::thrift2
