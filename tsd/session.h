#pragma once
// What every command works with: the settings and, once opened, the store behind both doors with
// its names.

#include <memory>
#include <optional>
#include <string>

#include "storage/base/status.h"
#include "storage/model/key_layout.h"
#include "tsd/backend.h"
#include "tsd/config.h"
#include "tsd/counted_store.h"
#include "tsd/rollup/automatic_rollups.h"
#include "tsd/rollup/ended_rollups.h"
#include "tsd/rollup/rollup_state.h"
#include "uid/name_filter.h"
#include "uid/names.h"

namespace hg::tsd {

/// One thread opens and closes it; what it gives out is thread-safe in between.
class Session {
 public:
  /// `words` tell whoever finds the data directory in use what this process is. Borrows both
  /// references.
  Session(const Config& config, const BackendOpener& opener, std::string words)
      : config_(config), opener_(opener), words_(std::move(words)) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens the store. Busy: another process has the data directory; the message says which.
  Status Open(StoreUse use = StoreUse::kWork);
  /// Clean stop; ok if it was not open. Destroying an open session closes it, too.
  Status Close();

  [[nodiscard]] const Config& config() const { return config_; }
  /// With which a command opens stores beside this one.
  [[nodiscard]] const BackendOpener& opener() const { return opener_; }
  // Only between Open and Close:
  Backend& backend() { return *backend_; }
  Store& cells() { return *cells_; }
  /// What was asked of it so far.
  [[nodiscard]] StoreCalls store_calls() const { return cells_->calls(); }
  Points& points() { return backend_->points(); }
  /// The same for query engines: hours may come from rollups there, which changes no answer.
  Points& read_points() { return rolled_points_ ? *rolled_points_ : points(); }
  uid::Names& names() { return *names_; }
  /// What this process knows of the rollups that it, or another before it, makes; its options.
  /// nullptr: they are not made.
  RollupState* rollups() { return rollups_.get(); }
  /// Those that were made of these points once, and are not by this process, which serves; nullptr:
  /// there are none.
  EndedRollups* ended_rollups() { return ended_rollups_.get(); }
  [[nodiscard]] const AutomaticRollups& automatic_rollups() const { return *automatic_; }
  /// Null: no filter is set.
  [[nodiscard]] const uid::NameFilter* name_filter() const { return name_filter_.get(); }
  [[nodiscard]] const KeyLayout& layout() const { return layout_; }
  [[nodiscard]] const std::string& data_table() const;
  [[nodiscard]] const std::string& uid_table() const;

 private:
  /// Points that tools write change rollups, too: whoever has the store, but not beside a daemon,
  /// is told of them.
  Status OpenRollups(StoreUse use);

  const Config& config_;
  const BackendOpener& opener_;
  const std::string words_;
  KeyLayout layout_;
  std::optional<AutomaticRollups> automatic_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<CountedStore> cells_;
  std::unique_ptr<uid::NameFilter> name_filter_;
  std::unique_ptr<uid::Names> names_;
  std::shared_ptr<RollupState> rollups_;
  std::unique_ptr<EndedRollups> ended_rollups_;
  std::unique_ptr<Points> rolled_points_;
};

}  // namespace hg::tsd
