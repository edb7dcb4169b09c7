#include "http/wire/put_json.h"

// Without NDEBUG, simdjson's iterators call assert, which makes parsing take 50 % longer
// (ingest-measurements.md §3).
#ifndef NDEBUG
#define NDEBUG
#endif
#include <simdjson.h>

#include "http/wire/plain_number.h"

namespace hg::http {
namespace {

static_assert(kPutPadding >= simdjson::SIMDJSON_PADDING);

namespace ondemand = simdjson::ondemand;

/// Maximum capacity of the parser in bytes. If its capacity is larger after a body, the parser is
/// recreated.
constexpr size_t kKeptCapacityMax = 8 << 20;
/// Maximum bytes that are parsed at once. Longer arrays are parsed in windows of this size, so that
/// the working memory stays small.
constexpr size_t kWindowBytes = 1 << 20;

std::string_view WithoutTrailingBlanks(std::string_view text) {
  while (!text.empty()) {
    const char c = text.back();
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') break;
    text.remove_suffix(1);
  }
  return text;
}

/// Sets *content to the bytes between the quotes of a string token without escapes. Returns false
/// for other tokens.
bool PlainString(std::string_view token, std::string_view* content) {
  token = WithoutTrailingBlanks(token);
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') return false;
  *content = token.substr(1, token.size() - 2);
  return true;
}

/// The parts of one element. They refer to the bytes of the body.
struct JsonPoint {
  std::string_view metric, tags, time, value;
  enum Field : unsigned { kMetric = 1, kTime = 2, kValue = 4, kTags = 8, kAll = 15 };
};

/// Reads one element. Returns false if it is not an object with exactly the four fields, each once.
bool ReadPoint(ondemand::value element, JsonPoint* point) {
  ondemand::object object;
  if (element.get_object().get(object) != simdjson::SUCCESS) return false;
  unsigned seen = 0;
  for (auto field : object) {
    ondemand::raw_json_string raw_key;
    if (field.key().get(raw_key) != simdjson::SUCCESS) return false;
    const char* key = raw_key.raw();
    ondemand::value value;
    if (field.value().get(value) != simdjson::SUCCESS) return false;
    unsigned name = 0;
    switch (key[0]) {
      case 'm':
        if (std::memcmp(key, "metric\"", 7) != 0) return false;
        name = JsonPoint::kMetric;
        if (!PlainString(value.raw_json_token(), &point->metric)) return false;
        break;
      case 'v':
        if (std::memcmp(key, "value\"", 6) != 0) return false;
        name = JsonPoint::kValue;
        point->value = WithoutTrailingBlanks(value.raw_json_token());
        break;
      case 't':
        if (std::memcmp(key, "tags\"", 5) == 0) {
          name = JsonPoint::kTags;
          ondemand::object tags;
          if (value.get_object().get(tags) != simdjson::SUCCESS) return false;
          if (tags.raw_json().get(point->tags) != simdjson::SUCCESS) return false;
          point->tags = WithoutTrailingBlanks(point->tags);
        } else if (std::memcmp(key, "timestamp\"", 10) == 0) {
          name = JsonPoint::kTime;
          point->time = WithoutTrailingBlanks(value.raw_json_token());
        } else {
          return false;
        }
        break;
      default:
        return false;
    }
    if ((seen & name) != 0) return false;
    seen |= name;
  }
  return seen == JsonPoint::kAll;
}

/// Calls visit(point, regular) for every element. `regular` is the result of ReadPoint. Returns
/// false at a syntax error, or if `visit` returns false.
template <typename Visit>
bool Walk(ondemand::parser& parser, std::string_view body, const Visit& visit) {
  ondemand::document document;
  if (parser.iterate(body.data(), body.size(), body.size() + kPutPadding).get(document) !=
      simdjson::SUCCESS) {
    return false;
  }
  ondemand::json_type type;
  if (document.type().get(type) != simdjson::SUCCESS) return false;
  JsonPoint point;
  if (type == ondemand::json_type::object) {
    ondemand::value root;
    if (document.get_value().get(root) != simdjson::SUCCESS) return false;
    return visit(point, ReadPoint(root, &point));
  }
  ondemand::array array;
  if (document.get_array().get(array) != simdjson::SUCCESS) return false;
  for (auto element : array) {
    ondemand::value value;
    if (element.get(value) != simdjson::SUCCESS) return false;
    if (!visit(point, ReadPoint(value, &point))) return false;
  }
  return true;
}

bool Convert(const JsonPoint& raw, KeyedPoint* point) {
  if (!ParsePlainTime(raw.time, &point->time)) return false;
  std::string_view number = raw.value;
  if (!number.empty() && number.front() == '"' && !PlainString(raw.value, &number)) return false;
  if (!ParsePlainValue(number, EntryPath::kHttp, &point->value)) return false;
  point->series = {Dialect::kJson, raw.metric, raw.tags};
  return true;
}

size_t SkipBlanksBack(std::string_view text, size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\n' || text[at - 1] == '\r' ||
                    text[at - 1] == '\t'))
    --at;
  return at;
}

