#pragma once
// Reads the settings of rollups: of rollups that clients write, and of automatic rollups. As in
// settings.h, the message of InvalidArgument contains the key and the value.

#include <optional>

#include "tsd/config.h"
#include "tsd/ingest/rollup_ingest.h"
#include "tsd/rollup/automatic_rollups.h"

namespace hg::tsd {

/// Returns the options of rollups that clients write; nullopt if no rollups are configured.
Result<std::optional<RollupIngestOptions>> ReadRollupOptions(const Config& config);
/// Returns the options of automatic rollups; nullopt if automatic rollups are off.
Result<std::optional<AutomaticRollups>> ReadAutomaticRollups(const Config& config);

}  // namespace hg::tsd
