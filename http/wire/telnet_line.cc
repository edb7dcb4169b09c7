#include "http/wire/telnet_line.h"

#include "http/wire/plain_number.h"

namespace hg::http {
namespace {

constexpr std::string_view kPut = "put ";

/// Cuts the word before the first blank off *line; false if there is no blank.
bool TakeWord(std::string_view* line, std::string_view* word) {
  const size_t blank = line->find(' ');
  if (blank == std::string_view::npos) return false;
  *word = line->substr(0, blank);
  line->remove_prefix(blank + 1);
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

bool ParsePutLine(std::string_view line, SpelledPoint* point) {
  PutWords words;
  if (!SplitPut(line, &words)) return false;
  if (!ParsePlainTime(words.time, &point->time)) return false;
  if (!ParsePlainValue(words.value, EntryPath::kTelnet, &point->value)) return false;
  point->series = {Dialect::kWords, words.metric, words.tags};
  return true;
}

}  // namespace hg::http
