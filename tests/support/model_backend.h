#pragma once
// Both doors over the map of tests/support/model_store.h, kept in "model.txt" below
// tsd.storage.path between two runs.

#include "tsd/backend.h"

namespace hg::tsd {

/// A BackendOpener. What is held is read here and written at Close: nothing survives a crash, and
/// nothing is locked.
Result<std::unique_ptr<Backend>> OpenModelBackend(const Config& config, const std::string& words,
                                                  StoreUse use);

}  // namespace hg::tsd
