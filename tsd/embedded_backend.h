#pragma once
// Opens the embedded engine as the store of the program.

#include "storage/base/clock.h"
#include "tsd/backend.h"

namespace hg::tsd {

/// The BackendOpener for tsd.storage.backend = embedded. InvalidArgument: a setting is invalid, or
/// the data directory was created with another key layout than that of the settings.
Result<std::unique_ptr<Backend>> OpenEmbeddedBackend(const Config& config, const std::string& words,
                                                     StoreUse use = StoreUse::kWork);
/// Opens the backend as OpenEmbeddedBackend does. The store uses `clock`. `clock` must outlive the
/// backend.
Result<std::unique_ptr<Backend>> OpenEmbeddedBackendBy(const Clock& clock, const Config& config,
                                                       const std::string& words, StoreUse use);

}  // namespace hg::tsd
