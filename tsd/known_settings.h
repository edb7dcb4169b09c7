#pragma once
// Every setting that this program knows: OpenTSDB's (spec schema.md §19.2) and ours (design.md §3),
// with its default, what it means to people, and, where it has none, why it has no effect. The
// table of docs/settings.md is made of these texts.

#include <span>
#include <string>
#include <string_view>

namespace hg::tsd {

struct KnownSetting {
  std::string_view key;
  std::string_view default_value;
  std::string_view meaning;         // Markdown, in whole sentences; empty = without effect
  std::string_view no_effect = {};  // why; empty = the setting is obeyed
};

/// In the order of the manual.
std::span<const KnownSetting> KnownSettings();

/// nullptr: no such setting.
const KnownSetting* FindSetting(std::string_view key);

/// A table in Markdown, a row for each setting: key, default, meaning. Ends with a line end.
std::string SettingsTable();

}  // namespace hg::tsd
