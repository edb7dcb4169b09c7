#include "storage/lsm/table_attributes.h"

#include <doctest/doctest.h>

namespace hg::lsm {
namespace {

TEST_CASE("attributes are set by HBase's names and described in the same form") {
  FamilyDescriptor f{"t"};
  const std::pair<const char*, const char*> wanted[] = {{"VERSIONS", "3"},
                                                        {"MIN_VERSIONS", "2"},
                                                        {"TTL", "86400"},
                                                        {"KEEP_DELETED_CELLS", "TRUE"},
                                                        {"NEW_VERSION_BEHAVIOR", "true"},
                                                        {"COMPRESSION", "zstd"},
                                                        {"DATA_BLOCK_ENCODING", "FAST_DIFF"},
                                                        {"BLOOMFILTER", "NONE"},
                                                        {"IN_MEMORY", "true"},
                                                        {"BLOCKCACHE", "false"},
                                                        {"BLOCKSIZE", "8192"}};
  for (const auto& [name, text] : wanted) CHECK(SetAttribute(name, text, &f).ok());
  CHECK(DescribeFamily(f) ==
        "NAME => 't', VERSIONS => '3', MIN_VERSIONS => '2', TTL => '86400', KEEP_DELETED_CELLS => "
        "'true', NEW_VERSION_BEHAVIOR => 'true', COMPRESSION => 'ZSTD', DATA_BLOCK_ENCODING => "
        "'FAST_DIFF', BLOOMFILTER => 'NONE', IN_MEMORY => 'true', BLOCKCACHE => 'false', BLOCKSIZE "
        "=> '8192'");
  CHECK(SetAttribute("TTL", "forever", &f).ok());
  CHECK(f.ttl_s == kTtlForever);
}

TEST_CASE("a TTL is a number of seconds or has units") {
  FamilyDescriptor f{"t"};
  const std::pair<const char*, int64_t> times[] = {{"90", 90},
                                                   {"90s", 90},
                                                   {"5m", 300},
                                                   {"2h", 7200},
                                                   {"3d", 259200},
                                                   {"1w", 604800},
                                                   {"1 DAYS 12 HOURS", 129600},
                                                   {"86400 SECONDS (1 DAY)", 86400}};
  for (const auto& [text, seconds] : times) {
    CAPTURE(text);
    CHECK(SetAttribute("TTL", text, &f).ok());
    CHECK(f.ttl_s == seconds);
  }
}

TEST_CASE("invalid attributes are refused with the allowed values, and change nothing") {
  const FamilyDescriptor before{"t"};
  const std::tuple<const char*, const char*, StatusCode> wrong[] = {
      {"VERSIONS", "0", StatusCode::kInvalidArgument},
      {"TTL", "-1", StatusCode::kInvalidArgument},
      {"TTL", "1x", StatusCode::kInvalidArgument},
      {"TTL", "3d4", StatusCode::kInvalidArgument},
      {"TTL", "9999999999d", StatusCode::kInvalidArgument},
      {"REPLICATION_SCOPE", "1", StatusCode::kUnsupported},
      {"KEEP_DELETED_CELLS", "TTL", StatusCode::kUnsupported},
      {"COMPRESSION", "LZO", StatusCode::kUnsupported},
      {"COMPRESSION", "LZ4", StatusCode::kUnsupported},
      {"DATA_BLOCK_ENCODING", "OTHER", StatusCode::kInvalidArgument},
      {"BLOOMFILTER", "ROWCOL", StatusCode::kUnsupported},
      {"BLOCKSIZE", "10", StatusCode::kInvalidArgument},
      {"IN_MEMORY", "1", StatusCode::kInvalidArgument},
      {"coprocessor$1", "|org.Example|1|", StatusCode::kInvalidArgument}};
  for (const auto& [name, text, code] : wrong) {
    CAPTURE(name);
    FamilyDescriptor f = before;
    const Status status = SetAttribute(name, text, &f);
    CHECK(status.code() == code);
    CHECK(status.message().find(name == std::string("coprocessor$1") ? name : text) !=
          std::string_view::npos);
    CHECK(f == before);
  }
}

std::string Message(const Status& status) { return std::string(status.message()); }

TEST_CASE("a split policy is set by HBase's names and described in the same form") {
  using Kind = TableSplitPolicy::Kind;
  const std::string package = "org.apache.hadoop.hbase.regionserver.";
  const std::tuple<const char*, const char*, Kind> known[] = {
      {"DisabledRegionSplitPolicy", "disabled", Kind::kDisabled},
      {"ConstantSizeRegionSplitPolicy", "ConstantSize", Kind::kConstantSize},
      {"IncreasingToUpperBoundRegionSplitPolicy", "IncreasingToUpperBound", Kind::kIncreasing},
      {"SteppingSplitPolicy", "Stepping", Kind::kStepping},
      {"KeyPrefixRegionSplitPolicy", "KeyPrefix", Kind::kKeyPrefix},
      {"DelimitedKeyPrefixRegionSplitPolicy", "DELIMITEDKEYPREFIX", Kind::kDelimitedKeyPrefix}};
  for (const auto& [name, short_name, kind] : known) {
    CAPTURE(name);
    for (const std::string& text : {package + name, std::string(name), std::string(short_name)}) {
      TableSplitPolicy policy;
      REQUIRE(SetSplitPolicy({{"SPLIT_POLICY", text}}, &policy).ok());
      CHECK(policy.kind == kind);
      CHECK(DescribeSplitPolicy(policy) == TableAttributes{{"SPLIT_POLICY", package + name}});
    }
  }
  CHECK(DescribeSplitPolicy({}).empty());
}

TEST_CASE("a new split policy does not keep the length or the delimiter of the previous one") {
  TableSplitPolicy policy;
  const TableAttributes by_prefix = {{"OWNER", "me"},
                                     {"KeyPrefixRegionSplitPolicy.prefix_length", "4"},
                                     {"SPLIT_POLICY", "KeyPrefix"}};
  REQUIRE(SetSplitPolicy(by_prefix, &policy).ok());
  CHECK(policy == TableSplitPolicy{TableSplitPolicy::Kind::kKeyPrefix, 4, ""});
  REQUIRE(SetSplitPolicy({{"KEYPREFIXREGIONSPLITPOLICY.PREFIX_LENGTH", "5"}}, &policy).ok());
  CHECK(policy == TableSplitPolicy{TableSplitPolicy::Kind::kKeyPrefix, 5, ""});
  REQUIRE(SetSplitPolicy({{"SPLIT_POLICY", "DelimitedKeyPrefix"},
                          {"DelimitedKeyPrefixRegionSplitPolicy.delimiter", "_"}},
                         &policy)
              .ok());
  CHECK(policy == TableSplitPolicy{TableSplitPolicy::Kind::kDelimitedKeyPrefix, 0, "_"});
  REQUIRE(SetSplitPolicy({{"SPLIT_POLICY", "DEFAULT"}}, &policy).ok());
  CHECK(policy == TableSplitPolicy());
}

TEST_CASE("an invalid split policy is refused, and the error names the attribute") {
  using Kind = TableSplitPolicy::Kind;
  TableSplitPolicy policy;
  const Status unknown = SetSplitPolicy({{"SPLIT_POLICY", "BusyRegionSplitPolicy"}}, &policy);
  CHECK(unknown.code() == StatusCode::kUnsupported);
  CHECK(Message(unknown).find("SPLIT_POLICY 'BusyRegionSplitPolicy'") != std::string::npos);
  for (const char* length : {"0", "-1", "32768", "4x", ""}) {
    const Status status =
        SetSplitPolicy({{"KeyPrefixRegionSplitPolicy.prefix_length", length}}, &policy);
    CHECK(status.code() == StatusCode::kInvalidArgument);
  }
  CHECK(policy == TableSplitPolicy());
  const auto refusal = [](const TableSplitPolicy& wrong, bool points) {
    TableDescriptor table{"t", {{"t"}}, points};
    table.split_policy = wrong;
    const Status status = CheckDescriptor(table);
    CHECK(status.code() == StatusCode::kInvalidArgument);
    return Message(status);
  };
  CHECK(refusal({Kind::kKeyPrefix, 0, ""}, false).find("prefix_length '0'") != std::string::npos);
  CHECK(refusal({Kind::kConstantSize, 4, ""}, false).find("prefix_length '4'") !=
        std::string::npos);
  CHECK(refusal({Kind::kDelimitedKeyPrefix, 0, ""}, false).find("delimiter ''") !=
        std::string::npos);
  CHECK(refusal({Kind::kDelimitedKeyPrefix, 0, Bytes(256, 'x')}, false).find("255") !=
        std::string::npos);
  CHECK(refusal({Kind::kDisabled, 0, "_"}, false).find("delimiter '_'") != std::string::npos);
  CHECK(refusal({Kind::kKeyPrefix, 4, ""}, true).find("table of points") != std::string::npos);
  TableDescriptor points{"t", {{"t"}}, true};
  points.split_policy.kind = Kind::kDisabled;
  CHECK(CheckDescriptor(points).ok());
}

TEST_CASE("table names may have a namespace, and the default namespace may be omitted") {
  CHECK(*TableName("t") == "t");
  CHECK(*TableName("default:t") == "t");
  CHECK(*TableName("a.b:t-1_x") == "a.b:t-1_x");
  for (const char* bad : {"", ":", "a:", ":t", "a:b:c", "-t", "a b", ".t", "t\n"}) {
    CHECK_FALSE(TableName(bad).ok());
  }
}

TEST_CASE("a descriptor has one to sixteen families with unique printable names") {
  const auto check = [](std::vector<FamilyDescriptor> families) {
    return CheckDescriptor({"t", std::move(families), false}).ok();
  };
  CHECK(check({{"a"}}));
  CHECK_FALSE(check({}));
  CHECK_FALSE(check({{"a"}, {"a"}}));
  CHECK_FALSE(check({{""}}));
  for (const char* bad : {"a:b", "a/b", "a\\b", ".a", "recovered.edits"}) {
    CHECK_FALSE(check({{bad}}));
  }
  CHECK_FALSE(check({{"a\n"}}));
  CHECK(check({{Bytes(127, 'f')}}));
  CHECK_FALSE(check({{Bytes(128, 'f')}}));
  std::vector<FamilyDescriptor> many;
  for (char c = 'a'; c < 'a' + 16; ++c) many.push_back({Bytes(1, c)});
  CHECK(check(many));
  many.push_back({"z"});
  CHECK_FALSE(check(many));
}

}  // namespace
}  // namespace hg::lsm
