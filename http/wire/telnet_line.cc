#include "http/wire/telnet_line.h"

#include "http/wire/plain_number.h"
#include "storage/base/short_bytes.h"

// Marks functions that are called several times per line and are too large for the compiler to
// inline by itself.
#define HG_INLINE inline __attribute__((always_inline))

namespace hg::http {
namespace {

constexpr std::string_view kPut = "put ";

/// Removes the word before the first blank, and the blank, from *line. Returns false if there is no
/// blank.
bool TakeWord(std::string_view* line, std::string_view* word) {
  const size_t blank = line->find(' ');
  if (blank == std::string_view::npos) return false;
  *word = line->substr(0, blank);
  line->remove_prefix(blank + 1);
  return true;
}

/// Takes a word without control characters, and one blank after it.
HG_INLINE bool TakePlainWord(const char** at, const char* end, std::string_view* word) {
  const char* const blank = FindBlank(*at, end);
  if (blank == *at || blank == end || *blank != ' ') return false;
  *word = {*at, static_cast<size_t>(blank - *at)};
  *at = blank + 1;
  return true;
}

/// If `text` follows at *at, moves *at to the end of `text` and returns true.
HG_INLINE bool SkipText(std::string_view text, const char** at, const char* end) {
  if (static_cast<size_t>(end - *at) < text.size() || !SameBytes(*at, text.data(), text.size()))
    return false;
  *at += text.size();
  return true;
}

/// Like SkipText, for a text that must be the rest of the line.
bool SkipLineEnd(std::string_view text, const char** at, const char* end) {
  if (text.back() == '\r') return false;  // a CR before the LF belongs to the line's end
  const char* next = *at;
  if (!SkipText(text, &next, end)) return false;
  if (next != end && *next == '\r') ++next;
  if (next == end || *next != '\n') return false;
  *at = next + 1;
  return true;
}

}  // namespace

std::string_view TakeLine(std::string_view* bytes) {
  const size_t lf = bytes->find('\n');
  std::string_view line = bytes->substr(0, lf);
  bytes->remove_prefix(lf + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

void SplitWords(std::string_view line, std::vector<std::string_view>* words) {
  words->clear();
  std::string_view word;
  while (TakeWord(&line, &word)) words->push_back(word);
  words->push_back(line);
}

bool SplitPut(std::string_view line, PutWords* words) {
  if (!line.starts_with(kPut)) return false;
  line.remove_prefix(kPut.size());
  if (!TakeWord(&line, &words->metric) || !TakeWord(&line, &words->time) ||
      !TakeWord(&line, &words->value)) {
    return false;
  }
  words->tags = line;
  return true;
}

bool ParsePutLines(std::string_view lines, std::vector<KeyedPoint>* points) {
  points->clear();
  const char* const end = lines.data() + lines.size();
  Timestamp time;
  std::string_view time_word, tags;  // words of the previous line
  for (const char* at = lines.data(); at != end;) {
    KeyedPoint& point = points->emplace_back();
    point.series.dialect = Dialect::kWords;
    if (!SkipText(kPut, &at, end) || !TakePlainWord(&at, end, &point.series.metric)) return false;
    // Consecutive lines often have the same time, and often the same tags if they are metrics of
    // one host. So the words of the previous line are compared first.
    if (time_word.empty() || !SkipText(time_word, &at, end)) {
      std::string_view word;
      if (!TakePlainWord(&at, end, &word) || !ParsePlainTime(word, &time)) return false;
      time_word = {word.data(), word.size() + 1};  // including the blank
    }
    point.time = time;
    std::string_view value;
    if (!TakePlainWord(&at, end, &value) ||
        !ParsePlainValue(value, EntryPath::kTelnet, &point.value)) {
      return false;
    }
    if (tags.empty() || !SkipLineEnd(tags, &at, end)) {
      const char* const lf = FindByte(at, end, '\n');
      if (lf == end) return false;
      tags = {at, static_cast<size_t>(lf - at)};
      if (tags.ends_with('\r')) tags.remove_suffix(1);
      at = lf + 1;
    }
    point.series.tags = tags;
  }
  return true;
}

}  // namespace hg::http
