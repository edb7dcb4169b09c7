#include "tsd/rollup_settings.h"

#include <string>
#include <utility>

#include "tsd/rollup_config.h"
#include "tsd/setting_values.h"
#include "tsd/tables.h"

namespace hg::tsd {

Result<std::optional<RollupIngestOptions>> ReadRollupOptions(const Config& config) {
  if (!config.Bool("tsd.rollups.enable")) return std::optional<RollupIngestOptions>();
  if (!config.Has("tsd.rollups.config"))
    return Status::InvalidArgument("setting tsd.rollups.enable = \"" +
                                   config.String("tsd.rollups.enable") +
                                   "\" needs tsd.rollups.config, which defines the rollups");
  RollupIngestOptions options;
  ASSIGN_OR_RETURN(const std::string text, config.JsonText("tsd.rollups.config"));
  ASSIGN_OR_RETURN(options.tables, ParseRollupConfig(text));
  options.aggregate_key = config.String("tsd.rollups.agg_tag_key");
  if (config.Bool("tsd.rollups.tag_raw"))
    options.raw_value = config.String("tsd.rollups.raw_agg_tag_value");
  options.block_derived = config.Bool("tsd.rollups.block_derived");
  options.automatic = config.Bool("tsd.rollups.automatic");
  return std::optional<RollupIngestOptions>(std::move(options));
}

Result<std::optional<AutomaticRollups>> ReadAutomaticRollups(const Config& config) {
  if (!config.Bool("tsd.rollups.automatic")) return std::optional<AutomaticRollups>();
  const auto refuse = [&config](const std::string& why) {
    return Status::InvalidArgument("setting tsd.rollups.automatic = \"" +
                                   config.String("tsd.rollups.automatic") + "\" " + why);
  };
  ASSIGN_OR_RETURN(std::optional<RollupIngestOptions> rollups, ReadRollupOptions(config));
  if (!rollups) return refuse("needs tsd.rollups.enable and tsd.rollups.config");
  if (config.String("tsd.storage.backend") != "embedded") {
    return refuse("needs tsd.storage.backend = \"embedded\": over \"" +
                  config.String("tsd.storage.backend") +
                  "\" other daemons may write points without the knowledge of this daemon");
  }
  ASSIGN_OR_RETURN(const int64_t ttl_s, config.Int("tsd.storage.ttl", 0, 0, kTtlForever));
  if (ttl_s > 0) {
    return refuse("cannot be combined with tsd.storage.ttl = \"" +
                  config.String("tsd.storage.ttl") +
                  "\", because expired points disappear without notice; use tsd.retention.config "
                  "instead");
  }
  AutomaticRollups options;
  options.tables = std::move(rollups->tables);
  options.state_table = RollupStateTable(config.String("tsd.storage.hbase.data_table"));
  ASSIGN_OR_RETURN(options.ids, RollupIds::Of(options.tables));
  RETURN_IF_ERROR(CheckAutomatic(options.tables, config.String("tsd.storage.hbase.data_table")));
  RETURN_IF_ERROR(ReadInt(config, "tsd.rollups.automatic.delay", 0, kIntMax, &options.delay_s));
  return std::optional<AutomaticRollups>(std::move(options));
}

}  // namespace hg::tsd
