#pragma once
// Names of tables: "table", or "namespace:table".

#include <string_view>

namespace hg {

/// The same table under its shortest name: "default:" in front of it says nothing.
inline std::string_view WithoutDefaultNamespace(std::string_view table) {
  constexpr std::string_view kDefault = "default:";
  if (table.starts_with(kDefault)) table.remove_prefix(kDefault.size());
  return table;
}

}  // namespace hg
