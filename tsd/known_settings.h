#pragma once
// All settings of the program: those of OpenTSDB (opentsdb-schema.md §19.2) and those of Hourglass.
// Each setting has a default and a description. A setting without effect has the reason why it has
// no effect. The table in docs/settings.md is generated from these texts.

#include <span>
#include <string>
#include <string_view>

namespace hg::tsd {

struct KnownSetting {
  std::string_view key;
  std::string_view default_value;
  /// Description in Markdown, in full sentences; empty: the setting has no effect.
  std::string_view meaning;
  /// The reason why the setting has no effect; empty: it has an effect.
  std::string_view no_effect = {};
};

/// Returns all settings, in the order of the settings page of the manual.
std::span<const KnownSetting> KnownSettings();

/// Returns the setting with this key, or nullptr if there is no such setting.
const KnownSetting* FindSetting(std::string_view key);

/// Returns a Markdown table with one row for each setting: key, default, meaning. The text ends
/// with a newline.
std::string SettingsTable();

}  // namespace hg::tsd
