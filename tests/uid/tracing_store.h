#pragma once
// A store in memory that records the calls of its functions, for tests of ids.

#include <doctest/doctest.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/hex.h"
#include "tests/support/model_store.h"

namespace hg::uid {

// A ModelStore that records its calls in the notation of opentsdb-schema.md §23.5. A test can make
// increments fail.
class TracingStore final : public ModelStore {
 public:
  TracingStore() {
    REQUIRE(CreateTable({.name = "tsdb-uid", .families = {{"id"}, {"name"}}}).ok());
    trace_.clear();
  }

  std::vector<Status> MutateRows(const std::string& table,
                                 const std::vector<RowMutation>& rows) override {
    for (const RowMutation& row : rows) {
      for (const CellChange& change : row.changes) {
        const bool put = change.kind == CellChange::Kind::kPut;
        trace_.push_back((put ? "PUT " : "DEL ") +
                         Column(row.key, change.family, change.qualifier) +
                         (put ? " = " + ToHexUpper(change.value) : ""));
      }
    }
    return ModelStore::MutateRows(table, rows);
  }

  Result<std::vector<int64_t>> IncrementColumns(const std::string& table, ByteView key,
                                                const std::vector<ColumnIncrement>& columns,
                                                std::optional<int64_t> ttl_ms) override {
    if (failures_ > 0) {
      --failures_;
      return Status::Unavailable("not now");
    }
    auto values = ModelStore::IncrementColumns(table, key, columns, ttl_ms);
    for (size_t i = 0; i < columns.size(); ++i) {
      trace_.push_back("INC " + Column(key, columns[i].family, columns[i].qualifier) + " -> " +
                       std::to_string((*values)[i]));
    }
    return values;
  }

  Result<bool> CompareAndMutate(ByteView family, ByteView qualifier, const Expected& expected,
                                const std::string& table, const RowMutation& mutation) override {
    const Result<bool> done =
        ModelStore::CompareAndMutate(family, qualifier, expected, table, mutation);
    std::lock_guard lock(mutex_);
    trace_.push_back("CAS " + Column(mutation.key, family, qualifier) +
                     " := " + ToHexUpper(mutation.changes[0].value) + (*done ? " true" : " false"));
    return done;
  }

  // Returns the recorded calls since the previous call of Trace.
  std::vector<std::string> Trace() { return std::exchange(trace_, {}); }
  void FailIncrements(int n) { failures_ = n; }

  void Put(std::string_view row, const char* family, const char* qualifier,
           std::string_view value) {
    REQUIRE(ModelStore::MutateRows("tsdb-uid",
                                   {{Hex(row), {PutCell(family, qualifier, Hex(value))}}})[0]
                .ok());
  }
  // Returns the value of a cell as hexadecimal digits, or "" if the cell does not exist.
  std::string Value(std::string_view row, const char* family, const char* qualifier) {
    const Result<Row> found = Get("tsdb-uid", Hex(row), family, {qualifier});
    REQUIRE(found.ok());
    return found->cells.empty() ? "" : ToHexUpper(found->cells[0].value);
  }

 private:
  static std::string Column(ByteView key, ByteView family, ByteView qualifier) {
    return ToHexUpper(key) + " " + std::string(family) + ":" + std::string(qualifier);
  }

  std::mutex mutex_;
  /// MutateRows and IncrementColumns change trace_ without mutex_. Only one thread may call them.
  std::vector<std::string> trace_;
  int failures_ = 0;
};

}  // namespace hg::uid
