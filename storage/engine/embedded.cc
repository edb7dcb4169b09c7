#include "storage/engine/embedded.h"

#include <mutex>

#include "storage/engine/embedded_points.h"
#include "storage/engine/embedded_store.h"
#include "storage/engine/engine.h"

namespace hg {
namespace {

class EmbeddedImpl : public Embedded, private Maintenance {
 public:
  explicit EmbeddedImpl(std::unique_ptr<engine::Engine> engine)
      : engine_(std::move(engine)), store_(*engine_), points_(*engine_) {}

  Store& cells() override { return store_; }
  Points& points() override { return points_; }
  WatchedPoints& watched() override { return points_; }
  Status MayAddSeries(uint64_t name_bytes) override { return engine_->MayAddSeries(name_bytes); }
  [[nodiscard]] EmbeddedStats Stats() const override { return engine_->Stats(); }
  Maintenance& maintenance() override { return *this; }
  Status Close() override { return engine_->Close(); }

 private:
  Result<CopyProgress> Backup(const std::string& folder, const CopyWatch& watch) override {
    return engine_->Backup(folder, [&](const CopyProgress& progress) {
      {
        std::lock_guard lock(progress_mutex_);
        progress_ = progress;
      }
      return !watch || watch(progress);
    });
  }
  [[nodiscard]] CopyProgress BackupProgress() const override {
    std::lock_guard lock(progress_mutex_);
    return progress_;
  }
  Result<CheckReport> Check(RequestContext* context) override { return engine_->Check(context); }
  Result<RepairReport> Repair() override { return engine_->Repair(); }

  const std::unique_ptr<engine::Engine> engine_;
  engine::EmbeddedStore store_;
  engine::EmbeddedPoints points_;
  mutable std::mutex progress_mutex_;
  CopyProgress progress_;  // guarded by progress_mutex_
};

}  // namespace

std::vector<TableDescriptor> EmbeddedOptions::DefaultTables(const std::string& data,
                                                            const std::string& uid,
                                                            const std::string& meta,
                                                            const std::string& tree) {
  return {{data, {{"t"}}, true},
          {uid, {{"id"}, {"name"}}, false},
          {meta, {{"name"}}, false},
          {tree, {{"t"}}, false}};
}

Result<std::unique_ptr<Embedded>> Embedded::Open(const EmbeddedOptions& options, FileSystem& files,
                                                 const Clock& clock) {
  ASSIGN_OR_RETURN(auto engine, engine::Engine::Open(options, files, clock));
  if (engine->points_table() == nullptr) {
    return Status::InvalidArgument(options.path +
                                   ": the points table (with column family 't') is missing");
  }
  return std::unique_ptr<Embedded>(std::make_unique<EmbeddedImpl>(std::move(engine)));
}

}  // namespace hg
