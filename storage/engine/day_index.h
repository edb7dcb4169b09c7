#pragma once
// The day index of a file of the points table (storage/points/FORMAT.md "Day index"). For each day
// (UTC), the day index names the series that have rows in the file. The day index is the meta block
// of the file. With the day index, a lookup finds the series of a time range without reading rows.

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
  /// Records that the file has a row of this series with the base time `base`, in seconds. Calls
  /// are fastest if rows of the same series and the same day are added one after the other.
  void Add(uint32_t number, ByteView tsuid, uint32_t base);
  /// Records another row of the series that was passed to Add last. Add must have been called.
  void AddAgain(uint32_t base);
  /// Returns the encoded day index. Call this function once, after all rows were added.
  [[nodiscard]] Bytes Encode();

 private:
  /// Collects the series numbers of one day in unsorted lists and plain bitmaps. The numbers arrive
  /// in random order. A Roaring bitmap would insert them into sorted arrays, which is slow.
  class Numbers {
   public:
    void Add(uint32_t number);
    [[nodiscard]] Roaring Compressed() const;

   private:
    static constexpr size_t kFewMax = 2048;  // more numbers than this take less memory as a bitmap
    using Bitmap = std::array<uint64_t, 1024>;
    /// A block for 65,536 possible numbers. It holds either `few`, unsorted and with repetitions,
    /// or the bitmap `many`.
    struct Block {
      std::vector<uint16_t> few;
      std::unique_ptr<Bitmap> many;
    };
    std::vector<Block> blocks_;  // index: number / 65,536
  };

  std::map<uint32_t, Numbers> days_;  // key: days since 1970-01-01; value: numbers of series
  NumberSet all_;
  uint64_t fingerprint_ = 0;  // fingerprint of the series in all_
  // Series number and day of the row that was recorded last.
  uint32_t number_ = 0, day_ = 0;
  Numbers* numbers_ = nullptr;  // the entry of day_ in days_; null if no row was recorded yet
};

/// Adds to `series` the series that have rows from first_day to last_day, both included (days since
/// 1970, UTC). Returns false if `index` is not valid; `series` may then have some of the numbers.
bool AddSeriesOfDays(ByteView index, uint32_t first_day, uint32_t last_day, Roaring* series);

/// Returns whether `index` is a valid day index.
bool IsDayIndex(ByteView index);

/// Returns whether each number in `index` means the same series as in the registry. Returns false
/// if a repair has assigned new numbers, or a series was forgotten. `watch` may be null.
Result<bool> HasNumbersOf(ByteView index, const Registry& registry, RequestContext* watch);

}  // namespace hg::engine
