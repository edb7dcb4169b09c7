// A gateway without HBase, over a store in memory, as a separate process. So the daemon can be
// killed while "HBase" continues, and HBase can be unreachable while the daemon continues.
//
// hbase_gateway AWAY      prints its port and serves until the end of its standard input; while the
// file AWAY exists, each call loses its connection

#include <filesystem>
#include <iostream>
#include <string>

#include "tests/support/hbase/gateway.h"
#include "tests/support/model_store.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: hbase_gateway AWAY\n";
    return 2;
  }
  const std::filesystem::path away = argv[1];
  hg::ModelStore model;
  hg::hbase::GatewayOptions options;
  options.hook = [&](const std::string&, hg::hbase::Stage) {
    std::error_code ignored;
    return std::filesystem::exists(away, ignored) ? hg::hbase::Fate::kDrop : hg::hbase::Fate::kGoOn;
  };
  hg::hbase::FakeGateway gateway([&]() -> hg::Store& { return model; }, options);
  std::cout << gateway.port() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}
