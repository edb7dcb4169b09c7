#pragma once
// Functions for table names, which are "table" or "namespace:table".

#include <string_view>

namespace hg {

/// Removes the prefix "default:", because tables without a namespace are in the namespace
/// "default".
inline std::string_view WithoutDefaultNamespace(std::string_view table) {
  constexpr std::string_view kDefault = "default:";
  if (table.starts_with(kDefault)) table.remove_prefix(kDefault.size());
  return table;
}

}  // namespace hg
