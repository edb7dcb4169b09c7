#pragma once
// A cell store and a point store over the map of tests/support/model_store.h. Between two starts,
// the content is stored in the file "model.txt" below tsd.storage.path.

#include "tsd/backend.h"

namespace hg::tsd {

/// Creates the tables of OpenTSDB that are missing.
Status CreateTables(const Config& config, Store& store);

/// A function that wraps `model` in another store. The returned store owns the objects that it
/// needs; the function creates the tables.
using DoorMaker = std::function<Result<std::shared_ptr<Store>>(Store& model)>;

/// Opens the same backend as OpenModelBackend. All calls go through the store that `door` makes
/// around the model.
Result<std::unique_ptr<Backend>> OpenModelBackendThrough(const Config& config,
                                                         const DoorMaker& door);

/// A BackendOpener over the model. Opening loads the content from the file, and Backend::Close
/// saves the content. A crash loses the changes since the opening. The folder is not locked.
Result<std::unique_ptr<Backend>> OpenModelBackend(const Config& config, const std::string& words,
                                                  StoreUse use);

}  // namespace hg::tsd
