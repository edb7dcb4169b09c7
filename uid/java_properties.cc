#include "uid/java_properties.h"

#include <utility>

#include "storage/model/letter_case.h"

namespace hg::uid {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

// Java's \p{…} names, each as the inside of a bracket expression.
constexpr Name kNamedSets[] = {
    {"Lower", "[:lower:]"},
    {"Upper", "[:upper:]"},
    {"Alpha", "[:alpha:]"},
    {"Digit", "[:digit:]"},
    {"Alnum", "[:alnum:]"},
    {"Punct", "[:punct:]"},
    {"Graph", "[:graph:]"},
    {"Print", "[:print:]"},
    {"Blank", "[:blank:]"},
    {"Cntrl", "[:cntrl:]"},
    {"XDigit", "[:xdigit:]"},
    {"Space", "[:space:]"},
    {"ASCII", "[:ascii:]"},
    {"L1", R"(\x{0}-\x{FF})"},
    {"all", R"(\x{0}-\x{10FFFF})"},
    {"LC", R"(\p{Lu}\p{Ll}\p{Lt})"},
    {"LD", R"(\p{L}\p{Nd})"},
    {"javaLowerCase", R"(\p{Lowercase})"},
    {"javaUpperCase", R"(\p{Uppercase})"},
    {"javaTitleCase", R"(\p{Lt})"},
    {"javaAlphabetic", R"(\p{Alphabetic})"},
    {"javaIdeographic", R"(\p{Ideographic})"},
    {"javaDigit", R"(\p{Nd})"},
    {"javaLetter", R"(\p{L})"},
    {"javaLetterOrDigit", R"(\p{L}\p{Nd})"},
    {"javaDefined", R"(\P{Cn})"},
    {"javaWhitespace", R"(\x{9}-\x{D}\x{1C}-\x{20}\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200A})"
                       R"(\x{2028}\x{2029}\x{205F}\x{3000})"},
    {"javaSpaceChar", R"(\p{Z})"},
    {"javaISOControl", R"(\x{0}-\x{1F}\x{7F}-\x{9F})"},
};

// Sets of \p{IsName} for names that PCRE2 does not know or reads differently. Other names, such as
// those of scripts, are passed to PCRE2.
constexpr Name kBinaryProperties[] = {
    {"letter", R"(\p{L})"},
    {"titlecase", R"(\p{Lt})"},
    {"control", R"(\p{Cc})"},
    {"punctuation", R"(\p{P})"},
    {"digit", R"(\p{Nd})"},
    {"assigned", R"(\P{Cn})"},
    {"alnum", R"(\p{Alphabetic}\p{Nd})"},
    {"blank", R"(\h)"},
    {"word", R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})"},
};

constexpr Name kBlocks[] = {
    {"basiclatin", R"(\x{0}-\x{7F})"},
    {"latin1supplement", R"(\x{80}-\x{FF})"},
    {"greek", R"(\x{370}-\x{3FF})"},
    {"cyrillic", R"(\x{400}-\x{4FF})"},
};

constexpr std::string_view kCategories[] = {
    "C",  "Cc", "Cf", "Cn", "Co", "Cs", "L",  "Ll", "Lm", "Lo", "Lt", "Lu", "M",
    "Mc", "Me", "Mn", "N",  "Nd", "Nl", "No", "P",  "Pc", "Pd", "Pe", "Pf", "Pi",
    "Po", "Ps", "S",  "Sc", "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs",
};

/// Returns the name in lower case without blanks, hyphens and underscores.
std::string Loose(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    out.push_back(LowerCase(c));
  }
  return out;
}

template <size_t N>
std::optional<std::string> Among(const Name (&names)[N], std::string_view name) {
  for (const auto& [known, set] : names)
    if (known == name) return std::string(set);
  return {};
}

std::optional<std::string> PcreProperty(std::string_view name) {
  if (name.empty()) return {};
  for (char c : name)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_') return {};
  return "\\p{" + std::string(name) + "}";
}

std::optional<std::string> Category(std::string_view name) {
  for (std::string_view known : kCategories)
    if (known == name) return "\\p{" + std::string(name) + "}";
  return {};
}

}  // namespace

std::optional<std::string> JavaPropertySet(std::string_view name) {
  if (const size_t equals = name.find('='); equals != std::string_view::npos) {
    const std::string kind = Loose(name.substr(0, equals));
    const std::string_view value = name.substr(equals + 1);
    if (kind == "sc" || kind == "script") return PcreProperty(value);
    if (kind == "gc" || kind == "generalcategory") return Category(value);
    if (kind == "blk" || kind == "block") return Among(kBlocks, Loose(value));
    return {};
  }
  if (name.starts_with("In")) return Among(kBlocks, Loose(name.substr(2)));
  if (name.starts_with("Is")) {
    const std::string_view rest = name.substr(2);
    if (auto set = Category(rest)) return set;
    if (auto set = Among(kBinaryProperties, Loose(rest))) return set;
    return PcreProperty(rest);
  }
  if (auto set = Among(kNamedSets, name)) return set;
  return Category(name);
}

}  // namespace hg::uid
