#include "tsd/session.h"

#include "storage/base/clock.h"
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
  ASSIGN_OR_RETURN(backend_, opener_(config_, words_, use));
  cells_ = std::make_unique<CountedStore>(backend_->cells());
  if (config_.Bool("tsd.core.meta.enable_realtime_uid")) {
    // The id is good without its object, so a failure here fails nobody.
    names.assigned = [&store = *cells_, table = uid_table()](UidKind kind, const Bytes& id) {
      (void)uid::StoreFreshUidMeta(store, table, kind, id, SystemClock().NowMs() / 1000);
    };
  }
  names_ = std::make_unique<uid::Names>(*cells_, std::move(names));
  return {};
}

Status Session::Close() {
  if (!backend_) return {};
  names_.reset();
  cells_.reset();
  Status closed = backend_->Close();
  backend_.reset();
  return closed;
}

const std::string& Session::data_table() const {
  return config_.String("tsd.storage.hbase.data_table");
}
const std::string& Session::uid_table() const {
  return config_.String("tsd.storage.hbase.uid_table");
}

}  // namespace hg::tsd
