#include "tsd/known_settings.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace hg::tsd {
namespace {

const std::filesystem::path kSources = HG_SOURCE_DIR;

std::string TextOf(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  std::stringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

std::string Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" `");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" `") - begin + 1));
}

struct Row {
  std::string default_value;
  std::string text;
};

/// The manual's table: key → default and text.
std::map<std::string, Row> ManualRows() {
  std::map<std::string, Row> rows;
  std::istringstream manual(TextOf(kSources / "docs/settings.md"));
  for (std::string line; std::getline(manual, line);) {
    if (!line.starts_with("| `tsd.")) continue;
    const size_t first = line.find('|', 1);
    const size_t second = line.find('|', first + 1);
    const std::string key = Trimmed(line.substr(1, first - 1));
    CHECK_MESSAGE(!rows.contains(key), key, " stands twice in the manual");
    rows[key] = {Trimmed(line.substr(first + 1, second - first - 1)),
                 Trimmed(line.substr(second + 1, line.rfind('|') - second - 1))};
  }
  return rows;
}

TEST_CASE("manual and program know the same settings, defaults and reasons") {
  std::map<std::string, Row> rows = ManualRows();
  for (const KnownSetting& known : KnownSettings()) {
    const std::string key(known.key);
    CAPTURE(key);
    const auto row = rows.find(key);
    REQUIRE_MESSAGE(row != rows.end(), "not in docs/settings.md");
    CHECK(row->second.default_value == known.default_value);
    if (known.no_effect.empty()) {
      CHECK_FALSE(row->second.text.empty());
      CHECK_FALSE(row->second.text.starts_with("No effect"));
    } else {
      CHECK(row->second.text == "No effect: " + std::string(known.no_effect) + ".");
    }
    rows.erase(row);
  }
  for (const auto& [key, row] : rows) FAIL_CHECK("the program does not know ", key);
}

TEST_CASE("a setting that is obeyed is read somewhere, one without effect nowhere") {
  std::string sources;
  for (const auto& file : std::filesystem::recursive_directory_iterator(kSources / "tsd")) {
    if (file.path().extension() == ".cc" && file.path().filename() != "known_settings.cc")
      sources += TextOf(file.path());
  }
  // Options of the command line that stand for settings without effect.
  const std::set<std::string_view> passed_on = {
      "tsd.network.async_io",         "tsd.core.flushinterval",      "tsd.http.cachedir",
      "tsd.storage.hbase.zk_basedir", "tsd.storage.hbase.zk_quorum",
  };
  for (const KnownSetting& known : KnownSettings()) {
    CAPTURE(std::string(known.key));
    const bool read = sources.find("\"" + std::string(known.key) + "\"") != std::string::npos;
    CHECK(read == (known.no_effect.empty() || passed_on.contains(known.key)));
  }
}

TEST_CASE("no setting is known twice") {
  std::set<std::string_view> keys;
  for (const KnownSetting& known : KnownSettings()) CHECK(keys.insert(known.key).second);
  CHECK(FindSetting("tsd.mode")->default_value == "rw");
  CHECK(FindSetting("tsd.no.such") == nullptr);
}

}  // namespace
}  // namespace hg::tsd
