#include "storage/codec/qualifier.h"
#include "storage/points/points.h"

namespace hg {

PointEntry MakePointEntry(SeriesNumber series, Timestamp time, const PointValue& value) {
  return {series, time.base(), codec::Qualifier::Of(time, value.flags).bits, value.bits};
}

}  // namespace hg
