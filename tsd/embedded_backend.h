#pragma once
// Our own engine as the program's store.

#include "storage/base/clock.h"
#include "tsd/backend.h"

namespace hg::tsd {

/// A BackendOpener for tsd.storage.backend = embedded. InvalidArgument: a setting is wrong, or
/// the directory was made with another layout.
Result<std::unique_ptr<Backend>> OpenEmbeddedBackend(const Config& config, const std::string& words,
                                                     StoreUse use = StoreUse::kWork);
/// The same by another clock than the machine's, which outlives it.
Result<std::unique_ptr<Backend>> OpenEmbeddedBackendBy(const Clock& clock, const Config& config,
                                                       const std::string& words, StoreUse use);

}  // namespace hg::tsd
