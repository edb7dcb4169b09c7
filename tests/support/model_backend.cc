#include "tests/support/model_backend.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "compaction/row_fold.h"
#include "storage/codec/row_key.h"
#include "storage/points/points_over_cells.h"
#include "tests/support/model_store.h"
#include "tsd/settings.h"
#include "tsd/tables.h"

namespace hg::tsd {
namespace {

/// Remembers which rows were written, as OpenTSDB's compaction queue does (spec schema.md §9.1).
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

  /// Of rows written so far.
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
  ModelBackend(std::string path, points::PointsOverCellsOptions options,
               compaction::RowFoldOptions fold)
      : path_(std::move(path)),
        points_(&store_, std::move(options)),
        fold_(&store_, std::move(fold), SystemClock()) {}

  Status Load(const Config& config) {
    Status loaded = store_.LoadFrom(path_);
    if (!loaded.ok() && loaded.code() != StatusCode::kNotFound) return loaded;
    return EnsureTables(config, store_);
  }

  Store& cells() override { return store_; }
  Points& points() override { return points_; }
  /// Written rows become one cell where they are old, so that what tools print of them is what
  /// OpenTSDB's print. Rows that cannot be folded stay as they are.
  Status Close() override {
    for (const Bytes& key : points_.TakeWritten()) (void)fold_.FoldRow(key);
    return store_.SaveTo(path_);
  }

 private:
  const std::string path_;
  ModelStore store_;
  QueueingPoints points_;
  compaction::RowFold fold_;
};

}  // namespace

Result<std::unique_ptr<Backend>> OpenModelBackend(const Config& config,
                                                  const std::string& /*words*/, StoreUse /*use*/) {
  const std::string& directory = config.String("tsd.storage.path");
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return Status::IoError("cannot make " + directory + ": " + error.message());
  points::PointsOverCellsOptions options;
  ASSIGN_OR_RETURN(options.layout, ReadKeyLayout(config));
  options.table = config.String("tsd.storage.hbase.data_table");
  options.use_otsdb_timestamp = config.Bool("tsd.storage.use_otsdb_timestamp");
  options.enable_appends = config.Bool("tsd.storage.enable_appends");
  ASSIGN_OR_RETURN(compaction::RowFoldOptions fold, ReadRowFoldOptions(config));
  auto backend =
      std::make_unique<ModelBackend>(directory + "/model.txt", std::move(options), std::move(fold));
  RETURN_IF_ERROR(backend->Load(config));
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace hg::tsd
