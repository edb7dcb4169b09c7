#include "uid/java_dialect.h"

#include <optional>
#include <utility>

#include "storage/base/hex_digit.h"
#include "uid/java_properties.h"

namespace hg::uid {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// In Java 17 \b uses letters and digits of any script, but \w only those of ASCII.
constexpr std::string_view kBoundary =
    R"((?:(?<=[\p{L}\p{Nd}_])(?![\p{L}\p{Nd}_])|(?<![\p{L}\p{Nd}_])(?=[\p{L}\p{Nd}_])))";
constexpr std::string_view kNoBoundary =
    R"((?:(?<=[\p{L}\p{Nd}_])(?=[\p{L}\p{Nd}_])|(?<![\p{L}\p{Nd}_])(?![\p{L}\p{Nd}_])))";

// Sets of characters are expressions that match exactly one character; "" = no set yet.

std::string Bracket(std::string_view items) { return "[" + std::string(items) + "]"; }

std::string Union(const std::string& a, const std::string& b) {
  return a.empty() ? b : "(?:" + a + "|" + b + ")";
}
std::string Intersection(const std::string& a, const std::string& b) {
  return "(?:(?=" + a + ")" + b + ")";
}
std::string Complement(const std::string& a) { return "(?:(?!" + a + R"()[\s\S]))"; }

class Translator {
 public:
  explicit Translator(std::string pattern) : pattern_(std::move(pattern)) {}

  Result<PcrePattern> Run() {
    while (!AtEnd()) {
      const char c = Take();
      if (c == '\\') {
        RETURN_IF_ERROR(EscapeOutside());
      } else if (c == '[') {
        ASSIGN_OR_RETURN(const std::string set, Class(true));
        out_.text += set;
      } else if (c == '(') {
        RETURN_IF_ERROR(Group());
      } else if (c == '{') {
        RETURN_IF_ERROR(Repetition());
      } else {
        out_.text.push_back(c);
      }
    }
    return std::move(out_);
  }

 private:
  // The result of an escape.
  enum class Meaning { kCharacter, kSet, kAssertion };
  struct Escaped {
    Meaning meaning = Meaning::kCharacter;
    std::string text;      // a character, the inside of a bracket expression, or an assertion
    bool negated = false;  // only for sets
  };

  [[nodiscard]] bool AtEnd() const { return at_ >= pattern_.size(); }
  [[nodiscard]] char Peek(size_t ahead = 0) const {
    return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0';
  }
  char Take() { return pattern_[at_++]; }
  [[nodiscard]] Status Wrong(std::string_view why) const {
    return Status::InvalidArgument(std::string(why) + " near byte " + std::to_string(at_));
  }

  Status EscapeOutside() {
    ASSIGN_OR_RETURN(const Escaped escaped, Escape());
    if (escaped.meaning == Meaning::kSet) {
      out_.text += "[" + std::string(escaped.negated ? "^" : "") + escaped.text + "]";
    } else {
      out_.text += escaped.text;
    }
    return {};
  }

  /// Parses the part after the backslash.
  Result<Escaped> Escape() {
    if (AtEnd()) return Wrong("a backslash without a character");
    const char c = Take();
    switch (c) {
      case 'd':
      case 'D':
      case 'w':
      case 'W':
      case 's':
      case 'S':
      case 'h':
      case 'H':
      case 'v':
      case 'V':
        return Escaped{Meaning::kSet, {'\\', c}};
      case 'a':
      case 'e':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        return Escaped{Meaning::kCharacter, {'\\', c}};
      case 'A':
      case 'G':
      case 'Z':
      case 'z':
      case 'R':
      case 'X':
        return Escaped{Meaning::kAssertion, {'\\', c}};
      case 'b':
        return Escaped{Meaning::kAssertion, std::string(kBoundary)};
      case 'B':
        return Escaped{Meaning::kAssertion, std::string(kNoBoundary)};
      case 'c':
        if (AtEnd()) return Wrong("a control character without its letter");
        return CodePoint(static_cast<unsigned char>(Take()) ^ 64U);
      case '0':
        return Octal();
      case 'x':
        return Hex();
      case 'u':
        return Utf16();
      case 'p':
      case 'P':
        return Property(c == 'P');
      case 'k':
        return NamedReference();
      default:
        break;
    }
    if (c >= '1' && c <= '9') return Reference(c - '0');
    if (IsLetter(c)) return Wrong("an escape sequence that is not known: \\" + std::string(1, c));
    return Escaped{Meaning::kCharacter, IsDigit(c) ? std::string(1, c) : Literal(c)};
  }

  /// Returns the character that begins with `c`. Reads its remaining UTF-8 bytes.
  std::string Literal(char c) {
    if (IsLetter(c) || IsDigit(c)) return {c};
    if (static_cast<unsigned char>(c) < 0x80) return {'\\', c};
    std::string out(1, c);
    while (IsContinuation(Peek())) out.push_back(Take());
    return out;
  }

