#pragma once
// The names of character properties in Java's \p{…}. Only uid/java_dialect.cc uses this file.

#include <optional>
#include <string>
#include <string_view>

namespace hg::uid {

/// Returns a character property of Java as the inside of a PCRE2 bracket expression, for example
/// "[:lower:]" for "Lower". Returns nullopt if Java has no property with this name, or if the name
/// is that of a Unicode block whose range this function does not know. The function does not check
/// names of scripts; PCRE2 rejects unknown scripts.
std::optional<std::string> JavaPropertySet(std::string_view name);

}  // namespace hg::uid
