#include "tsd/ingest/tag_formats.h"

#include <algorithm>

#include "storage/base/crc32c.h"
#include "storage/base/sized_bytes.h"
#include "tsd/ingest/plain_raw_key.h"

namespace hg::tsd {
namespace {

constexpr ByteView kMagic{"HGSHAPE\1", 8};
constexpr size_t kTagFormatBytesMax = 4096;  // longer formats are not kept

std::string KeyOf(Dialect dialect, std::string_view text) {
  std::string key(1, static_cast<char>(dialect));
  return key.append(text);
}

bool HasTagFormats(Dialect dialect) {
  return dialect == Dialect::kJson || dialect == Dialect::kWords;
}

}  // namespace

void TagFormat::Fill(std::span<const std::string_view> values, std::string* out) const {
  out->clear();
  std::string_view rest = text;
  for (const std::string_view value : values) {
    const size_t hole = rest.find(kHole);
    out->append(rest.substr(0, hole)).append(value);
    rest.remove_prefix(hole + 1);
  }
  out->append(rest);
}

std::string TextOfTagFormat(std::string_view raw_key, std::span<const TagText> tags) {
  std::vector<std::string_view> values;
  values.reserve(tags.size());
  for (const TagText& tag : tags) values.push_back(tag.value);
  std::sort(values.begin(), values.end(),
            [](std::string_view a, std::string_view b) { return a.data() < b.data(); });
  std::string text;
  const char* at = raw_key.data();
  for (const std::string_view value : values) {
    text.append(at, value.data()).push_back(TagFormat::kHole);
    at = value.data() + value.size();
  }
  return text.append(at, raw_key.data() + raw_key.size());
}

// Each hole is filled with one letter, and the text is parsed. A value ends at the first character
// that is not plain. So if the letter is parsed as a whole value, any plain name in its place is
// also parsed as a whole value.
std::optional<TagFormat> ReadTagFormat(Dialect dialect, std::string_view text) {
  if (!HasTagFormats(dialect) || text.size() > kTagFormatBytesMax) return {};
  std::string filled(text);
  std::replace(filled.begin(), filled.end(), TagFormat::kHole, 'v');
  std::vector<TagText> tags;
  if (!ReadPlainTags(dialect, filled, kTagFormatBytesMax, &tags) ||
      TextOfTagFormat(filled, tags) != text)
    return {};
  std::sort(tags.begin(), tags.end(),
            [](const TagText& a, const TagText& b) { return a.value.data() < b.value.data(); });
  TagFormat format{dialect, std::string(text), {}};
  for (const TagText& tag : tags) format.keys.emplace_back(tag.key);
  return format;
}

void TagFormats::Note(Dialect dialect, std::string_view raw_key, std::span<const TagText> tags) {
  if (!HasTagFormats(dialect)) return;
  const std::string text = TextOfTagFormat(raw_key, tags);
  std::lock_guard lock(mutex_);
  if (const auto known = places_.find(KeyOf(dialect, text)); known != places_.end()) {
    known_[known->second].met = true;
    return;
  }
  std::optional<TagFormat> format = ReadTagFormat(dialect, text);
  if (format && Add(std::move(*format), true)) changes_.fetch_add(1, std::memory_order_release);
}

bool TagFormats::Add(TagFormat format, bool met) {
  std::vector<std::string> keys = format.keys;
  std::sort(keys.begin(), keys.end());
  const auto alike = [&](const Known& known) {
    return known.format.dialect == format.dialect && known.sorted_keys == keys;
  };
  const bool keys_full =
      static_cast<size_t>(std::count_if(known_.begin(), known_.end(), alike)) >= kOfKeysMax;
  if (keys_full || known_.size() >= kMax) {
    const auto gone = std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
      return !known.met && (!keys_full || alike(known));
    });
    if (!met || gone == known_.end()) return false;
    known_.erase(gone);
  }
  known_.push_back({std::move(format), std::move(keys), met});
  places_.clear();
  for (size_t i = 0; i < known_.size(); ++i)
    places_.emplace(KeyOf(known_[i].format.dialect, known_[i].format.text), i);
  return true;
}

std::vector<TagFormat> TagFormats::All() const {
  std::vector<TagFormat> all;
  std::lock_guard lock(mutex_);
  for (const Known& known : known_) all.push_back(known.format);
  return all;
}

Bytes TagFormats::Encode() const {
  Bytes file(kMagic);
  for (const TagFormat& format : All()) {
    file.push_back(static_cast<char>(format.dialect));
    AppendSized(&file, format.text);
  }
  AppendBig(&file, crc32c::Value(file), 4);
  return file;
}

bool TagFormats::Decode(ByteView file) {
  if (file.size() < kMagic.size() + 4 || !file.starts_with(kMagic)) return false;
  const ByteView summed = file.substr(0, file.size() - 4);
  if (ReadBig32(file.data() + summed.size()) != crc32c::Value(summed)) return false;
  std::vector<TagFormat> formats;
  for (ByteView rest = summed.substr(kMagic.size()); !rest.empty();) {
    const auto dialect = static_cast<Dialect>(rest.front());
    rest.remove_prefix(1);
    Bytes text;
    if (!TakeSized(&rest, &text)) return false;
    if (auto format = ReadTagFormat(dialect, text)) formats.push_back(std::move(*format));
  }
  std::lock_guard lock(mutex_);
  for (TagFormat& format : formats)
    if (!places_.contains(KeyOf(format.dialect, format.text))) Add(std::move(format), false);
  return true;
}

}  // namespace hg::tsd
