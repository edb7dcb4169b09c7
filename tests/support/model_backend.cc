#include "tests/support/model_backend.h"

#include <filesystem>

#include "storage/points/points_over_cells.h"
#include "tests/support/model_store.h"
#include "tsd/settings.h"
#include "tsd/tables.h"

namespace hg::tsd {
namespace {

class ModelBackend : public Backend {
 public:
  ModelBackend(std::string path, points::PointsOverCellsOptions options)
      : path_(std::move(path)), points_(&store_, std::move(options)) {}

  Status Load(const Config& config) {
    Status loaded = store_.LoadFrom(path_);
    if (!loaded.ok() && loaded.code() != StatusCode::kNotFound) return loaded;
    return EnsureTables(config, store_);
  }

  Store& cells() override { return store_; }
  Points& points() override { return points_; }
  Status Close() override { return store_.SaveTo(path_); }

 private:
  const std::string path_;
  ModelStore store_;
  points::PointsOverCells points_;
};

}  // namespace

Result<std::unique_ptr<Backend>> OpenModelBackend(const Config& config,
                                                  const std::string& /*words*/) {
  const std::string& directory = config.String("tsd.storage.path");
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return Status::IoError("cannot make " + directory + ": " + error.message());
  points::PointsOverCellsOptions options;
  ASSIGN_OR_RETURN(options.layout, ReadKeyLayout(config));
  options.table = config.String("tsd.storage.hbase.data_table");
  options.use_otsdb_timestamp = config.Bool("tsd.storage.use_otsdb_timestamp");
  options.enable_appends = config.Bool("tsd.storage.enable_appends");
  auto backend = std::make_unique<ModelBackend>(directory + "/model.txt", std::move(options));
  RETURN_IF_ERROR(backend->Load(config));
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace hg::tsd
