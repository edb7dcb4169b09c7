#pragma once
// A data directory as tools find it while a daemon is running: the store is open, and a local
// socket in the directory serves the store to tools.

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "storage/local/local_server.h"
#include "tsd/counted_store.h"
#include "tsd/embedded_backend.h"

namespace hg::tsd {

/// A store that calls `meddle` before a tool changes a row by MutateIfUnchanged. At this time, the
/// tool has already read the row.
class MeddledStore : public CountedStore {
 public:
  using CountedStore::CountedStore;

  Result<bool> MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                 const std::string& table, const RowMutation& mutation) override {
    if (auto now = std::exchange(meddle, {})) now();
    return CountedStore::MutateIfUnchanged(family, cells, table, mutation);
  }

  std::function<void()> meddle;  // called once and then removed; may be empty
};

class RunningStore {
 public:
  explicit RunningStore(const std::string& folder) {
    Config config;
    config.Set("tsd.storage.path", folder);
    auto opened = OpenEmbeddedBackend(config, "a daemon", StoreUse::kServe);
    INFO(opened.status().ToString());
    REQUIRE(opened.ok());
    backend_ = std::move(*opened);
    store_ = std::make_unique<MeddledStore>(backend_->cells());
    local::LocalServerOptions options;
    options.folder = folder;
    options.maintenance = backend_->maintenance();
    auto started = local::LocalServer::Start([this]() -> Store& { return *store_; }, options);
    INFO(started.status().ToString());
    REQUIRE(started.ok());
    server_ = std::move(*started);
  }
  ~RunningStore() {
    server_->Stop();
    CHECK(backend_->Close().ok());
  }
  RunningStore(const RunningStore&) = delete;
  RunningStore& operator=(const RunningStore&) = delete;

  [[nodiscard]] MeddledStore& cells() { return *store_; }
  [[nodiscard]] Backend& backend() { return *backend_; }

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<MeddledStore> store_;
  std::unique_ptr<local::LocalServer> server_;
};

}  // namespace hg::tsd
