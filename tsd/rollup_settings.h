#pragma once
// The settings of rollups that clients write and of automatic rollups. As in settings.h,
// InvalidArgument names key and value.

#include <optional>

#include "tsd/config.h"
#include "tsd/ingest/rollup_ingest.h"
#include "tsd/rollup/automatic_rollups.h"

namespace hg::tsd {

/// Returns nullopt if rollups are not configured.
Result<std::optional<RollupIngestOptions>> ReadRollupOptions(const Config& config);
/// Returns nullopt if automatic rollups are off.
Result<std::optional<AutomaticRollups>> ReadAutomaticRollups(const Config& config);

}  // namespace hg::tsd
