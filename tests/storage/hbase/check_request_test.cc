#include "storage/hbase/check_request.h"

#include <doctest/doctest.h>

namespace hg::hbase {
namespace {

// Returns a row with one put whose size HBase counts as `bytes`.
RowMutation RowOf(size_t bytes, const Bytes& key = "key", const Bytes& qualifier = "q") {
  const size_t around = CellBytes(key.size(), 1, qualifier.size(), 0, false);
  return {key, {PutCell("t", qualifier, Bytes(bytes - around, 'x'))}};
}

TEST_CASE("the size of a cell is computed as in HBase: key, lengths and TTL included") {
  CHECK(CellBytes(3, 1, 2, 5, false) == 24 + 11);
  CHECK(CellBytes(3, 1, 2, 5, true) == 24 + 11 + 13);
}

TEST_CASE("a cell of the maximum size is accepted, and one more byte of key or value is not") {
  CHECK(CheckMutation(RowOf(kCellBytesMax)).ok());
  const Status refused = CheckMutation(RowOf(kCellBytesMax + 1));
  CHECK(refused.code() == StatusCode::kInvalidArgument);
  CHECK(refused.message().find(std::to_string(kCellBytesMax + 1)) != std::string_view::npos);
  RowMutation row = RowOf(kCellBytesMax);
  row.key += 'x';
  CHECK(CheckMutation(row).code() == StatusCode::kInvalidArgument);
  row = RowOf(kCellBytesMax);
  row.changes[0].qualifier += 'x';
  CHECK(CheckMutation(row).code() == StatusCode::kInvalidArgument);
  row = RowOf(kCellBytesMax);
  row.changes[0].ttl_ms = 60'000;
  CHECK(CheckMutation(row).code() == StatusCode::kInvalidArgument);
}

TEST_CASE("keys have at least one byte and at most 32767") {
  CHECK(CheckKey(Bytes(kKeyBytesMax, 'x')).ok());
  CHECK(CheckKey(Bytes(kKeyBytesMax + 1, 'x')).code() == StatusCode::kInvalidArgument);
  CHECK(CheckKey("").code() == StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hg::hbase
