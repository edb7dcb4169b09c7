#include "storage/thrift2/cell_filter.h"

#include <doctest/doctest.h>

#include "storage/base/varint.h"
#include "storage/hbase/filter_bytes.h"
#include "storage/hbase/filter_messages.h"

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
  return *(*filter)->Passes(key, &cell, &RequestContext::Unlimited());
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
  CHECK(ReadCellFilter(filter).status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("a filter that is too long is refused") {
  const Bytes filter = Named("PrefixFilter", Field(1, Bytes(kFilterBytesMax, 'x')));
  CHECK(ReadCellFilter(filter).status().code() == StatusCode::kLimitExceeded);
}

TEST_CASE("a filter with too many fields is refused, also if they are in several filters") {
  const auto filter_of = [](size_t filters, size_t prefixes) {
    Bytes content, list;
    for (size_t i = 0; i < prefixes; ++i) content += Field(1, "");
    for (size_t i = 0; i < filters; ++i) {
      list += Field(2, Named("MultipleColumnPrefixFilter", content));
    }
    return Named("FilterList", list);
  };
  CHECK(ReadCellFilter(filter_of(1, kFilterFieldsMax / 2)).ok());
  CHECK(ReadCellFilter(filter_of(10, kFilterFieldsMax / 20)).ok());
  CHECK(ReadCellFilter(filter_of(1, kFilterFieldsMax)).status().code() ==
        StatusCode::kLimitExceeded);
  CHECK(ReadCellFilter(filter_of(10, kFilterFieldsMax / 10)).status().code() ==
        StatusCode::kLimitExceeded);
}

TEST_CASE("a regular expression that takes too many steps fails") {
  auto filter = ReadCellFilter(hbase::RegexKeyFilter("^(a+)+$"));
  REQUIRE(filter.ok());
  Cell cell;
  (*filter)->StartRow();
  CHECK((*filter)
            ->Passes(Bytes(60, 'a') + "b", &cell, &RequestContext::Unlimited())
            .status()
            .code() == StatusCode::kLimitExceeded);
}

/// Ends a request after a number of steps.
class Ending : public RequestContext {
 public:
  explicit Ending(uint64_t steps) : left_(steps) {}
  Status Step(uint64_t steps) override {
    if (steps > left_) return Status::DeadlineExceeded("ended");
    left_ -= steps;
    return {};
  }
  Status Charge(int64_t) override { return {}; }

 private:
  uint64_t left_;
};

TEST_CASE("the work of a filter is reported, and the filter ends with its request") {
  const auto code_when_ended = [](ByteView filter_bytes, size_t value_bytes) {
    auto filter = ReadCellFilter(filter_bytes);
    REQUIRE(filter.ok());
    Ending request(5'000);
    Cell cell{"f", "q", Bytes(value_bytes, 'a'), 0};
    (*filter)->StartRow();
    return (*filter)->Passes("k", &cell, &request).status().code();
  };
  const auto of_value = [](const std::string& comparator, const Bytes& content) {
    return Named("ValueFilter",
                 Field(1, Bytes("\x08\x02", 2) + Field(2, Named(comparator, content))));
  };
  const auto pattern = [&](const Bytes& text) {
    return of_value("RegexStringComparator", Field(1, text) + Field(3, "ISO-8859-1"));
  };
  // Each match takes time in proportion to the square of the length of the value.
  CHECK(code_when_ended(pattern("[^x]*+[yz]"), 1 << 20) == StatusCode::kDeadlineExceeded);
  CHECK(code_when_ended(pattern("(.+)\\1[yz]"), 1 << 20) == StatusCode::kDeadlineExceeded);
  CHECK(code_when_ended(of_value("SubstringComparator", Field(1, "x")), 1 << 20) ==
        StatusCode::kDeadlineExceeded);
  Bytes many = "\x08\x02";
  for (int i = 0; i < 6'000; ++i) many += Field(2, Named("PrefixFilter", Field(1, "x")));
  CHECK(code_when_ended(Named("FilterList", many), 1) == StatusCode::kDeadlineExceeded);
  Bytes prefixes;
  for (int i = 0; i < 6'000; ++i) prefixes += Field(1, "x");
  CHECK(code_when_ended(Named("MultipleColumnPrefixFilter", prefixes), 1) ==
        StatusCode::kDeadlineExceeded);
}

TEST_CASE("the memory of the regular expressions of a filter is bounded") {
  const auto patterns = [](int count, const Bytes& text) {
    Bytes many = "\x08\x02";
    for (int i = 0; i < count; ++i) {
      many +=
          Field(2, Named("ValueFilter",
                         Field(1, Bytes("\x08\x02", 2) +
                                      Field(2, Named("RegexStringComparator",
                                                     Field(1, text) + Field(3, "ISO-8859-1"))))));
    }
    return ReadCellFilter(Named("FilterList", many)).status().code();
  };
  CHECK(patterns(100, "^a[0-9]+$") == StatusCode::kOk);
  CHECK(patterns(3'000, "(?:a?b?c?){900}") == StatusCode::kLimitExceeded);
  CHECK(patterns(1, Bytes(100'000, 'a')) == StatusCode::kLimitExceeded);
}

TEST_CASE("a pattern in UTF-8 matches characters, and one in ISO-8859-1 matches bytes") {
  const auto of_value = [](const Bytes& pattern, uint64_t flags, const char* charset) {
    return hbase::CompareFilter("ValueFilter", RowFilter::Op::kEqual,
                                hbase::RegexComparator(pattern, flags, charset));
  };
  const auto finds = [](const Bytes& filter, const Bytes& value) {
    return Passes(filter, "row", {"f", "q", value, 0});
  };
  const Bytes e_acute = "\xC3\xA9";
  CHECK(finds(of_value("^.$", 0, "UTF-8"), e_acute));
  CHECK(finds(of_value("^" + e_acute + "$", 0, "UTF-8"), e_acute));
  CHECK_FALSE(finds(of_value("^.$", 0, "ISO-8859-1"), e_acute));
  CHECK(finds(of_value("^" + e_acute + "$", 0, "ISO-8859-1"), "\xE9"));
  // Bytes that are not UTF-8 become U+FFFD.
  CHECK(finds(of_value("^a\xEF\xBF\xBD$", 0, "UTF-8"), "a\xFF"));
  CHECK(finds(of_value("^..$", 0, "UTF-8"), "a\xFF"));
  CHECK(ReadCellFilter(of_value("a", 0, "UTF-16")).status().code() == StatusCode::kUnsupported);
}

TEST_CASE("a pattern has the flags of Java that the filter states") {
  const auto finds = [](const Bytes& pattern, uint64_t flags, const Bytes& value) {
    return Passes(hbase::CompareFilter("ValueFilter", RowFilter::Op::kEqual,
                                       hbase::RegexComparator(pattern, flags, "ISO-8859-1")),
                  "row", {"f", "q", value, 0});
  };
  CHECK_FALSE(finds("a.b", 0, "a\nb"));
  CHECK(finds("a.b", 32, "a\nb"));
  CHECK_FALSE(finds("AB", 0, "ab"));
  CHECK(finds("AB", 2, "ab"));
  CHECK_FALSE(finds("^b", 0, "a\nb"));
  CHECK(finds("^b", 8, "a\nb"));
  const Bytes literal = hbase::CompareFilter("ValueFilter", RowFilter::Op::kEqual,
                                             hbase::RegexComparator("a", 16, "ISO-8859-1"));
  CHECK(ReadCellFilter(literal).status().code() == StatusCode::kUnsupported);
}

TEST_CASE("filters of which any byte is cut are refused or read, and nothing else happens") {
  const Bytes whole = hbase::RegexKeyFilter("^a") + Named("ColumnRangeFilter", Field(1, "a"));
  for (size_t size = 0; size < whole.size(); ++size) {
    (void)ReadCellFilter(ByteView(whole).substr(0, size));
  }
}

TEST_CASE("names of tables match a whole pattern") {
  RequestContext& unlimited = RequestContext::Unlimited();
  CHECK(*MatchesWhole("ts.*", "tsdb", &unlimited));
  CHECK_FALSE(*MatchesWhole("ts", "tsdb", &unlimited));
  CHECK(MatchesWhole("(", "tsdb", &unlimited).status().code() == StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hg::thrift2
