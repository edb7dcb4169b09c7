#pragma once
// A backend for tests: a cell store and a point store whose data is in a ModelStore. Between two
// starts, the content is stored in the file "model.txt" in the folder tsd.storage.path.

#include "tsd/backend.h"

namespace hg::tsd {

/// Creates those tables of OpenTSDB that do not exist in `store`.
Status CreateTables(const Config& config, Store& store);

/// A function that returns a store through which the backend accesses `model`. The returned store
/// must own all other objects that it needs. The function must also create the tables.
using DoorMaker = std::function<Result<std::shared_ptr<Store>>(Store& model)>;

/// Opens the same backend as OpenModelBackend, but all calls go through the store that `door`
/// returns.
Result<std::unique_ptr<Backend>> OpenModelBackendThrough(const Config& config,
                                                         const DoorMaker& door);

/// A BackendOpener for the model. Opening the backend loads the content from the file, and
/// Backend::Close saves the content. A crash loses the changes since the opening. The folder is not
/// locked.
Result<std::unique_ptr<Backend>> OpenModelBackend(const Config& config, const std::string& words,
                                                  StoreUse use);

}  // namespace hg::tsd
