#pragma once
// The methods of THBaseService, implemented over a cell store. Only files in storage/thrift2 use
// this file.

#include <THBaseService.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/base/thread_annotations.h"
#include "storage/store.h"
#include "storage/thrift2/call_context.h"
#include "storage/thrift2/requests.h"
#include "storage/thrift2/scanners.h"
#include "storage/thrift2/thrift2_server.h"

namespace hg::thrift2 {

/// Properties of tables and namespaces that HBase's master has and the cell store does not have:
/// whether a table is disabled, empty namespaces, and attributes that TableDescriptor does not
/// have. These properties are stored only in memory and are lost when the process ends.
/// Thread-safe.
class Master {
 public:
  using Attributes = std::map<std::string, std::string>;

  [[nodiscard]] bool IsDisabled(const std::string& table) const;
  void SetDisabled(const std::string& table, bool disabled);
  [[nodiscard]] Attributes AttributesOf(const std::string& table) const;
  void SetAttributes(const std::string& table, Attributes attributes);
  /// Removes all properties of a table that was dropped.
  void Forget(const std::string& table);
  /// Returns the namespaces "default" and "hbase", and all namespaces that clients have created,
  /// including namespaces without tables.
  [[nodiscard]] std::set<std::string> Namespaces() const;
  void AddNamespace(const std::string& name);
  void RemoveNamespace(const std::string& name);

 private:
  mutable Mutex mutex_;
  std::set<std::string> disabled_ GUARDED_BY(mutex_);
  std::set<std::string> namespaces_ GUARDED_BY(mutex_) = {"default", "hbase"};
  std::map<std::string, Attributes> attributes_ GUARDED_BY(mutex_);
};

/// State that all connections of a Thrift2 server share. Thread-safe.
struct ServerState {
  ServerState(std::function<Store&()> of, Thrift2Options with)
      : store(std::move(of)),
        options(std::move(with)),
        memory(options.memory_bytes_max),
        scanners(options.scanners_max, options.scanners_per_connection_max) {}

  const std::function<Store&()> store;
  const Thrift2Options options;
  uint16_t port = 0;  // set before the first connection is accepted
  std::atomic<bool> stopping{false};
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> refused{0};
  MemoryShare memory;
  Scanners scanners;
  Master master;
};

/// Handles the calls of one connection. Errors are thrown as Thrift's exceptions. Not thread-safe.
class Service : public wire::THBaseServiceIf {
 public:
  /// `number` is the number of the connection. `state` must outlive the object.
  Service(ServerState& state, int socket, uint64_t number)
      : state_(state),
        socket_(socket),
        number_(number),
        context_(state.memory, state.stopping, state.options.call_time) {
    reply_.emplace(&context_);
  }

  /// Starts the time limit of a call. If the time limit was already started, starts it again.
  void BeginCall() { context_.Begin(socket_); }
  /// Releases the memory that is charged for the response. Call this function after the response
  /// was sent.
  void EndCall() { reply_.emplace(&context_); }

  // The following methods are for rows. They are in service.cc.
  bool exists(const std::string& table, const wire::TGet& get) override;
  void existsAll(std::vector<bool>& found, const std::string& table,
                 const std::vector<wire::TGet>& gets) override;
  void get(wire::TResult& result, const std::string& table, const wire::TGet& get) override;
  void getMultiple(std::vector<wire::TResult>& results, const std::string& table,
                   const std::vector<wire::TGet>& gets) override;
  void put(const std::string& table, const wire::TPut& put) override;
  void putMultiple(const std::string& table, const std::vector<wire::TPut>& puts) override;
  bool checkAndPut(const std::string& table, const std::string& row, const std::string& family,
                   const std::string& qualifier, const std::string& value,
                   const wire::TPut& put) override;
  void deleteSingle(const std::string& table, const wire::TDelete& gone) override;
  void deleteMultiple(std::vector<wire::TDelete>& failed, const std::string& table,
                      const std::vector<wire::TDelete>& all) override;
  bool checkAndDelete(const std::string& table, const std::string& row, const std::string& family,
                      const std::string& qualifier, const std::string& value,
                      const wire::TDelete& gone) override;
  void increment(wire::TResult& result, const std::string& table,
                 const wire::TIncrement& increment) override;
  void append(wire::TResult& result, const std::string& table,
              const wire::TAppend& append) override;
  void mutateRow(const std::string& table, const wire::TRowMutations& row) override;
  bool checkAndMutate(const std::string& table, const std::string& row, const std::string& family,
                      const std::string& qualifier, wire::TCompareOperator::type op,
                      const std::string& value, const wire::TRowMutations& mutations) override;
  int32_t openScanner(const std::string& table, const wire::TScan& scan) override;
  void getScannerRows(std::vector<wire::TResult>& results, int32_t id, int32_t rows) override;
  void closeScanner(int32_t id) override;
  void getScannerResults(std::vector<wire::TResult>& results, const std::string& table,
                         const wire::TScan& scan, int32_t rows) override;

