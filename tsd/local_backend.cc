#include "tsd/local_backend.h"

#include "storage/local/local_maintenance.h"
#include "storage/local/local_store.h"
#include "storage/points/points_over_cells.h"
#include "tsd/settings.h"

namespace hg::tsd {
namespace {

class LocalBackend : public Backend {
 public:
  LocalBackend(const std::string& folder, std::unique_ptr<Store> store,
               points::PointsOverCellsOptions options)
      : store_(std::move(store)), points_(store_.get(), std::move(options)), maintenance_(folder) {}

  Store& cells() override { return *store_; }
  Points& points() override { return points_; }
  Maintenance* maintenance() override { return &maintenance_; }
  [[nodiscard]] bool beside_daemon() const override { return true; }
  Status Close() override { return {}; }  // the daemon has made acknowledged data durable

 private:
  const std::unique_ptr<Store> store_;
  points::PointsOverCells points_;
  local::LocalMaintenance maintenance_;
};

}  // namespace

Result<std::unique_ptr<Backend>> OpenLocalBackend(const Config& config) {
  points::PointsOverCellsOptions options;
  ASSIGN_OR_RETURN(options.layout, ReadKeyLayout(config));
  options.table = config.String("tsd.storage.hbase.data_table");
  options.use_otsdb_timestamp = config.Bool("tsd.storage.use_otsdb_timestamp");
  options.enable_appends = config.Bool("tsd.storage.enable_appends");
  options.remote = true;
  const std::string& folder = config.String("tsd.storage.path");
  ASSIGN_OR_RETURN(auto store, local::LocalStore::Connect(folder, options.layout));
  return std::unique_ptr<Backend>(
      std::make_unique<LocalBackend>(folder, std::move(store), std::move(options)));
}

}  // namespace hg::tsd
