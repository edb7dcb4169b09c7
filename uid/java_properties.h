#pragma once
// The names of character properties in Java's \p{…}. Used by java_dialect.

#include <optional>
#include <string>
#include <string_view>

namespace hg::uid {

/// Returns the property as the inside of a PCRE2 bracket expression. Returns nullopt if Java has no
/// such name, or if it is the name of a block whose range is not known here. Names of scripts are
/// not checked here; PCRE2 rejects unknown ones.
std::optional<std::string> JavaPropertySet(std::string_view name);

}  // namespace hg::uid
