#pragma once
// The state that every command has: the settings and, after Open, the store and the names of
// metrics and tags.

#include <memory>
#include <optional>
#include <string>

#include "storage/base/status.h"
#include "storage/model/key_layout.h"
#include "tsd/backend.h"
#include "tsd/config.h"
#include "tsd/counted_store.h"
#include "tsd/once_a_minute.h"
#include "tsd/rollup/automatic_rollups.h"
#include "tsd/rollup/ended_rollups.h"
#include "tsd/rollup/rollup_state.h"
#include "uid/name_filter.h"
#include "uid/names.h"

namespace hg::tsd {

/// The settings and the store of a command. One thread opens and closes the session. While the
/// session is open, any thread may use the objects that it returns.
class Session {
 public:
  /// `words` describe this process to other processes that find the data directory in use. `config`
  /// and `opener` must outlive the session.
  Session(const Config& config, const BackendOpener& opener, std::string words)
      : config_(config), opener_(opener), words_(std::move(words)) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens the store. Busy: another process uses the data directory; the error message describes
  /// that process.
  Status Open(StoreUse use = StoreUse::kWork);
  /// Closes the store cleanly. Returns OK if the store was not open. The destructor also calls this
  /// function.
  Status Close();

  [[nodiscard]] const Config& config() const { return config_; }
  /// Returns the function that opens stores. Commands use it to open further stores.
  [[nodiscard]] const BackendOpener& opener() const { return opener_; }
  // The following functions may be called only between Open and Close.
  Backend& backend() { return *backend_; }
  Store& cells() { return *cells_; }
  /// Returns the number of calls to the cell store so far, for each kind of call.
  [[nodiscard]] StoreCalls store_calls() const { return cells_->calls(); }
  Points& points() { return backend_->points(); }
  uid::Names& names() { return *names_; }
  /// Returns the state of automatic rollups, or nullptr if automatic rollups are off. Tools have
  /// this state, too, because they must record changed points, but only the daemon computes
  /// rollups.
  RollupState* rollups() { return rollups_.get(); }
  /// Returns the rollups that an earlier process computed and that this process does not continue.
  /// Returns nullptr if there are no such rollups, or if this process is not a daemon.
  EndedRollups* ended_rollups() { return ended_rollups_.get(); }
  [[nodiscard]] const AutomaticRollups& automatic_rollups() const { return *automatic_; }
  /// Returns the filter that decides which names may get ids. nullptr: every name may get an id.
  [[nodiscard]] const uid::NameFilter* name_filter() const { return name_filter_.get(); }
  [[nodiscard]] const KeyLayout& layout() const { return layout_; }
  [[nodiscard]] const std::string& data_table() const;
  [[nodiscard]] const std::string& uid_table() const;

 private:
  /// Opens the state of automatic rollups. If an old point changes, its rollups must be computed
  /// again, even if a tool wrote the point. Therefore, every process that opens the store directly
  /// must record changed points. If a process opens the store through a daemon, the daemon records
  /// the changes.
  Status OpenRollups(StoreUse use);
  /// Limits the memory of cached names. In a daemon, this memory also counts towards the memory
  /// limit of the store.
  Status LimitNames(StoreUse use, uid::NamesOptions* names);

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
  OnceAMinute ids_used_up_{SystemClock()};
};

}  // namespace hg::tsd
