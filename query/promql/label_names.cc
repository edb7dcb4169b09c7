#include "query/promql/label_names.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "storage/base/hex_digit.h"
#include "storage/codec/row_key.h"
#include "storage/model/utf8.h"

namespace hg::query {
namespace {

// Maximum number of texts that are looked up on an event loop.
constexpr size_t kFewTexts = 64;
// The cost of looking up one text, in steps of a RequestContext.
constexpr uint64_t kStepsPerText = 64;
// The cost of reading and converting a name, if all names are read.
constexpr uint64_t kStepsPerName = 8;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The number of letters and digits at the front.
size_t PlainPrefix(std::string_view text) {
  size_t size = 0;
  while (size < text.size() && (IsLetter(text[size]) || IsDigit(text[size]))) ++size;
  return size;
}

/// The default tag is not shown as a label. If a series really has this label, it is stored under
/// an escaped name (MarkedName). Series that were written before the setting of the default tag was
/// changed have the escaped name of the default setting. A tag "__name__", which only OpenTSDB's
/// API writes, is shown under an escaped name, because "__name__" is the label with the metric.
std::map<std::string, std::string> SpecialKeys(const LabelNaming& naming) {
  const std::string name(promql::kNameLabel), key = naming.default_tag_key,
                                              earlier = LabelNaming().default_tag_key;
  return {{MarkedName(key), key}, {MarkedName(earlier), earlier}, {name, MarkedName(name)}};
}

}  // namespace

std::string UnderscoredName(std::string_view name) {
  std::string out;
  for (bool valid = true; !name.empty() && valid;) {
    const char c = name.front();
    (void)TakeCodePoint(&name, &valid);
    const bool kept = IsLetter(c) || c == '_' || c == ':' || (IsDigit(c) && !out.empty());
    out += kept ? c : '_';
  }
  return out;
}

Status ForEachName(uid::Names& names, UidKind kind, const std::string& prefix,
                   RequestContext* context, const uid::Names::NameVisitor& visit) {
  RETURN_IF_ERROR(names.ForEach(kind, prefix, context, visit));
  if (!prefix.empty()) return {};
  // With an empty prefix, Names::ForEach omits names that begin with one of these characters.
  constexpr char32_t kFirst = '~', kLast = 0xFF;
  for (char32_t c = kFirst; c <= kLast; ++c) {
    std::string letter;
    AppendCodePoint(&letter, c);
    RETURN_IF_ERROR(names.ForEach(kind, letter, context, visit));
  }
  return {};
}

bool MayBeHalfEscaped(std::string_view text) {
  const NameRules fewest;
  // An escape sequence in the text is always escaped.
  bool always = text.find("_x") != std::string_view::npos;
  std::set<char32_t> sometimes;
  for (bool valid = true; !text.empty() && valid;) {
    const std::string_view rest = text;
    const char32_t c = TakeCodePoint(&text, &valid);
    if (c > 0xFF) {
      always = true;
    } else if (!fewest.Check("", rest.substr(0, rest.size() - text.size())).ok()) {
      sometimes.insert(c);
    }
  }
  return sometimes.size() > 1 || (always && !sometimes.empty());
}

LabelNames::LabelNames(const LabelNaming& naming, const KeyLayout& layout, NameMemo* names,
                       uid::Names* all)
    : naming_(naming),
      layout_(layout),
      names_(*names),
      all_(all),
      rules_(naming.extra_name_characters),
      special_keys_(SpecialKeys(naming)) {}

Result<std::vector<Bytes>> LabelNames::IdsOf(UidKind kind, std::string_view text) {
  std::set<std::string> names;
  for (const NameRules& rules : {rules_, NameRules()}) {
    std::string name;
    if (AppendEscapedName(text, rules, &name)) names.insert(std::move(name));
  }
  if (UnescapedName(text) == text && FitsLatin1(text)) names.emplace(text);
  if (kind == UidKind::kTagk) {
    for (const auto& [stored, label] : special_keys_)
      if (label == text) names.insert(stored);
  }
  std::vector<Bytes> ids;
  for (const std::string& name : names) {
    if (name.empty()) continue;
    Result<Bytes> id = names_.Find(kind, name);
    if (id.ok()) {
      ids.push_back(std::move(*id));
    } else if (id.status().code() != StatusCode::kNotFound) {
      return id.status();
    }
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Result<std::vector<Bytes>> LabelNames::IdsOfAll(UidKind kind, std::span<const std::string> texts,
                                                RequestContext* watch) {
  if (texts.size() > kFewTexts) RETURN_IF_ERROR(watch->MayWait());
  std::vector<Bytes> all;
  std::set<std::string, std::less<>> missing;
  for (const std::string& text : texts) {
    RETURN_IF_ERROR(watch->Step(kStepsPerText));
    ASSIGN_OR_RETURN(std::vector<Bytes> ids, IdsOf(kind, text));
    if (ids.empty()) missing.insert(text);
    all.insert(all.end(), std::make_move_iterator(ids.begin()), std::make_move_iterator(ids.end()));
  }
  const bool shown_otherwise = naming_.underscored_metrics && kind == UidKind::kMetric;
  if (shown_otherwise && all_ != nullptr && !missing.empty())
    RETURN_IF_ERROR(AddShownAs(missing, watch, &all));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Status LabelNames::AddShownAs(const std::set<std::string, std::less<>>& texts,
                              RequestContext* watch, std::vector<Bytes>* ids) {
  RETURN_IF_ERROR(watch->MayWait());  // many names may be read
  // If all texts begin with the same letters and digits, all wanted names begin with them, too,
  // because letters and digits are neither replaced nor escaped.
  std::string_view common = *texts.begin();
  common = common.substr(0, PlainPrefix(common));
  for (const std::string& text : texts) {
    const auto differ = std::mismatch(common.begin(), common.end(), text.begin(), text.end());
    common = common.substr(0, static_cast<size_t>(differ.first - common.begin()));
  }
  MemoryTally memory(watch);
  std::vector<std::string> found;
  const auto compare = [&](const std::string& name) -> Result<bool> {
    RETURN_IF_ERROR(watch->Step(kStepsPerName));
    if (!texts.contains(UnderscoredName(UnescapedName(name)))) return true;
    RETURN_IF_ERROR(memory.Add(static_cast<int64_t>(2 * sizeof(name) + name.size())));
    found.push_back(name);
    return true;
  };
  RETURN_IF_ERROR(ForEachName(*all_, UidKind::kMetric, std::string(common), watch, compare));
  for (const std::string& name : found) {
    RETURN_IF_ERROR(watch->Step(kStepsPerText));
    ASSIGN_OR_RETURN(Bytes id, names_.Find(UidKind::kMetric, name));
    ids->push_back(std::move(id));
  }
  return {};
}

Result<std::string> LabelNames::SentText(UidKind kind, ByteView id) {
  ASSIGN_OR_RETURN(const Bytes* name, names_.NameOf(kind, id));
  return TextOfName(kind, *name);
}

std::string LabelNames::TextOfName(UidKind kind, const std::string& stored) const {
  if (kind == UidKind::kTagk) {
    if (const auto found = special_keys_.find(stored); found != special_keys_.end())
      return found->second;
  }
  return UnescapedName(stored);
}

Result<std::string> LabelNames::TextOf(UidKind kind, ByteView id) {
  ASSIGN_OR_RETURN(std::string text, SentText(kind, id));
  return Shown(kind, std::move(text));
}

std::string LabelNames::Shown(UidKind kind, std::string sent) const {
  if (kind != UidKind::kMetric || !naming_.underscored_metrics) return sent;
  return UnderscoredName(sent);
}

Result<bool> LabelNames::Is(UidKind kind, ByteView id, std::string_view name) {
  ASSIGN_OR_RETURN(const std::optional<const Bytes*> stored, IfNamed(names_.NameOf(kind, id)));
  return stored && **stored == name;
}

Result<bool> LabelNames::IsUntagged(ByteView tsuid) {
  const auto metric = static_cast<size_t>(layout_.metric_width);
  const auto tagk = static_cast<size_t>(layout_.tagk_width);
  if (tsuid.size() != metric + static_cast<size_t>(layout_.pair_width())) return false;
  ASSIGN_OR_RETURN(const bool key,
                   Is(UidKind::kTagk, tsuid.substr(metric, tagk), naming_.default_tag_key));
  if (!key) return false;
  return Is(UidKind::kTagv, tsuid.substr(metric + tagk), naming_.default_tag_value);
}

namespace {

// Returns the TSUID with only the last pair of each tag key.
Bytes WithoutRepeatedKeys(const KeyLayout& layout, ByteView tsuid) {
  std::map<ByteView, ByteView> last;
  codec::ForEachPair(layout, tsuid,
                     [&](ByteView tagk, ByteView tagv) { last.insert_or_assign(tagk, tagv); });
  Bytes unique(tsuid.substr(0, static_cast<size_t>(layout.metric_width)));
  for (const auto& [tagk, tagv] : last) unique.append(tagk).append(tagv);
  return unique;
}

}  // namespace

Result<promql::Labels> LabelNames::LabelsOf(ByteView tsuid) {
  // No point has such a TSUID, but an annotation may have one, and it may repeat a pair of long
  // names thousands of times.
  constexpr size_t kUsualBytes = 256;
  Bytes unique;
  if (tsuid.size() > kUsualBytes) tsuid = unique = WithoutRepeatedKeys(layout_, tsuid);
  std::vector<promql::Labels::Pair> pairs;
  ASSIGN_OR_RETURN(
      std::string metric,
      TextOf(UidKind::kMetric, tsuid.substr(0, static_cast<size_t>(layout_.metric_width))));
  pairs.emplace_back(promql::kNameLabel, std::move(metric));
  ASSIGN_OR_RETURN(const bool untagged, IsUntagged(tsuid));
  if (untagged) return promql::Labels(std::move(pairs));
  Status failed;
  codec::ForEachPair(layout_, tsuid, [&](ByteView tagk, ByteView tagv) {
    if (!failed.ok()) return;
    Result<std::string> name = TextOf(UidKind::kTagk, tagk);
    Result<std::string> value = TextOf(UidKind::kTagv, tagv);
    failed = name.ok() ? value.status() : name.status();
    if (failed.ok()) pairs.emplace_back(std::move(*name), std::move(*value));
  });
  RETURN_IF_ERROR(failed);
  return promql::Labels(std::move(pairs));
}

}  // namespace hg::query
