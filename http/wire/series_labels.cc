#include "http/wire/series_labels.h"

#include <algorithm>

#include "storage/base/varint.h"
#include "storage/codec/row_key.h"
#include "storage/model/escaped_name.h"
#include "storage/model/java_hash.h"
#include "storage/model/utf8.h"

namespace hg::http {
namespace {

size_t RawKeyBytes(std::string_view text) {
  return static_cast<size_t>(VarintLength(text.size())) + text.size();
}

char* PutText(char* to, std::string_view text) {
  to = PutVarint(to, text.size());
  return std::copy(text.begin(), text.end(), to);
}

std::string_view TakeText(ByteView* keyed) {
  uint64_t size = 0;
  // Bytes that AppendLabels did not encode may lack a length. Each call takes bytes all the same.
  if (!GetVarint64(keyed, &size)) size = keyed->size();
  const std::string_view text = keyed->substr(0, static_cast<size_t>(size));
  keyed->remove_prefix(text.size());
  return text;
}

/// Maximum bytes of a name, before and after it is escaped. A name of more bytes has more
/// characters than can be stored: a character that is not escaped has at most two bytes, and an
/// escaped character becomes at least seven bytes.
constexpr size_t kNameBytesMax = 2 * codec::kRowKeyBytesMax;

Result<std::string> Escaped(std::string_view text, const NameRules& rules) {
  std::string name;
  if (text.size() <= kNameBytesMax && !AppendEscapedName(text, rules, &name))
    return Status::InvalidArgument("has text that is not UTF-8");
  if (std::max(text.size(), name.size()) <= kNameBytesMax) return name;
  return Status::InvalidArgument("has a text of " + std::to_string(text.size()) +
                                 " bytes, which is too long for a name");
}

}  // namespace

void AppendLabels(std::span<const Label> labels, Bytes* keyed) {
  const size_t before = keyed->size();
  size_t bytes = before;
  for (const Label& label : labels) bytes += RawKeyBytes(label.name) + RawKeyBytes(label.value);
  keyed->resize(bytes);
  char* to = keyed->data() + before;
  for (const Label& label : labels) to = PutText(PutText(to, label.name), label.value);
}

std::vector<Label> ReadLabels(ByteView keyed) {
  std::vector<Label> labels;
  while (!keyed.empty()) {
    Label& label = labels.emplace_back();
    label.name = TakeText(&keyed);
    label.value = TakeText(&keyed);
  }
  return labels;
}

Result<NamedSeries> NameSeries(std::string_view metric, std::span<const Label> labels,
                               const NamingRules& rules) {
  NamedSeries series;
  if (metric.empty()) return Status::InvalidArgument("has no name");
  ASSIGN_OR_RETURN(series.metric, Escaped(metric, rules.names));
  std::vector<Label> sorted;
  for (const Label& label : labels) {
    if (!label.value.empty()) sorted.push_back(label);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Label& a, const Label& b) { return a.name < b.name; });
  std::vector<std::pair<std::string, std::string>> tags;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i].name.empty()) return Status::InvalidArgument("has a label without a name");
    if (sorted[i].name == kNameLabel || (i > 0 && sorted[i].name == sorted[i - 1].name)) {
      return Status::InvalidArgument("has the label " + std::string(sorted[i].name) + " twice");
    }
    auto& [key, value] = tags.emplace_back();
    ASSIGN_OR_RETURN(key, Escaped(sorted[i].name, rules.names));
    ASSIGN_OR_RETURN(value, Escaped(sorted[i].value, rules.names));
  }
  if (tags.empty()) {
    tags.emplace_back(rules.default_key, rules.default_value);
  } else if (tags.size() == 1 && tags[0].first == rules.default_key &&
             tags[0].second == rules.default_value) {
    // The series really has this label. Marking its name distinguishes it from the default tag of a
    // series without labels.
    tags[0].first = MarkedName(tags[0].first);
  }
  std::vector<uint32_t> hashes;
  for (const auto& [key, value] : tags) hashes.push_back(JavaHashUtf8(key));
  for (const size_t i : JavaMapOrder(hashes, Hash16Capacity(tags.size())))
    series.tags.push_back(std::move(tags[i]));
  return series;
}

std::string SeriesText(std::string_view metric, std::span<const Label> labels) {
  constexpr size_t kBytesMax = 500;
  std::string text(metric);
  text += '{';
  for (const Label& label : labels) {
    if (text.back() != '{') text += ", ";
    text.append(label.name).append("=\"").append(label.value).append("\"");
    if (text.size() > kBytesMax) break;
  }
  text += '}';
  ReplaceInvalidUtf8(&text);
  return Shortened(text, kBytesMax);
}

}  // namespace hg::http
