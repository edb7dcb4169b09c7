#pragma once
// The methods of the gateway (tests/support/hbase/gateway.h) over a cell store.

#include <THBaseService.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "storage/store.h"
#include "tests/support/hbase/gateway_filter.h"

namespace hg::hbase {

/// Thread-safe.
class GatewayService : public wire::THBaseServiceIf {
 public:
  explicit GatewayService(std::function<Store&()> store) : store_(std::move(store)) {}

  void ForgetScanners();
  [[nodiscard]] size_t scanner_count() const;

  void get(wire::TResult& result, const std::string& table, const wire::TGet& get) override;
  void getMultiple(std::vector<wire::TResult>& results, const std::string& table,
                   const std::vector<wire::TGet>& gets) override;
  void put(const std::string& table, const wire::TPut& put) override;
  void putMultiple(const std::string& table, const std::vector<wire::TPut>& puts) override;
  void deleteSingle(const std::string& table, const wire::TDelete& gone) override;
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
  void getAllRegionLocations(std::vector<wire::THRegionLocation>& locations,
                             const std::string& table) override;
  void createTable(const wire::TTableDescriptor& table,
                   const std::vector<std::string>& splits) override;
  void deleteTable(const wire::TTableName& name) override;
  void disableTable(const wire::TTableName& name) override;
  bool isTableEnabled(const wire::TTableName& name) override;
  void getTableDescriptor(wire::TTableDescriptor& table, const wire::TTableName& name) override;
  void getTableDescriptorsByPattern(std::vector<wire::TTableDescriptor>& tables,
                                    const std::string& regex, bool system) override;
  void modifyTable(const wire::TTableDescriptor& table) override;
  void createNamespace(const wire::TNamespaceDescriptor& space) override;
  wire::TThriftServerType::type getThriftServerType() override;

 private:
  struct Scanner {
    std::mutex mutex;
    std::string table;
    wire::TScan wanted;
    std::unique_ptr<GatewayFilter> filter;
    std::unique_ptr<ScanCursor> cursor;  // opened by the first fetch
    std::vector<Row> rows;               // read ahead, from `at` on
    size_t at = 0;
  };

  /// Returns the descriptor of the table. Throws HBase's exception if the table is missing or
  /// disabled.
  TableDescriptor Known(const std::string& table);
  void CheckFamilies(const TableDescriptor& table, const std::vector<wire::TColumn>& columns);
  std::vector<CellChange> ReadDelete(const TableDescriptor& table, const wire::TDelete& gone);
  RowMutation ReadMutations(const TableDescriptor& table, const wire::TRowMutations& row);
  void OpenCursor(Scanner* scanner);
  bool NextRow(Scanner* scanner, wire::TResult* result);

  const std::function<Store&()> store_;
  mutable std::mutex mutex_;
  std::map<int32_t, std::shared_ptr<Scanner>> scanners_;
  int32_t next_scanner_ = 0;
  std::set<std::string> disabled_;
  std::set<std::string> namespaces_{"default"};
  std::map<std::string, std::map<std::string, std::string>> attributes_;  // attributes of tables
};

}  // namespace hg::hbase
