#pragma once
// Both doors over the map of tests/support/model_store.h, kept in "model.txt" below
// tsd.storage.path between two runs.

#include "tsd/backend.h"

namespace hg::tsd {

/// What stands between both doors and the model; it owns what it needs, and creates the tables.
using DoorMaker = std::function<Result<std::shared_ptr<Store>>(Store& model)>;

/// As OpenModelBackend, but everything goes through `door`.
Result<std::unique_ptr<Backend>> OpenModelBackendThrough(const Config& config,
                                                         const DoorMaker& door);

/// A BackendOpener. What is held is read here and written at Close: nothing survives a crash, and
/// nothing is locked.
Result<std::unique_ptr<Backend>> OpenModelBackend(const Config& config, const std::string& words,
                                                  StoreUse use);

}  // namespace hg::tsd