/// Returns the last comma between '}' and '{' that is after `begin` and before `limit`, or 0 if
/// there is none. It may be inside a string; in that case the window that ends there cannot be
/// parsed.
size_t FindCut(std::string_view text, size_t begin, size_t limit) {
  for (size_t brace = text.rfind('{', limit); brace != std::string_view::npos && brace > begin + 1;
       brace = text.rfind('{', brace - 1)) {
    size_t at = SkipBlanksBack(text, brace);
    if (at <= begin + 1 || text[at - 1] != ',') continue;
    const size_t comma = at - 1;
    at = SkipBlanksBack(text, comma);
    if (at > begin + 1 && text[at - 1] == '}') return comma;
  }
  return 0;
}

}  // namespace

struct PutJsonParser::Impl {
  ondemand::parser parser;

  void Trim() {
    if (parser.capacity() > kKeptCapacityMax) parser = ondemand::parser();
  }
};

PutJsonParser::PutJsonParser() : impl_(std::make_unique<Impl>()) {}
PutJsonParser::~PutJsonParser() = default;

bool PutJsonParser::Parse(std::string_view body, std::vector<KeyedPoint>* points) {
  points->clear();
  if (body.empty()) return false;
  const auto parse = [this, points](std::string_view text) {
    return Walk(impl_->parser, text, [points](const JsonPoint& raw, bool regular) {
      return regular && Convert(raw, &points->emplace_back());
    });
  };
  bool good = true;
  size_t begin = body.size() > kWindowBytes && body[0] == '[' ? 0 : body.size();
  if (begin != 0) good = parse(body);
  char* const text = const_cast<char*>(body.data());
  while (good && begin < body.size()) {
    // Each window becomes an array: while it is parsed, brackets replace the commas at its ends.
    const bool last = body.size() - begin <= kWindowBytes;
    const size_t cut = last ? 0 : FindCut(body, begin, begin + kWindowBytes);
    if (!last && cut == 0) {
      good = false;
      break;
    }
    const size_t end = last ? body.size() : cut + 1;
    const char at_begin = text[begin], at_end = text[end - 1];
    text[begin] = '[';
    if (!last) text[end - 1] = ']';
    good = parse(body.substr(begin, end - begin));
    text[begin] = at_begin;
    if (!last) text[end - 1] = at_end;
    begin = last ? body.size() : cut;
  }
  impl_->Trim();
  return good;
}

void PutJsonParser::ParseRawKeys(std::string_view body, std::vector<RawKey>* raw_keys) {
  raw_keys->clear();
  // The array's iterator skips the rest of an element that ReadPoint did not read completely.
  Walk(impl_->parser, body, [raw_keys](const JsonPoint& raw, bool regular) {
    raw_keys->push_back(regular ? RawKey{Dialect::kJson, raw.metric, raw.tags} : RawKey{});
    return true;
  });
  impl_->Trim();
}

}  // namespace hg::http
