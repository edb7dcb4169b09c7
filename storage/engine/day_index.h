#pragma once
// The day index of a file of the points table: for each day (UTC), the series that have rows in the
// file (storage/points/FORMAT.md "Day index"). The day index is the meta block of the file. With
// the day index, a lookup finds the series of a time range without reading rows.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <roaring/roaring.hh>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/engine/number_set.h"
#include "storage/engine/registry.h"

namespace hg::engine {

inline constexpr uint32_t kIndexedDayS = 86'400;

/// Collects the day index of one file. Not thread-safe.
class DayIndexWriter {
 public:
  /// Notes a row of the series with this number. Calls are fastest if the rows of a series and of a
  /// day come together.
  void Add(uint32_t number, ByteView tsuid, uint32_t base);
  /// Notes a further row of the series that was noted last.
  void AddAgain(uint32_t base);
  /// Returns the day index. Call this function once.
  [[nodiscard]] Bytes Encode();

 private:
  /// The numbers of a day. Rows of a file come in an order in which the numbers are random. A
  /// Roaring would insert them into sorted arrays, which is slow.
  class Numbers {
   public:
    void Add(uint32_t number);
    [[nodiscard]] Roaring Compressed() const;

   private:
    static constexpr size_t kFewMax = 2048;  // more numbers take less memory as a bitmap
    using Bitmap = std::array<uint64_t, 1024>;
    /// 65,536 numbers: `few` in any order and with repetitions, or the bitmap.
    struct Block {
      std::vector<uint16_t> few;
      std::unique_ptr<Bitmap> many;
    };
    std::vector<Block> blocks_;  // by number / 65,536
  };

  std::map<uint32_t, Numbers> days_;  // key: day since 1970; value: numbers of series
  NumberSet all_;
  uint64_t fingerprint_ = 0;  // fingerprint of the series in all_
  // Series number and day of the row that was noted last.
  uint32_t number_ = 0, day_ = 0;
  Numbers* numbers_ = nullptr;  // the entry of day_ in days_; null: no row was noted yet
};

/// Adds to `series` the numbers of the series with rows from the first to the last day, both
/// included. Returns false if `index` is not a valid day index.
bool AddSeriesOfDays(ByteView index, uint32_t first_day, uint32_t last_day, Roaring* series);

/// Returns whether the bytes are a valid day index.
bool IsDayIndex(ByteView index);

/// Returns whether the numbers in a valid day index mean the same series in this registry. Returns
/// false if a repair has assigned new numbers since the file was written.
Result<bool> HasNumbersOf(ByteView index, const Registry& registry, RequestContext* watch);

}  // namespace hg::engine
