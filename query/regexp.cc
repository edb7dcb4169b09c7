#include "query/regexp.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <utility>

namespace hg::query {
namespace {

// Steps of one match: far beyond what a sane pattern needs on a tag value, reached in milliseconds.
constexpr uint32_t kMatchLimit = 1'000'000;
constexpr uint32_t kDepthLimit = 10'000;

// Classes that Java spells \p{Name} and PCRE2 [:name:].
constexpr std::pair<std::string_view, std::string_view> kPosixClasses[] = {
    {"Lower", "lower"}, {"Upper", "upper"}, {"Alpha", "alpha"},   {"Digit", "digit"},
    {"Alnum", "alnum"}, {"Punct", "punct"}, {"Graph", "graph"},   {"Print", "print"},
    {"Blank", "blank"}, {"Cntrl", "cntrl"}, {"XDigit", "xdigit"}, {"Space", "space"},
    {"ASCII", "ascii"},
};

std::string FromJava(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      if (pattern[i + 1] == 'Q') {
        size_t end = pattern.find("\\E", i + 2);
        size_t after = end == std::string_view::npos ? pattern.size() : end + 2;
        out += pattern.substr(i, after - i);
        i = after - 1;
        continue;
      }
      bool negated = pattern[i + 1] == 'P';
      if ((negated || pattern[i + 1] == 'p') && i + 2 < pattern.size() && pattern[i + 2] == '{') {
        size_t close = pattern.find('}', i + 3);
        std::string_view name = close == std::string_view::npos
                                    ? std::string_view()
                                    : pattern.substr(i + 3, close - i - 3);
        bool found = false;
        for (const auto& [java, posix] : kPosixClasses) {
          if (java != name) continue;
          out += std::string(in_class ? "" : "[") + "[:" + (negated ? "^" : "") +
                 std::string(posix) + ":]" + (in_class ? "" : "]");
          found = true;
        }
        if (found) {
          i = close;
          continue;
        }
      }
      out += pattern.substr(i, 2);
      ++i;
      continue;
    }
    if (c == '[' && !in_class) {
      in_class = true;
    } else if (c == ']' && in_class) {
      in_class = false;
    }
    out.push_back(c);
  }
  return out;
}

}  // namespace

struct Regexp::Impl {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = nullptr;

  ~Impl() {
    pcre2_code_free(code);
    pcre2_match_context_free(context);
  }
};

Regexp::Regexp(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Regexp::~Regexp() = default;

Result<std::shared_ptr<const Regexp>> Regexp::Compile(std::string_view pattern) {
  std::string translated = FromJava(pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  auto impl = std::make_unique<Impl>();
  impl->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                             PCRE2_UTF, &error, &offset, nullptr);
  if (impl->code == nullptr) {
    PCRE2_UCHAR text[256];
    pcre2_get_error_message(error, text, sizeof(text));
    return Status::InvalidArgument("Bad regular expression '" + std::string(pattern) +
                                   "': " + reinterpret_cast<const char*>(text) + " at " +
                                   std::to_string(offset));
  }
  pcre2_jit_compile(impl->code, PCRE2_JIT_COMPLETE);  // without JIT the interpreter serves
  impl->context = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(impl->context, kMatchLimit);
  pcre2_set_depth_limit(impl->context, kDepthLimit);
  return std::shared_ptr<const Regexp>(new Regexp(std::move(impl)));
}

bool Regexp::Search(std::string_view text) const {
  pcre2_match_data* match = pcre2_match_data_create(1, nullptr);
  int found = pcre2_match(impl_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                          match, impl_->context);
  pcre2_match_data_free(match);
  return found >= 0;
}

}  // namespace hg::query
