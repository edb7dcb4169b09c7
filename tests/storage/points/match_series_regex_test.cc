// Compares the structured matcher with the regular expressions that OpenTSDB sends to its store
// (region-store.md Q13), for keys with bytes that have a meaning in such expressions.

#define PCRE2_CODE_UNIT_WIDTH 8
#include <doctest/doctest.h>
#include <pcre2.h>

#include <algorithm>
#include <memory>
#include <random>

#include "storage/points/match_series.h"

namespace hg::points {
namespace {

const KeyLayout kLayout;

// Returns a regular expression that matches only this byte.
std::string Byte(char c) {
  const Bytes hex = ToHex(Bytes(1, c));
  return "\\x" + hex;
}

std::string Literal(ByteView bytes) {
  std::string text;
  for (const char c : bytes) text += Byte(c);
  return text;
}

// Skips salt, metric and time. Then for each clause, in the order of tag keys: any pairs and the
// wanted pair, or no pair with that key in the whole key.
std::string Expression(const SeriesMatcher& matcher, size_t prefix) {
  std::string text = "^";
  for (const TagClause& clause : matcher.clauses) {
    if (clause.kind == TagClause::Kind::kAbsent) {
      text += "(?!.{" + std::to_string(prefix) + "}(?:.{6})*" + Literal(clause.tagk) +
              ".{3}(?:.{6})*$)";
    }
  }
  text += ".{" + std::to_string(prefix) + "}";
  for (const TagClause& clause : matcher.clauses) {
    if (clause.kind == TagClause::Kind::kAbsent) continue;
    if (!matcher.exact_tags) text += "(?:.{6})*";
    text += Literal(clause.tagk);
    if (clause.kind == TagClause::Kind::kAny) {
      text += ".{3}";
      continue;
    }
    text += "(?:";
    for (size_t i = 0; i < clause.values.size(); ++i) {
      text += (i > 0 ? "|" : "") + Literal(clause.values[i]);
    }
    text += ")";
  }
  if (!matcher.exact_tags) text += "(?:.{6})*";
  return text + "$";
}

class Regex {
 public:
  explicit Regex(const std::string& text) {
    int error;
    PCRE2_SIZE at;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                              PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY, &error, &at, nullptr));
    REQUIRE(code_ != nullptr);
    match_.reset(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
  }
  [[nodiscard]] bool Matches(ByteView key) const {
    return pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(key.data()), key.size(), 0, 0,
                       match_.get(), nullptr) >= 0;
  }

 private:
  struct FreeCode {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  };
  struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  };
  std::unique_ptr<pcre2_code, FreeCode> code_;
  std::unique_ptr<pcre2_match_data, FreeMatch> match_;
};

// Few ids, with bytes that have a meaning in regular expressions: line ends, \E, 85, brackets.
Bytes Id(std::mt19937& random) {
  const Bytes odd("\x0A\x0D\x85\\E\xFF\0[", 8);
  Bytes id;
  for (int i = 0; i < 3; ++i) id.push_back(odd[random() % (i == 0 ? odd.size() : 2)]);
  return id;
}

TEST_CASE("the matcher finds the series that OpenTSDB's regular expression finds") {
  const auto prefix = static_cast<size_t>(kLayout.prefix_width());
  std::mt19937 random(17);
  size_t matched = 0;
  for (int round = 0; round < 400; ++round) {
    SeriesMatcher matcher;
    for (size_t n = random() % 4; n > 0; --n) {
      TagClause clause;
      clause.tagk = Id(random);
      if (std::any_of(matcher.clauses.begin(), matcher.clauses.end(),
                      [&](const TagClause& other) { return other.tagk == clause.tagk; })) {
        continue;
      }
      clause.kind = static_cast<TagClause::Kind>(random() % 3);
      if (clause.kind == TagClause::Kind::kOneOf) {
        for (size_t v = 1 + random() % 3; v > 0; --v) clause.values.push_back(Id(random));
        std::sort(clause.values.begin(), clause.values.end());
        clause.values.erase(std::unique(clause.values.begin(), clause.values.end()),
                            clause.values.end());
      }
      matcher.clauses.push_back(std::move(clause));
    }
    std::sort(matcher.clauses.begin(), matcher.clauses.end(),
              [](const TagClause& a, const TagClause& b) { return a.tagk < b.tagk; });
    matcher.exact_tags = random() % 3 == 0;
    const Regex regex(Expression(matcher, prefix));
    for (int i = 0; i < 200; ++i) {
      // The pairs of a key are sorted by tag key. Half of the keys are made to match.
      std::vector<std::pair<Bytes, Bytes>> pairs;
      for (size_t n = random() % 3; n > 0; --n) pairs.emplace_back(Id(random), Id(random));
      if (random() % 2 == 0) {
        for (const TagClause& clause : matcher.clauses) {
          if (clause.kind == TagClause::Kind::kAbsent) continue;
          pairs.emplace_back(clause.tagk, clause.values.empty()
                                              ? Id(random)
                                              : clause.values[random() % clause.values.size()]);
        }
      }
      std::sort(pairs.begin(), pairs.end());
      pairs.erase(std::unique(pairs.begin(), pairs.end(),
                              [](const auto& a, const auto& b) { return a.first == b.first; }),
                  pairs.end());
      Bytes key(prefix, '\x0A');
      for (const auto& [tagk, tagv] : pairs) key += tagk + tagv;
      const bool found =
          MatchesSeries(matcher, kLayout, ByteView(key).substr(0, 3), ByteView(key).substr(prefix));
      CAPTURE(ToHex(key));
      REQUIRE(found == regex.Matches(key));
      matched += found ? 1 : 0;
    }
  }
  CHECK(matched > 5000);
}

}  // namespace
}  // namespace hg::points
