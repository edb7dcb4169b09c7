#include "storage/thrift2/cell_filter.h"

#include <doctest/doctest.h>

#include "storage/base/varint.h"
#include "storage/hbase/filter_bytes.h"

namespace hg::thrift2 {
namespace {

// A protobuf field of bytes.
Bytes Field(int number, ByteView value) {
  Bytes out;
  AppendVarint(&out, static_cast<uint64_t>(number) << 3 | 2);
  AppendVarint(&out, value.size());
  return out + Bytes(value);
}

Bytes Named(const std::string& name, ByteView content) {
  return Field(1, "org.apache.hadoop.hbase.filter." + name) + Field(2, content);
}

bool Passes(ByteView filter_bytes, ByteView key, Cell cell = {}) {
  auto filter = ReadCellFilter(filter_bytes);
  REQUIRE(filter.ok());
  (*filter)->StartRow();
  return *(*filter)->Passes(key, &cell);
}

TEST_CASE("filters of prefixes compare rows and columns") {
  CHECK(Passes(Named("PrefixFilter", Field(1, "ro")), "row"));
  CHECK_FALSE(Passes(Named("PrefixFilter", Field(1, "ro")), "rw"));
  CHECK(Passes(Named("ColumnPrefixFilter", Field(1, "q")), "row", {"f", "q1", "", 0}));
  CHECK_FALSE(Passes(Named("ColumnPrefixFilter", Field(1, "q")), "row", {"f", "p", "", 0}));
}

TEST_CASE("one of several fuzzy templates has to match") {
  const Bytes mask("\0\1", 2);
  const Bytes filter = Named("FuzzyRowFilter", Field(1, Field(1, "a?") + Field(2, mask)) +
                                                   Field(1, Field(1, "b?") + Field(2, mask)));
  CHECK(Passes(filter, "ax"));
  CHECK(Passes(filter, "bx"));
  CHECK_FALSE(Passes(filter, "cx"));
}

TEST_CASE("a fuzzy template with a mask of another length is refused") {
  const Bytes filter = Named("FuzzyRowFilter", Field(1, Field(1, "abc") + Field(2, "\1")));
  CHECK(ReadCellFilter(filter).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("filters that are nested too deeply are refused") {
  Bytes filter = Named("FirstKeyOnlyFilter", "");
  for (int depth = 0; depth < 10; ++depth) filter = Named("FilterList", Field(2, filter));
  CHECK(ReadCellFilter(filter).ok());
  for (int depth = 0; depth < 1000; ++depth) filter = Named("FilterList", Field(2, filter));
  CHECK(ReadCellFilter(filter).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a filter that is too long is refused") {
  const Bytes filter = Named("PrefixFilter", Field(1, Bytes(kFilterBytesMax, 'x')));
  CHECK(ReadCellFilter(filter).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("a regular expression that takes too many steps fails") {
  auto filter = ReadCellFilter(hbase::RegexKeyFilter("^(a+)+$"));
  REQUIRE(filter.ok());
  Cell cell;
  (*filter)->StartRow();
  CHECK((*filter)->Passes(Bytes(60, 'a') + "b", &cell).status().code() ==
        StatusCode::kInvalidArgument);
}

TEST_CASE("filters of which any byte is cut are refused or read, and nothing else happens") {
  const Bytes whole = hbase::RegexKeyFilter("^a") + Named("ColumnRangeFilter", Field(1, "a"));
  for (size_t size = 0; size < whole.size(); ++size) {
    (void)ReadCellFilter(ByteView(whole).substr(0, size));
  }
}

TEST_CASE("names of tables match a whole pattern") {
  CHECK(*MatchesWhole("ts.*", "tsdb"));
  CHECK_FALSE(*MatchesWhole("ts", "tsdb"));
  CHECK(MatchesWhole("(", "tsdb").status().code() == StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hg::thrift2
