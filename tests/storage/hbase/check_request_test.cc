#include "storage/hbase/check_request.h"

#include <doctest/doctest.h>

namespace hg::hbase {
namespace {

// A row of one put, which HBase counts as so many bytes.
RowMutation RowOf(size_t bytes, const Bytes& key = "key", const Bytes& qualifier = "q") {
  const size_t around = CellBytes(key.size(), 1, qualifier.size(), 0, false);
  return {key, {PutCell("t", qualifier, Bytes(bytes - around, 'x'))}};
}

TEST_CASE("a cell counts as HBase counts it: with its key, its lengths and its time to live") {
  CHECK(CellBytes(3, 1, 2, 5, false) == 24 + 11);
  CHECK(CellBytes(3, 1, 2, 5, true) == 24 + 11 + 13);
}

TEST_CASE("a cell of the largest size is taken, one byte more of key or value is not") {
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

TEST_CASE("keys have a byte at least and fit two bytes of a length with a sign") {
  CHECK(CheckKey(Bytes(kKeyBytesMax, 'x')).ok());
  CHECK(CheckKey(Bytes(kKeyBytesMax + 1, 'x')).code() == StatusCode::kInvalidArgument);
  CHECK(CheckKey("").code() == StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hg::hbase
