#include "tsd/rollup/rollup_making.h"

#include <algorithm>

namespace hg::tsd {
namespace {

constexpr size_t kOptionBytes = 3;

}  // namespace

Bytes PlaceOf(const codec::RollupLevel& level, const RollupMaking& making) {
  Bytes out = level.table + '\0';
  AppendBig(&out, level.interval.interval_s, 4);
  AppendBig(&out, static_cast<uint32_t>(level.interval.unit), 4);
  AppendBig(&out, static_cast<uint32_t>(level.interval.span_count), 4);
  for (const uint8_t id : {making.ids.sum, making.ids.count, making.ids.min, making.ids.max})
    out.push_back(static_cast<char>(id));
  return out;
}

Bytes MadeOf(const codec::RollupLevel& level, const RollupMaking& making) {
  Bytes out = PlaceOf(level, making);
  const ReconcileOptions& reconcile = making.reconcile;
  for (const bool option :
       {reconcile.fix_duplicates, reconcile.use_max_value, reconcile.use_otsdb_timestamp})
    out.push_back(option ? 1 : 0);
  return out;
}

Bytes PlaceIn(ByteView made) {
  return Bytes(made.substr(0, made.size() - std::min(kOptionBytes, made.size())));
}

}  // namespace hg::tsd
