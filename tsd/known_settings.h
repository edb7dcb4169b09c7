#pragma once
// All settings of the program: OpenTSDB's (opentsdb-schema.md §19.2) and Hourglass's own. Each has
// a default, a description and, if it has no effect, the reason for that. The table of
// docs/settings.md is generated from these texts.

#include <span>
#include <string>
#include <string_view>

namespace hg::tsd {

struct KnownSetting {
  std::string_view key;
  std::string_view default_value;
  std::string_view meaning;         // Markdown, full sentences; empty: the setting has no effect
  std::string_view no_effect = {};  // why the setting has no effect; empty: it has an effect
};

/// Returns all settings, in the order of the manual.
std::span<const KnownSetting> KnownSettings();

/// Returns the setting with this key, or nullptr if there is none.
const KnownSetting* FindSetting(std::string_view key);

/// Returns a Markdown table with a row for each setting: key, default, meaning. Ends with a
/// newline.
std::string SettingsTable();

}  // namespace hg::tsd
