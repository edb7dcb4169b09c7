#include "tests/storage/store_contract.h"

#include <doctest/doctest.h>

#include "tests/storage/store_contract_parts.h"

namespace hg {

const TableDescriptor kContractTable{"g", {{"a"}, {"b"}}, false};

FamilyDescriptor Family(Bytes name, int32_t versions) {
  FamilyDescriptor family{std::move(name)};
  family.versions = versions;
  return family;
}

CellChange PutAt(Bytes family, Bytes qualifier, Bytes value, int64_t timestamp_ms) {
  CellChange put = PutCell(std::move(family), std::move(qualifier), std::move(value));
  put.timestamp_ms = timestamp_ms;
  return put;
}

CellChange DeleteFamily(Bytes family) {
  return {CellChange::Kind::kDeleteFamily, std::move(family), {}, {}, {}};
}

std::string Text(const Row& row) {
  std::string text;
  for (const Cell& cell : row.cells) {
    text += cell.family + ":" + cell.qualifier + "=" + cell.value + " ";
  }
  return text;
}

ScanSpec Spec(Bytes start, Bytes stop, size_t batch_rows) {
  ScanSpec spec;
  spec.table = "g";
  spec.start = std::move(start);
  spec.stop = std::move(stop);
  spec.batch_rows = batch_rows;
  return spec;
}

std::vector<Row> ScanAll(Store& store, const ScanSpec& spec) {
  std::vector<Row> all;
  auto cursor = store.Scan(spec);
  INFO(cursor.status().ToString());
  REQUIRE(cursor.ok());
  std::vector<Row> rows;
  do {
    REQUIRE((*cursor)->Next(&rows).ok());
    CHECK(rows.size() <= spec.batch_rows);
    all.insert(all.end(), rows.begin(), rows.end());
  } while (!rows.empty());
  return all;
}

void CheckStoreContract(const StoreFactory& make) {
  for (const auto& checks : {TableChecks(), CellChecks()}) {
    for (const StoreCheck check : checks) {
      auto subject = make();
      REQUIRE(subject->store().CreateTable(kContractTable).ok());
      check(*subject);
    }
  }
  CheckRandomSteps(make);
}

}  // namespace hg
