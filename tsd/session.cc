#include "tsd/session.h"

#include "storage/base/clock.h"
#include "tsd/log.h"
#include "tsd/rollup_settings.h"
#include "tsd/settings.h"
#include "uid/metadata.h"

namespace hg::tsd {

Session::~Session() { (void)Close(); }

Status Session::Open(StoreUse use) {
  ASSIGN_OR_RETURN(layout_, ReadKeyLayout(config_));
  ASSIGN_OR_RETURN(uid::NamesOptions names, ReadNamesOptions(config_));
  ASSIGN_OR_RETURN(name_filter_, ReadNameFilter(config_));
  if (name_filter_) {
    names.may_assign = [this](UidKind kind, std::string_view name) {
      return name_filter_->Allows(kind, name);
    };
  }
  ASSIGN_OR_RETURN(automatic_, ReadAutomaticRollups(config_));
  ASSIGN_OR_RETURN(backend_, opener_(config_, words_, use));
  if (const Status opened = OpenRollups(use); !opened.ok()) {
    (void)backend_->Close();
    backend_.reset();
    return opened;
  }
  cells_ = std::make_unique<CountedStore>(backend_->cells());
  if (config_.Bool("tsd.core.meta.enable_realtime_uid")) {
    // The id is valid without its metadata, so a failure here is ignored.
    names.assigned = [table = uid_table()](UidKind kind, const Bytes& id, Store& store) {
      (void)uid::StoreFreshUidMeta(store, table, kind, id, SystemClock().NowMs() / 1000);
    };
  }
  names.ids_used_up = [this](UidKind, const Status& refusal) {
    if (ids_used_up_.Due()) LogError("uid", "new names are refused", {LogField(refusal)});
  };
  RETURN_IF_ERROR(LimitNames(use, &names));
  names_ = std::make_unique<uid::Names>(*cells_, std::move(names));
  return {};
}

Status Session::LimitNames(StoreUse use, uid::NamesOptions* names) {
  ASSIGN_OR_RETURN(const uint64_t memory_bytes, ReadMemoryLimit(config_));
  // The limit for the cached names of one kind.
  names->cache.bytes_max = memory_bytes / 32;
  names->may_grow = [this](uint64_t bytes) { return backend_->MayAddSeries(bytes); };
  if (use == StoreUse::kServe) names->cache.charged = backend_->name_bytes();
  return {};
}

Status Session::OpenRollups(StoreUse use) {
  WatchedPoints* const watched = backend_->watched();
  if (!automatic_) {
    const std::string table = RollupStateTable(data_table());
    const bool had = watched != nullptr && backend_->cells().DescribeTable(table).ok();
    if (!had || use == StoreUse::kLook) return {};
    RETURN_IF_ERROR(RollupState::TellMissed(backend_->cells(), table));
    if (use != StoreUse::kServe) return {};
    ASSIGN_OR_RETURN(ended_rollups_, EndedRollups::Open(backend_->cells(), table));
    return {};
  }
  // Only a backend that uses the store of a running daemon may report no changes. The state of
  // rollups is then only read, because the daemon records the changes.
  if (watched == nullptr && !backend_->beside_daemon()) {
    return Status::Unsupported(
        "tsd.rollups.automatic cannot be used: this store does not report changes of old points");
  }
  std::vector<const codec::RollupLevel*> levels;
  for (const codec::RollupLevel& level : automatic_->tables.levels)
    if (!level.is_default) levels.push_back(&level);
  ASSIGN_OR_RETURN(rollups_,
                   RollupState::Open(backend_->cells(), automatic_->state_table, std::move(levels),
                                     {automatic_->ids, ReadReconcileOptions(config_)}));
  if (watched != nullptr) {
    watched->Listen(rollups_);
    watched->RaiseHorizon(rollups_->horizon());
  }
  return {};
}

Status Session::Close() {
  if (!backend_) return {};
  names_.reset();
  cells_.reset();
  ended_rollups_.reset();
  Status closed = backend_->Close();
  backend_.reset();
  rollups_.reset();
  return closed;
}

const std::string& Session::data_table() const {
  return config_.String("tsd.storage.hbase.data_table");
}
const std::string& Session::uid_table() const {
  return config_.String("tsd.storage.hbase.uid_table");
}

}  // namespace hg::tsd
