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
