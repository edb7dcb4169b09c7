#pragma once
// Every setting that this program knows: OpenTSDB's (spec schema.md §19.2) and ours (design.md §3),
// with its default and, where it has none, why it has no effect. docs/settings.md says the same to
// people; a test compares the two.

#include <span>
#include <string_view>

namespace hg::tsd {

struct KnownSetting {
  std::string_view key;
  std::string_view default_value;
  std::string_view no_effect = {};  // why; empty = the setting is obeyed
};

/// In the order of the manual.
std::span<const KnownSetting> KnownSettings();

/// nullptr: no such setting.
const KnownSetting* FindSetting(std::string_view key);

}  // namespace hg::tsd
