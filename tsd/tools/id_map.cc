#include "tsd/tools/id_map.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "storage/codec/row_key.h"

namespace hg::tsd {
namespace {

constexpr char kAnnotation = '\1';  // first byte of annotation qualifiers, which have 3 or 5 bytes

Bytes TsuidMember(ByteView tsuid) { return "\"tsuid\":\"" + ToHexUpper(tsuid) + '"'; }

}  // namespace

void IdMap::Add(UidKind kind, const Bytes& here, const Bytes& there) {
  if (here != there) ids_[static_cast<size_t>(kind)][here] = there;
}

bool IdMap::same() const {
  return std::all_of(std::begin(ids_), std::end(ids_), [](const auto& ids) { return ids.empty(); });
}

Bytes IdMap::Of(UidKind kind, ByteView here) const {
  const auto& ids = ids_[static_cast<size_t>(kind)];
  const auto found = ids.find(Bytes(here));
  return found == ids.end() ? Bytes(here) : found->second;
}

void IdMap::Rename(Row* row) const {
  if (same()) return;
  const auto key = codec::RowKey::Decode(layout_, row->key);
  if (!key.ok()) return;
  const Bytes here = key->tsuid();
  std::vector<Bytes> pairs;
  for (size_t i = 0; i < key->pair_count(); ++i) {
    pairs.push_back(Of(UidKind::kTagk, key->tagk(i)) + Of(UidKind::kTagv, key->tagv(i)));
  }
  const Bytes there = codec::MakeTsuid(Of(UidKind::kMetric, key->metric()), std::move(pairs));
  if (there == here) return;
  row->key = codec::MakeRowKey(layout_, there, key->base());
  const Bytes named = TsuidMember(here);
  for (Cell& cell : row->cells) {
    if (cell.qualifier.size() % 2 == 0 || cell.qualifier[0] != kAnnotation) continue;
    const size_t at = cell.value.find(named);
    if (at != Bytes::npos) cell.value.replace(at, named.size(), TsuidMember(there));
  }
}

}  // namespace hg::tsd
