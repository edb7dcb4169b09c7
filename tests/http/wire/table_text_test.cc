#include "http/wire/table_text.h"

#include <doctest/doctest.h>

namespace hg::http {
namespace {

/// The table that the text creates, or the error.
std::string Shown(std::string_view text) {
  const auto change = ParseTableText(text);
  if (!change.ok()) return std::string(change.status().message());
  TableDescriptor table;
  table.name = "t";
  table.splits = change->splits;
  if (Status s = ChangeTable(*change, &table); !s.ok()) return std::string(s.message());
  std::string shown;
  for (const FamilyDescriptor& f : table.families)
    shown += f.name + " ttl=" + std::to_string(f.ttl_s) +
             " versions=" + std::to_string(f.versions) + "; ";
  for (const Bytes& key : table.splits) shown += key + ",";
  return shown;
}

constexpr std::string_view kPlain = "f1 ttl=180 versions=1; ";

TEST_CASE("families are read with and without quotes, blanks and braces") {
  for (const char* text :
       {"{NAME => 'f1', TTL => 180}", "{NAME=>f1,TTL=>180}", R"({NAME => "f1", TTL => "180"})",
        "NAME => 'f1', TTL => 180", "  { name=>'f1' ,ttl => '3m' }\n"}) {
    CAPTURE(text);
    CHECK(Shown(text) == kPlain);
  }
  CHECK(Shown("f1") == "f1 ttl=2147483647 versions=1; ");
  CHECK(Shown("'f1', {NAME => 'f2', VERSIONS => 3}, SPLITS => ['a', 'b']") ==
        "f1 ttl=2147483647 versions=1; f2 ttl=2147483647 versions=3; a,b,");
  CHECK(Shown(R"(f, {SPLITS => ["\x41", '\\', 'it\'s', ',']})").ends_with(R"(A,\,it's,,,)"));
  CHECK(
      Shown("f, {NUMREGIONS => 3, SPLITALGO => 'HexStringSplit'}").ends_with("55555555,aaaaaaaa,"));
}

TEST_CASE("the output of HBase's shell is read") {
  CHECK(Shown("{NAME => 'f1', VERSIONS => '2', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING "
              "=> 'NONE', TTL => '86400 SECONDS (1 DAY)', MIN_VERSIONS => '0', REPLICATION_SCOPE "
              "=> '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE', "
              "BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}") ==
        "f1 ttl=86400 versions=2; ");
}

TEST_CASE("attributes and values that the store lacks are refused, and the error names both") {
  const std::pair<const char*, const char*> refused[] = {
      {"{NAME => 'f', REPLICATION_SCOPE => '1'}", "REPLICATION_SCOPE '1'"},
      {"{NAME => 'f', COMPRESSION => 'LZO'}", "COMPRESSION 'LZO'"},
      {"{NAME => 'f', TTL => 'soon'}", "TTL 'soon'"},
      {"{NAME => 'f', COLOUR => 'red'}", "COLOUR 'red'"},
      {"f, MAX_FILESIZE => 134217728", "MAX_FILESIZE => '134217728'"},
      {"f, {SPLIT_POLICY => 'org.apache.X'}", "SPLIT_POLICY 'org.apache.X'"},
      {"f, METADATA => {'OWNER' => 'me'}", "OWNER => 'me'"},
      {"{NAME => 'f', TTL => ['1', '2']}", "TTL => '1, 2'"},
      {"f, {NUMREGIONS => 0, SPLITALGO => 'HexStringSplit'}", "NUMREGIONS '0'"},
      {"f, {NUMREGIONS => 2, SPLITALGO => 'DecimalStringSplit'}", "DecimalStringSplit"},
      {"f, {NAME => 'f'}", "'f' is named twice"},
      {"{NAME => 'f', METHOD => 'table_att'}", "METHOD => 'table_att'"},
      {"{NAME => 'none', METHOD => 'delete'}", "'none'"}};
  for (const auto& [text, word] : refused) {
    const std::string shown = Shown(text);
    CAPTURE(text);
    CAPTURE(shown);
    CHECK(shown.find(word) != std::string::npos);
  }
}

TEST_CASE("a split policy is read inside and outside of METADATA and braces, and written") {
  for (const char* text : {"f, SPLIT_POLICY => 'DelimitedKeyPrefix', "
                           "DelimitedKeyPrefixRegionSplitPolicy.delimiter => '\\x00,'",
                           "{NAME => 'f'}, {SPLIT_POLICY => DelimitedKeyPrefix, METADATA => "
                           "{'DelimitedKeyPrefixRegionSplitPolicy.delimiter' => '\\x00,'}}",
                           "CONFIGURATION => {DelimitedKeyPrefixRegionSplitPolicy.delimiter => "
                           "'\\x00,'}, SPLIT_POLICY => DelimitedKeyPrefix, NAME => 'f'"}) {
    CAPTURE(text);
    const auto change = ParseTableText(text);
    REQUIRE(change.ok());
    TableDescriptor table;
    REQUIRE(ChangeTable(*change, &table).ok());
    CHECK(table.families.size() == 1);
    CHECK(table.split_policy ==
          TableSplitPolicy{TableSplitPolicy::Kind::kDelimitedKeyPrefix, 0, Bytes("\0,", 2)});
    TableDescriptor again;
    REQUIRE(ChangeTable(*ParseTableText(TableText(table)), &again).ok());
    CHECK(again == table);
  }
}

TEST_CASE("an error of syntax names the place") {
  for (const char* text : {"", "{", "{}", "{NAME", "{NAME =>", "{NAME => 'f1'", "{NAME => 'f1}",
                           "f g", "f,", "f, METADATA => {", "f, METADATA => {a => b",
                           "f, SPLITS => ['a'", "{NAME => f1} {NAME => f2}", "f]"}) {
    CAPTURE(text);
    CHECK(Shown(text).starts_with("Invalid table description: "));
  }
  CHECK(Shown("{NAME => f1; TTL}").find("\"TTL}\"") != std::string::npos);
}

TEST_CASE("a table is created again from its text") {
  TableDescriptor table;
  table.families = {{"it's"}, {"f2"}};
  table.families[0].ttl_s = 180;
  table.families[1].keep_deleted_cells = true;
  table.splits = {"a", Bytes("\0'\\,", 4)};
  const auto change = ParseTableText(TableText(table));
  REQUIRE(change.ok());
  TableDescriptor again;
  REQUIRE(ChangeTable(*change, &again).ok());
  again.splits = change->splits;
  CHECK(again == table);
}

TEST_CASE("a change keeps the attributes that it does not name") {
  TableDescriptor table;
  REQUIRE(ChangeTable(*ParseTableText("{NAME => a, TTL => 9, VERSIONS => 2}, b"), &table).ok());
  REQUIRE(
      ChangeTable(*ParseTableText("{NAME => a, TTL => 1h}, {NAME => c}, 'delete' => 'b'"), &table)
          .ok());
  REQUIRE(table.families.size() == 2);
  CHECK(table.families[0].ttl_s == 3600);
  CHECK(table.families[0].versions == 2);
  CHECK(table.families[1].name == "c");
}

}  // namespace
}  // namespace hg::http