  // The following methods are for tables. They are in service_tables.cc.
  void getRegionLocation(wire::THRegionLocation& location, const std::string& table,
                         const std::string& row, bool reload) override;
  void getAllRegionLocations(std::vector<wire::THRegionLocation>& locations,
                             const std::string& table) override;
  void createTable(const wire::TTableDescriptor& table,
                   const std::vector<std::string>& splits) override;
  void deleteTable(const wire::TTableName& name) override;
  void truncateTable(const wire::TTableName& name, bool keep_splits) override;
  void enableTable(const wire::TTableName& name) override;
  void disableTable(const wire::TTableName& name) override;
  bool tableExists(const wire::TTableName& name) override;
  bool isTableEnabled(const wire::TTableName& name) override;
  bool isTableDisabled(const wire::TTableName& name) override;
  bool isTableAvailable(const wire::TTableName& name) override;
  void getTableDescriptor(wire::TTableDescriptor& table, const wire::TTableName& name) override;
  void getTableDescriptors(std::vector<wire::TTableDescriptor>& tables,
                           const std::vector<wire::TTableName>& names) override;
  void getTableDescriptorsByPattern(std::vector<wire::TTableDescriptor>& tables,
                                    const std::string& regex, bool system) override;
  void getTableDescriptorsByNamespace(std::vector<wire::TTableDescriptor>& tables,
                                      const std::string& space) override;
  void getTableNamesByPattern(std::vector<wire::TTableName>& names, const std::string& regex,
                              bool system) override;
  void getTableNamesByNamespace(std::vector<wire::TTableName>& names,
                                const std::string& space) override;
  void addColumnFamily(const wire::TTableName& name,
                       const wire::TColumnFamilyDescriptor& column) override;
  void deleteColumnFamily(const wire::TTableName& name, const std::string& column) override;
  void modifyColumnFamily(const wire::TTableName& name,
                          const wire::TColumnFamilyDescriptor& column) override;
  void modifyTable(const wire::TTableDescriptor& table) override;
  void createNamespace(const wire::TNamespaceDescriptor& space) override;
  void modifyNamespace(const wire::TNamespaceDescriptor& space) override;
  void deleteNamespace(const std::string& name) override;
  void getNamespaceDescriptor(wire::TNamespaceDescriptor& space, const std::string& name) override;
  void listNamespaceDescriptors(std::vector<wire::TNamespaceDescriptor>& spaces) override;
  void listNamespaces(std::vector<std::string>& names) override;
  wire::TThriftServerType::type getThriftServerType() override;
  void getClusterId(std::string& id) override;
  void getSlowLogResponses() override;
  void clearSlowLogResponses() override;
  void grant() override;
  void revoke() override;

 private:
  /// Returns the descriptor of the table. Throws HBase's exception if the table does not exist or
  /// is disabled.
  TableDescriptor Known(const std::string& table);
  /// Returns the descriptor of the table, which may be disabled. Throws HBase's exception if the
  /// table does not exist.
  TableDescriptor Described(const std::string& table);
  std::vector<TableDescriptor> AllTables();
  /// Returns the first keys of the table's regions. A table that does not exist has no regions.
  std::vector<Bytes> RegionStarts(const std::string& table, const std::string& method);
  wire::THRegionLocation LocationOf(const std::string& table, const std::vector<Bytes>& starts,
                                    size_t region);
  std::vector<std::string> AllNamespaces();
  wire::TTableDescriptor Shown(const TableDescriptor& table);
  using ChangeFamilies = std::function<void(TableDescriptor*)>;
  /// Changes the families of a table, and tries again if another client altered the table at the
  /// same time.
  void AlterFamilies(const std::string& name, const ChangeFamilies& change);

  /// Removes cells that the client did not request, and charges the memory of the remaining cells
  /// to the response.
  wire::TResult Answer(CellChoice* choice, Row row);
  /// Charges the memory of a part of the response that lists tables or regions, before this part is
  /// made.
  void ChargeListed(size_t bytes);
  /// Returns one row for each get.
  std::vector<wire::TResult> GetAll(const std::string& table, const std::vector<wire::TGet>& gets,
                                    const std::string& method);
  /// Replaces each delete that has a timestamp by deletes of the columns whose cells it covers,
  /// because a points table cannot store a delete with a timestamp. Charges to `memory` only the
  /// growth of the changes, because the memory of the request is already charged.
  void SettleTimes(const TableDescriptor& table, RowMutation* row, MemoryTally* memory);
  /// Applies the mutation if the comparison is true. Returns whether the mutation was applied.
  bool CheckAndMutate(const TableDescriptor& table, const std::string& row,
                      const std::string& family, const std::string& qualifier,
                      wire::TCompareOperator::type op, const std::string& value,
                      RowMutation mutation, bool synced, const std::string& method);
  std::unique_ptr<CallContext> NewContext() const;
  void SyncIf(bool synced);
  /// Writes rows with one call of the store, and returns the status of each row.
  std::vector<Status> Write(const std::string& table, const std::vector<RowMutation>& rows);
  /// Writes `count` rows in several pieces. The pieces limit the memory, and no further piece is
  /// written after the time limit of the call. A piece ends after a row that the store must read.
  /// read(i, tally) returns the row with the number i, and charges the changes of the row to the
  /// tally. After all rows were written, throws the first error of the store.
  template <typename Read>
  void WriteAll(const TableDescriptor& table, size_t count, const std::string& method,
                const Read& read);
  /// Drops the table and reports all its rows as changed (Thrift2Options::changed).
  Status Drop(const std::string& table);

  ServerState& state_;
  const int socket_;
  const uint64_t number_;
  CallContext context_;
  std::optional<MemoryTally> reply_;  // memory of the response of the current call; never nullopt
};

}  // namespace hg::thrift2
