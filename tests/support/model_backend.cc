#include "tests/support/model_backend.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "compaction/row_compactor.h"
#include "storage/codec/row_key.h"
#include "storage/points/points_over_cells.h"
#include "tests/support/model_store.h"
#include "tsd/settings.h"
#include "tsd/tables.h"

namespace hg::tsd {
namespace {

/// Remembers written rows like OpenTSDB's compaction queue (opentsdb-schema.md §9.1).
class QueueingPoints : public points::PointsOverCells {
 public:
  using PointsOverCells::PointsOverCells;

  Result<SeriesNumber> Register(ByteView tsuid) override {
    const Result<SeriesNumber> number = PointsOverCells::Register(tsuid);
    if (number.ok()) {
      const std::lock_guard lock(mutex_);
      tsuids_[*number] = Bytes(tsuid);
    }
    return number;
  }

  Result<LogPosition> Append(std::span<const PointEntry> batch) override {
    {
      const std::lock_guard lock(mutex_);
      for (const PointEntry& entry : batch)
        written_.insert(codec::MakeRowKey(layout(), tsuids_[entry.series], entry.base));
    }
    return PointsOverCells::Append(batch);
  }

  /// The rows written so far.
  std::set<Bytes> TakeWritten() {
    const std::lock_guard lock(mutex_);
    return std::exchange(written_, {});
  }

 private:
  std::mutex mutex_;
  std::map<SeriesNumber, Bytes> tsuids_;
  std::set<Bytes> written_;
};

class ModelBackend : public Backend {
 public:
  ModelBackend(std::string path, std::unique_ptr<ModelStore> model, std::shared_ptr<Store> door,
               points::PointsOverCellsOptions options, compaction::RowCompactorOptions compactor)
      : path_(std::move(path)),
        model_(std::move(model)),
        door_(std::move(door)),
        remote_(options.remote),
        points_(door_.get(), std::move(options)),
        compactor_(door_.get(), std::move(compactor), SystemClock()) {}

  Store& cells() override { return *door_; }
  Points& points() override { return points_; }
  [[nodiscard]] bool remote() const override { return remote_; }
  /// Compacts written rows that are old, so that tools print them like OpenTSDB's tools. Rows that
  /// cannot be compacted stay unchanged.
  Status Close() override {
    for (const Bytes& key : points_.TakeWritten()) (void)compactor_.CompactRow(key);
    return model_->SaveTo(path_);
  }

 private:
  const std::string path_;
  const std::unique_ptr<ModelStore> model_;
  const std::shared_ptr<Store> door_;
  const bool remote_;
  QueueingPoints points_;
  compaction::RowCompactor compactor_;
};

}  // namespace

Status CreateTables(const Config& config, Store& store) {
  ASSIGN_OR_RETURN(const std::vector<TableDescriptor> tables, DescribeTables(config));
  for (const TableDescriptor& table : tables) RETURN_IF_ERROR(store.CreateTable(table));
  return {};
}

Result<std::unique_ptr<Backend>> OpenModelBackend(const Config& config,
                                                  const std::string& /*words*/, StoreUse /*use*/) {
  return OpenModelBackendThrough(config, nullptr);
}

Result<std::unique_ptr<Backend>> OpenModelBackendThrough(const Config& config,
                                                         const DoorMaker& make_door) {
  const std::string& directory = config.String("tsd.storage.path");
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return Status::IoError("cannot make " + directory + ": " + error.message());
  points::PointsOverCellsOptions options;
  ASSIGN_OR_RETURN(options.layout, ReadKeyLayout(config));
  options.table = config.String("tsd.storage.hbase.data_table");
  options.use_otsdb_timestamp = config.Bool("tsd.storage.use_otsdb_timestamp");
  options.enable_appends = config.Bool("tsd.storage.enable_appends");
  ASSIGN_OR_RETURN(compaction::RowCompactorOptions compactor, ReadRowCompactorOptions(config));
  const std::string path = directory + "/model.txt";
  auto model = std::make_unique<ModelStore>();
  const Status loaded = model->LoadFrom(path);
  if (!loaded.ok() && loaded.code() != StatusCode::kNotFound) return loaded;
  std::shared_ptr<Store> door(std::shared_ptr<Store>(), model.get());
  if (make_door) {
    ASSIGN_OR_RETURN(door, make_door(*model));
    options.remote = true;
  } else {
    RETURN_IF_ERROR(CreateTables(config, *model));
  }
  return std::unique_ptr<Backend>(std::make_unique<ModelBackend>(
      path, std::move(model), std::move(door), std::move(options), std::move(compactor)));
}

}  // namespace hg::tsd
