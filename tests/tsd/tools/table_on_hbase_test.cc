// `tsdb table` over HBase. A gateway over the model store stands for HBase.

#include <doctest/doctest.h>

#include "tests/support/hbase/gateway.h"
#include "tests/support/model_store.h"
#include "tests/support/tool_program.h"
#include "tsd/open_backend.h"

namespace hg::tsd {
namespace {

struct TableCluster {
  ModelStore model;
  hbase::FakeGateway gateway{[this]() -> Store& { return model; }, {}};
};

TEST_CASE("over HBase tables are created, altered, emptied and dropped through the gateway") {
  TableCluster cluster;
  const ToolProgram program(OpenBackend,
                            "tsd.storage.backend = hbase\n"
                            "tsd.storage.hbase.thrift = 127.0.0.1:" +
                                std::to_string(cluster.gateway.port()) + "\n");
  const auto run = [&program](std::vector<std::string> words) {
    words.insert(words.begin(), "table");
    return program.Run(std::move(words));
  };
  const Outcome created = run({"create", "t1", "{NAME=>f1,TTL=>180}", "f2"});
  INFO(created.err);
  REQUIRE(created.exit == 0);
  REQUIRE(run({"alter", "t1", "--family=f1", "--versions=3", "--delete-family=f2", "--yes"}).exit ==
          0);
  const auto table = cluster.model.DescribeTable("t1");
  REQUIRE(table.ok());
  REQUIRE(table->families.size() == 1);
  CHECK(table->families[0].ttl_s == 180);
  CHECK(table->families[0].versions == 3);
  CHECK(run({"describe", "t1"}).out.find(R"("TTL":"180")") != std::string::npos);
  REQUIRE(cluster.model.Mutate("t1", {{"row", {PutCell("f1", "q", "value")}}}).ok());
  CHECK(run({"regions", "t1", "--rows"}).out.find(R"("rows":1,"value_bytes":5,"share":1.0)") !=
        std::string::npos);
  const Outcome truncated = run({"truncate", "t1", "--yes"});
  INFO(truncated.err);
  CHECK(truncated.exit == 0);
  CHECK(cluster.model.Get("t1", "row")->empty());
  CHECK(cluster.model.DescribeTable("t1")->families[0].ttl_s == 180);
  CHECK(run({"truncate", "none", "--yes"}).exit == 1);
  CHECK(run({"drop", "t1", "--yes"}).exit == 0);
  CHECK(cluster.model.DescribeTable("t1").status().code() == StatusCode::kNotFound);
}

TEST_CASE("over HBase the tables of OpenTSDB are not dropped, because other daemons may use them") {
  TableCluster cluster;
  REQUIRE(cluster.model.CreateTable({"tsdb-meta", {{"name"}}, false}).ok());
  const ToolProgram program(OpenBackend,
                            "tsd.storage.backend = hbase\n"
                            "tsd.storage.hbase.thrift = 127.0.0.1:" +
                                std::to_string(cluster.gateway.port()) + "\n");
  const Outcome refused = program.Run({"table", "drop", "tsdb-meta", "--yes"});
  CHECK(refused.exit == 1);
  CHECK(refused.err.find("other daemons") != std::string::npos);
  CHECK(cluster.model.DescribeTable("tsdb-meta").ok());
}

}  // namespace
}  // namespace hg::tsd
