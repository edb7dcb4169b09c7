#include "tsd/config.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hg::tsd {
namespace {

/// A file that is removed at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("config_test." + std::to_string(getpid()) + ".conf")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Config Loaded(const std::string& text) {
  TemporaryFile file(text);
  Result<Config> config = Config::Load(file.path());
  REQUIRE(config.ok());
  return *config;
}

TEST_CASE("defaults are OpenTSDB's, with a few intended exceptions") {
  const Config config;
  CHECK(config.String("tsd.network.port") == "4242");
  CHECK(config.String("tsd.network.bind") == "127.0.0.1");
  CHECK(config.Bool("tsd.http.request.enable_chunked"));
  CHECK(config.String("tsd.http.request.max_chunk") == "67108864");
  CHECK_FALSE(config.Bool("tsd.core.auto_create_metrics"));
  CHECK(config.Bool("tsd.core.auto_create_tagks"));
  CHECK(config.String("tsd.storage.hbase.data_table") == "tsdb");
}

TEST_CASE("the file overrides the defaults, and later settings override the file") {
  Config config = Loaded("tsd.network.port = 5000\ntsd.mode=ro\n");
  CHECK(config.String("tsd.network.port") == "5000");
  CHECK(config.String("tsd.mode") == "ro");
  config.Set("tsd.network.port", "6000");
  CHECK(config.String("tsd.network.port") == "6000");
}

TEST_CASE("a file that was named must be readable") {
  const auto config = Config::Load("/nowhere/opentsdb.conf");
  CHECK(config.status().code() == StatusCode::kIoError);
  CHECK(config.status().message().find("/nowhere/opentsdb.conf") != std::string::npos);
}

TEST_CASE("without a path the first readable default file is read") {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("config_test." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  std::ofstream("opentsdb.conf") << "tsd.mode = wo\n";
  const auto config = Config::Load("");
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
  REQUIRE(config.ok());
  CHECK(config->file() == "./opentsdb.conf");
  CHECK(config->String("tsd.mode") == "wo");
}

TEST_CASE("an empty file is accepted") { CHECK_FALSE(Loaded("").file().empty()); }

TEST_CASE("settings without effect are listed with their reasons and kept") {
  Config config = Loaded(
      "tsd.no.such = 1\nhbase.rpcs.batch.size = 2\ntsd.mode = ro\ntsd.search.enable = false\n");
  config.Set("tsd.storage.hbase.zk_quorum", "a,b");
  CHECK(config.IneffectiveSettings() ==
        std::vector<Config::Ineffective>{
            {"hbase.rpcs.batch.size", "it configures the client library of HBase"},
            {"tsd.no.such", "Hourglass does not know this setting"},
            {"tsd.search.enable", "it configures Java plug-ins, which Hourglass cannot load"},
            {"tsd.storage.hbase.zk_quorum",
             "the daemon reaches HBase through its Thrift2 gateway, `tsd.storage.hbase.thrift`"}});
  CHECK(Config().IneffectiveSettings().empty());
  CHECK(config.String("tsd.no.such") == "1");
  CHECK(config.Shown().at("hbase.rpcs.batch.size") == "2");
}

TEST_CASE("true is 1, true or yes in any case and with surrounding blanks") {
  Config config;
  for (const char* yes : {"1", "true", "YES", " True "}) {
    config.Set("k", yes);
    CHECK(config.Bool("k"));
  }
  for (const char* no : {"0", "on", "", "truely"}) {
    config.Set("k", no);
    CHECK_FALSE(config.Bool("k"));
  }
}

TEST_CASE("an invalid number is refused with its key and value") {
  Config config;
  config.Set("k", " 42 ");
  CHECK(*config.Int("k", 7, 0) == 42);
  config.Set("k", "");
  CHECK(*config.Int("k", 7, 0) == 7);
  for (const char* bad : {"4x", "1.5", "-1", "99999999999999999999"}) {
    config.Set("k", bad);
    const auto value = config.Int("k", 7, 0, 100);
    CHECK(value.status().code() == StatusCode::kInvalidArgument);
    CHECK(value.status().message().find("k = \"" + std::string(bad) + "\"") != std::string::npos);
  }
  config.Set("k", "101");
  CHECK_FALSE(config.Int("k", 7, 0, 100).ok());
}

TEST_CASE("lists are separated by commas and trimmed") {
  Config config;
  config.Set("k", " a, b ,,c");
  CHECK(config.List("k") == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("values of credentials are not shown") {
  Config config;
  config.Set("tsd.my.PassWord", "secret");
  CHECK(config.Shown().at("tsd.my.PassWord") == "********");
  for (const char* key : {"tsd.my.SecretKey", "tsd.my.access_token", "tsd.my.credentials",
                          "tsd.search.api_key", "tsd.search.ApiKey"}) {
    config.Set(key, "secret");
    CHECK(config.Shown().at(key) == "********");
  }
  config.Set("tsd.network.tls.key", "/etc/key.pem");
  CHECK(config.Shown().at("tsd.network.tls.key") == "/etc/key.pem");
}

}  // namespace
}  // namespace hg::tsd
