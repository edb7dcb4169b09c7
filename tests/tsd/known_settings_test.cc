#include "tsd/known_settings.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/file_text.h"

namespace hg::tsd {
namespace {

const std::filesystem::path kSources = HG_SOURCE_DIR;

TEST_CASE("the table in docs/settings.md equals the output of tsdb settings") {
  std::istringstream manual(TextOf(kSources / "docs/settings.md"));
  std::string table;
  for (std::string line; std::getline(manual, line);)
    if (line.starts_with("|")) table += line + "\n";
  // Line by line, so that a failure names the setting.
  std::istringstream told(table), known(SettingsTable());
  for (std::string expected, line; std::getline(known, expected);) {
    std::getline(told, line);
    CHECK(line == expected);
    if (line != expected) break;
  }
  CHECK(table == SettingsTable());
}

TEST_CASE("every known setting has either a meaning or a reason why it has no effect") {
  for (const KnownSetting& known : KnownSettings()) {
    CAPTURE(std::string(known.key));
    CHECK(known.meaning.empty() != known.no_effect.empty());
    CHECK((known.meaning.empty() || known.meaning.ends_with('.')));
    CHECK(known.meaning.find('|') == std::string_view::npos);
    CHECK(known.meaning.find('\n') == std::string_view::npos);
  }
}

TEST_CASE(
    "each setting with an effect is read in the sources, and no setting without an effect is") {
  std::string sources;
  for (const auto& file : std::filesystem::recursive_directory_iterator(kSources / "tsd")) {
    if (file.path().extension() == ".cc" && file.path().filename() != "known_settings.cc")
      sources += TextOf(file.path());
  }
  // These settings have no effect, but the options of the command line set them.
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

TEST_CASE("no setting is listed twice") {
  std::set<std::string_view> keys;
  for (const KnownSetting& known : KnownSettings()) CHECK(keys.insert(known.key).second);
  CHECK(FindSetting("tsd.mode")->default_value == "rw");
  CHECK(FindSetting("tsd.no.such") == nullptr);
}

}  // namespace
}  // namespace hg::tsd
