#pragma once
// Runs commands of the program `tsdb` with the ModelStore as the store.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/model_backend.h"
#include "tests/support/tool_program.h"
#include "tsd/counted_store.h"

namespace hg::tsd {

class ModelProgram : public ToolProgram {
 public:
  explicit ModelProgram(const std::string& settings = "")
      : ToolProgram(OpenModelBackend, settings) {}
};

/// Called with a row that a scan has read, and with the store, before the tool gets the row.
using RowWatch = std::function<void(Store& store, const Row& row)>;

/// A store in which other clients change data during a scan: the watch makes their changes. A fetch
/// of a scan returns one row.
class WatchedStore : public CountedStore {
 public:
  WatchedStore(Store& store, RowWatch watch)
      : CountedStore(store), store_(store), watch_(std::move(watch)) {}

  Result<std::unique_ptr<ScanCursor>> Scan(const ScanSpec& spec) override {
    ScanSpec one = spec;
    one.batch_rows = 1;
    ASSIGN_OR_RETURN(auto cursor, CountedStore::Scan(one));
    return std::unique_ptr<ScanCursor>(std::make_unique<Cursor>(std::move(cursor), *this));
  }

 private:
  class Cursor : public ScanCursor {
   public:
    Cursor(std::unique_ptr<ScanCursor> cursor, const WatchedStore& store)
        : cursor_(std::move(cursor)), store_(store) {}
    Status Next(std::vector<Row>* rows) override {
      RETURN_IF_ERROR(cursor_->Next(rows));
      for (const Row& row : *rows) store_.watch_(store_.store_, row);
      return {};
    }

   private:
    const std::unique_ptr<ScanCursor> cursor_;
    const WatchedStore& store_;
  };

  Store& store_;
  const RowWatch watch_;
};

/// A program whose store is a WatchedStore. The watch must outlive the program.
class WatchedProgram : public ToolProgram {
 public:
  explicit WatchedProgram(const RowWatch& watch)
      : ToolProgram(
            [&watch](const Config& config, const std::string&, StoreUse) {
              return OpenModelBackendThrough(
                  config, [&](Store& model) -> Result<std::shared_ptr<Store>> {
                    RETURN_IF_ERROR(CreateTables(config, model));
                    return std::shared_ptr<Store>(std::make_shared<WatchedStore>(
                        model, [&watch](Store& store, const Row& row) {
                          if (watch) watch(store, row);
                        }));
                  });
            },
            "") {}
};

}  // namespace hg::tsd
