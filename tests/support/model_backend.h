#pragma once
// A cell store and a point store over the map of tests/support/model_store.h. The content is kept
// in "model.txt" below tsd.storage.path between two starts.

#include "tsd/backend.h"

namespace hg::tsd {

/// Creates the missing tables of OpenTSDB.
Status CreateTables(const Config& config, Store& store);

/// Wraps `model` in another store, which owns the objects that it needs and creates the tables.
using DoorMaker = std::function<Result<std::shared_ptr<Store>>(Store& model)>;

/// Like OpenModelBackend, but all calls go through the store that `door` makes around the model.
Result<std::unique_ptr<Backend>> OpenModelBackendThrough(const Config& config,
                                                         const DoorMaker& door);

/// A BackendOpener. Opening loads the content, and Backend::Close saves it. Changes since the
/// opening are lost in a crash, and the folder is not locked.
Result<std::unique_ptr<Backend>> OpenModelBackend(const Config& config, const std::string& words,
                                                  StoreUse use);

}  // namespace hg::tsd
