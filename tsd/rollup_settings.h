#pragma once
// The settings of rollups, those that clients write and those of our own making. As settings.h:
// InvalidArgument names key and value.

#include <optional>

#include "tsd/config.h"
#include "tsd/ingest/rollup_ingest.h"
#include "tsd/rollup/automatic_rollups.h"

namespace hg::tsd {

/// None: rollups are not configured.
Result<std::optional<RollupIngestOptions>> ReadRollupOptions(const Config& config);
/// None: rollups are made by others, if there are any.
Result<std::optional<AutomaticRollups>> ReadAutomaticRollups(const Config& config);

}  // namespace hg::tsd
