#pragma once
// The engine that the settings ask for.

#include "tsd/backend.h"

namespace hg::tsd {

/// A BackendOpener: tsd.storage.backend says which. InvalidArgument: it names none.
Result<std::unique_ptr<Backend>> OpenBackend(const Config& config, const std::string& words,
                                             StoreUse use);

}  // namespace hg::tsd
