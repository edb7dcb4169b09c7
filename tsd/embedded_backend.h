#pragma once
// The embedded engine as the store of the program.

#include "storage/base/clock.h"
#include "tsd/backend.h"

namespace hg::tsd {

/// The BackendOpener for tsd.storage.backend = embedded. InvalidArgument: a setting is wrong, or
/// the data directory was created with another key layout.
Result<std::unique_ptr<Backend>> OpenEmbeddedBackend(const Config& config, const std::string& words,
                                                     StoreUse use = StoreUse::kWork);
/// Like OpenEmbeddedBackend, but uses `clock`, which must outlive the backend.
Result<std::unique_ptr<Backend>> OpenEmbeddedBackendBy(const Clock& clock, const Config& config,
                                                       const std::string& words, StoreUse use);

}  // namespace hg::tsd