  static Escaped CodePoint(uint32_t code) {
    static constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string hex;
    do hex.insert(hex.begin(), kDigits[code & 15]);
    while ((code >>= 4) != 0);
    return {Meaning::kCharacter, "\\x{" + hex + "}"};
  }

  Result<Escaped> Octal() {
    uint32_t code = 0;
    int digits = 0;
    for (; digits < 3 && Peek() >= '0' && Peek() <= '7' && code * 8 <= 0377; ++digits)
      code = code * 8 + static_cast<uint32_t>(Take() - '0');
    if (digits == 0) return Wrong("an octal escape without digits");
    return CodePoint(code);
  }

  Result<uint32_t> HexDigits(int count) {
    uint32_t code = 0;
    for (int i = 0; i < count; ++i) {
      if (!IsHex(Peek())) return Wrong("an escape that lacks hexadecimal digits");
      const char c = Take();
      code = code * 16 + static_cast<uint32_t>(IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return code;
  }

  Result<Escaped> Hex() {
    if (Peek() != '{') {
      ASSIGN_OR_RETURN(const uint32_t code, HexDigits(2));
      return CodePoint(code);
    }
    Take();
    uint32_t code = 0;
    while (IsHex(Peek()) && code <= 0x10FFFF) {
      ASSIGN_OR_RETURN(const uint32_t digit, HexDigits(1));
      code = code * 16 + digit;
    }
    if (Peek() != '}' || code > 0x10FFFF) return Wrong("an invalid hexadecimal escape");
    Take();
    return CodePoint(code);
  }

  /// Parses one UTF-16 unit, or two for a character beyond U+FFFF.
  Result<Escaped> Utf16() {
    ASSIGN_OR_RETURN(uint32_t code, HexDigits(4));
    if (code >= 0xD800 && code < 0xDC00 && Peek() == '\\' && Peek(1) == 'u') {
      at_ += 2;
      ASSIGN_OR_RETURN(const uint32_t low, HexDigits(4));
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    return CodePoint(code);
  }

  Result<Escaped> Property(bool negated) {
    std::string name(1, Peek());
    if (!AtEnd()) Take();
    if (name == "{") {
      const size_t close = pattern_.find('}', at_);
      if (close == std::string::npos) return Wrong("a property's name that does not end");
      name = pattern_.substr(at_, close - at_);
      at_ = close + 1;
    }
    const std::optional<std::string> set = JavaPropertySet(name);
    if (!set) return Wrong("a character property that is not known: " + name);
    return Escaped{Meaning::kSet, *set, negated};
  }

  /// Parses a reference to a group. Takes a further digit only if a group with the resulting number
  /// has already begun.
  Result<Escaped> Reference(int number) {
    while (IsDigit(Peek()) && number * 10 + (Peek() - '0') <= groups_)
      number = number * 10 + (Take() - '0');
    return Escaped{Meaning::kAssertion, "\\g{" + std::to_string(number) + "}"};
  }

  Result<Escaped> NamedReference() {
    const size_t close = pattern_.find('>', at_);
    if (Peek() != '<' || close == std::string::npos)
      return Wrong("a reference without a group name");
    std::string text = "\\k" + pattern_.substr(at_, close + 1 - at_);
    at_ = close + 1;
    return Escaped{Meaning::kAssertion, std::move(text)};
  }

  /// Parses the part after an opening parenthesis.
  Status Group() {
    if (Peek() == '*') return Wrong("nothing to repeat before '*'");
    if (Peek() != '?') {
      ++groups_;
      out_.text += "(";
      return {};
    }
    Take();
    const char c = Peek();
    if (c == ':' || c == '=' || c == '!' || c == '>') {
      out_.text += "(?" + std::string(1, Take());
      return {};
    }
    if (c == '<') {
      Take();
      if (Peek() != '=' && Peek() != '!') {
        if (!IsLetter(Peek())) return Wrong("an invalid group name");
        ++groups_;
      }
      out_.text += "(?<";
      return {};
    }
    return Flags();
  }

  /// Parses the letters between "(?" and ':' or ')'.
  Status Flags() {
    std::string kept;
    bool on = true;
    while (Peek() != ':' && Peek() != ')') {
      if (AtEnd()) return Wrong("a group that does not end");
      const char c = Take();
      if (c == '-' && on) {
        on = false;
        kept += "-";
      } else if (c == 'i' || c == 'm' || c == 's' || c == 'x') {
        kept += c;
      } else if (c == 'U') {
        out_.unicode_classes |= on;
      } else if (c != 'u' && c != 'd') {
        return Wrong("a flag that is not known: " + std::string(1, c));
      }
    }
    if (kept.ends_with('-')) kept.pop_back();
    const bool group = Take() == ':';
    if (group) {
      out_.text += "(?" + kept + ":";
    } else if (!kept.empty()) {
      out_.text += "(?" + kept + ")";
    }
    return {};
  }

  /// Parses the part after '{'. Only a repetition count may follow.
  Status Repetition() {
    size_t end = at_;
    while (end < pattern_.size() && IsDigit(pattern_[end])) ++end;
    const bool counted = end > at_;
    if (counted && end < pattern_.size() && pattern_[end] == ',')
      while (++end < pattern_.size() && IsDigit(pattern_[end])) {
      }
    if (!counted || end >= pattern_.size() || pattern_[end] != '}')
      return Wrong("an invalid repetition");
    out_.text += "{" + pattern_.substr(at_, end + 1 - at_);
    at_ = end + 1;
    return {};
  }

  /// Parses a class after '[' up to its ']'. If `bracketed` is false, it parses an operand of && up
  /// to the ']' of the whole class, which is not consumed.
  Result<std::string> Class(bool bracketed) {
    if (++depth_ > kDepthMax) return Wrong("classes nested too deeply");
    if (depth_ > 1) RETURN_IF_ERROR(CountPart());
    std::string set;    // parts of the class that cannot be in brackets
    std::string items;  // parts of the class that can be in brackets
    const bool negated = bracketed && Peek() == '^';
    if (negated) Take();
    while (true) {
      if (AtEnd()) return Wrong("a character class that does not end");
      if (Peek() == '[') {
        Take();
        ASSIGN_OR_RETURN(const std::string nested, Class(true));
        set = Union(set, nested);
      } else if (Peek() == '&' && Peek(1) == '&') {
        at_ += 2;
        RETURN_IF_ERROR(Intersect(&set, &items));
      } else if (Peek() == ']' && (!set.empty() || !items.empty())) {
        if (bracketed) Take();
        break;
      } else {
        RETURN_IF_ERROR(Range(&set, &items));
      }
    }
    --depth_;
    if (set.empty()) return negated ? Bracket("^" + items) : Bracket(items);
    if (!items.empty()) set = Union(set, Bracket(items));
    return negated ? Complement(set) : set;
  }

  /// Parses the operands after && up to the next && or the end, and intersects them with the part
  /// before.
  Status Intersect(std::string* set, std::string* items) {
    std::string right;
    while (!AtEnd() && Peek() != ']' && Peek() != '&') {
      const bool bracketed = Peek() == '[';
      if (bracketed) Take();
      ASSIGN_OR_RETURN(const std::string operand, Class(bracketed));
      right = Union(right, operand);
    }
    if (!items->empty()) *set = Union(*set, Bracket(*items));
    items->clear();
    if (set->empty() && right.empty()) return Wrong("an intersection without operands");
    if (set->empty()) {
      *set = right;
    } else if (!right.empty()) {
      *set = Intersection(*set, right);
    }
    return {};
  }

  /// Parses one character, a range, or an escaped set.
  Status Range(std::string* set, std::string* items) {
    ASSIGN_OR_RETURN(const Escaped first, ClassCharacter());
    if (first.meaning == Meaning::kSet) {
      if (first.negated) {
        RETURN_IF_ERROR(CountPart());
        *set = Union(*set, Bracket("^" + first.text));
      } else {
        *items += first.text;
      }
      return {};
    }
    *items += first.text;
    if (Peek() != '-' || Peek(1) == '[' || Peek(1) == ']' || at_ + 1 >= pattern_.size()) return {};
    Take();
    ASSIGN_OR_RETURN(const Escaped last, ClassCharacter());
    if (last.meaning != Meaning::kCharacter) return Wrong("a range that ends without a character");
    *items += "-" + last.text;
    return {};
  }

  Result<Escaped> ClassCharacter() {
    const char c = Take();
    if (c != '\\') return Escaped{Meaning::kCharacter, Literal(c)};
    ASSIGN_OR_RETURN(Escaped escaped, Escape());
    if (escaped.meaning == Meaning::kAssertion)
      return Wrong("an escape sequence that is not allowed in a class");
    return escaped;
  }

  /// Counts a part of a class. Adding a part copies the text of all earlier parts.
  Status CountPart() {
    return ++parts_ > kPartsMax ? Wrong("too many parts of character classes") : Status();
  }

  static constexpr int kDepthMax = 100, kPartsMax = 1000;

  const std::string pattern_;
  size_t at_ = 0;
  int groups_ = 0;
  int depth_ = 0;  // number of classes that are open
  int parts_ = 0;  // number of classes and negated sets within other classes
  PcrePattern out_;
};

/// Replaces \Q…\E by escaped characters.
std::string WithoutQuotes(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\' || i + 1 >= pattern.size()) {
      out.push_back(pattern[i]);
      continue;
    }
    if (pattern[++i] != 'Q') {
      out.append({'\\', pattern[i]});
      continue;
    }
    const std::string_view rest = pattern.substr(i + 1);
    const std::string_view quoted = rest.substr(0, rest.find("\\E"));
    for (char c : quoted) {
      const bool plain = IsLetter(c) || IsDigit(c) || static_cast<unsigned char>(c) >= 0x80;
      if (!plain) out.push_back('\\');
      out.push_back(c);
    }
    i += quoted.size() + (quoted.size() < rest.size() ? 2 : 0);
  }
  return out;
}

}  // namespace

Result<PcrePattern> FromJava(std::string_view pattern) {
  return Translator(WithoutQuotes(pattern)).Run();
}

}  // namespace hg::uid
