#include "tsd/ingest/line_table.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace hg::tsd {
namespace {

/// Approximate overhead of a line: its map slot and the heap blocks of its parts.
constexpr size_t kLineOverheadBytes = 128;

/// Maximum number of fields that a search compares one by one, from the expected field on. Lines
/// with more fields also have a hash table, which is searched afterwards.
constexpr size_t kScannedFields = 16;

using keyed_hash::Mix;

bool NameTwice(std::span<const KeyedField> fields) {
  std::vector<std::string_view> names;
  for (const KeyedField& field : fields) names.push_back(field.name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

}  // namespace

LineTable::LineTable(uint64_t key, size_t bytes_max)
    : hash_{{Mix(key ^ 0x9fb21c651e98df25u, 0xa0761d6478bd642fu) | 1,
             Mix(key ^ 0xd6e8feb86659fd93u, 0xe7037ed1a0b428dbu) | 1,
             Mix(key ^ 0xff51afd7ed558ccdu, 0x8ebc6af09c88c6e3u) | 1}},
      bytes_max_(bytes_max),
      known_(std::make_unique<Known>(hash_)) {}

LineTable::~LineTable() = default;

const LineTable::Line* LineTable::FindLine(std::string_view series) const {
  const auto it = known_->lines.find(series);
  return it == known_->lines.end() ? nullptr : it->second.get();
}

const LineTable::Field* LineTable::FindField(const Line& line, std::string_view name, size_t* at) {
  const size_t count = line.fields.size();
  if (count == 0) return nullptr;
  const size_t begin = *at < count ? *at : *at % count;
  size_t place = begin;
  for (size_t tried = 1; tried <= std::min(count, kScannedFields); ++tried) {
    const Field& field = line.fields[place];
    if (field.Is(name)) {
      *at += tried;
      return &field;
    }
    if (++place == count) place = 0;
  }
  const auto it = line.places.find(name);
  if (it == line.places.end()) return nullptr;
  *at += (it->second + count - begin) % count + 1;
  return &line.fields[it->second];
}

size_t LineTable::AddField(Line* line, const Field& field) {
  std::vector<Field>& fields = line->fields;
  fields.push_back(field);
  if (fields.size() <= kScannedFields) return sizeof(Field);
  for (size_t i = line->places.size(); i < fields.size(); ++i)
    line->places.emplace(std::string_view(fields[i].name, fields[i].name_size),
                         static_cast<uint32_t>(i));
  return sizeof(Field) + 2 * sizeof(decltype(line->places)::value_type);
}

bool LineTable::TryFindAll(std::span<const KeyedLine> lines, std::span<const KeyedField> fields,
                           SeriesNumber* numbers) const {
  const std::shared_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  for (const KeyedLine& line : lines) {
    const Line* const known = FindLine(line.series);
    if (known == nullptr) return false;
    const std::span<const KeyedField> of_line = fields.first(line.fields);
    fields = fields.subspan(line.fields);
    size_t at = 0;
    for (const KeyedField& field : of_line) {
      const Field* const found = FindField(*known, field.name, &at);
      if (found == nullptr) return false;
      *numbers++ = found->number;
    }
    // While the searches have not passed all fields of the known line once, no name can have
    // matched twice.
    if (at > known->fields.size() && NameTwice(of_line)) return false;
  }
  return true;
}

std::optional<SeriesNumber> LineTable::Find(std::string_view series, std::string_view field) const {
  const std::shared_lock lock(mutex_);
  const Line* const line = FindLine(series);
  size_t at = 0;
  const Field* const found = line == nullptr ? nullptr : FindField(*line, field, &at);
  return found == nullptr ? std::nullopt : std::optional(found->number);
}

Bytes LineTable::FindPairs(std::string_view series) const {
  const std::shared_lock lock(mutex_);
  const Line* const line = FindLine(series);
  return line == nullptr ? Bytes() : line->pairs;
}

void LineTable::Remember(std::string_view series, std::string_view field, ByteView pairs,
                         SeriesNumber number, uint32_t generation) {
  std::unique_ptr<Known> gone;  // freed after the lock is released
  const std::unique_lock lock(mutex_);
  if (generation != generation_.load(std::memory_order_relaxed)) return;
  if (known_->bytes >= bytes_max_) gone = std::exchange(known_, std::make_unique<Known>(hash_));
  Known& known = *known_;
  auto it = known.lines.find(series);
  if (it == known.lines.end()) {
    auto line = std::make_unique<Line>(series, pairs, hash_);
    const std::string_view key = line->series;
    it = known.lines.emplace(key, std::move(line)).first;
    known.bytes += kLineOverheadBytes + series.size() + pairs.size();
  }
  Line& line = *it->second;
  size_t behind = 0;
  if (FindField(line, field, &behind) != nullptr) {
    line.fields[behind - 1].number = number;
    return;
  }
  const auto [name, is_new] = known.names.emplace(field);
  known.bytes += AddField(&line, {name->data(), static_cast<uint32_t>(name->size()), number}) +
                 (is_new ? kLineOverheadBytes + field.size() : 0);
  ++known.raw_keys;
}

void LineTable::Forget() {
  auto fresh = std::make_unique<Known>(hash_);
  const std::unique_lock lock(mutex_);
  generation_.fetch_add(1, std::memory_order_acq_rel);
  known_.swap(fresh);
}

LineTable::Stats LineTable::stats() const {
  const std::shared_lock lock(mutex_);
  return {known_->raw_keys, known_->bytes};
}

}  // namespace hg::tsd
