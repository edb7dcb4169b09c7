#pragma once
// The names of character properties that Java's \p{…} knows, for java_dialect. Pure.

#include <optional>
#include <string>
#include <string_view>

namespace hg::uid {

/// The property as the inside of a PCRE2 bracket expression; none: Java knows no such name, or it
/// is a block that has no range here. Names of scripts are passed on, for PCRE2 to refuse.
std::optional<std::string> JavaPropertySet(std::string_view name);

}  // namespace hg::uid
