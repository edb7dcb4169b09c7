#pragma once
// How senders spell tags, values left out: {"host":"…","dc":"…"}. A sender spells those of all its
// series alike, so a few shapes, kept over a restart, tell how series whose names are known will be
// spelled (spelling_recall.h). A shape says nothing of ids: whatever is kept, no series can be
// taken for another.

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/model/point_sink.h"

namespace hg::tsd {

struct TagShape {
  static constexpr char kHole = '\0';  // no plain spelling has it

  Dialect dialect = Dialect::kJson;
  std::string text;               // a hole for each value
  std::vector<std::string> keys;  // in the order of the holes

  /// The tags with these values, in the order of the holes, each of which is a plain name.
  void Fill(std::span<const std::string_view> values, std::string* out) const;
};

/// The shape of tags that were read from this spelling (ReadPlainTags).
std::string TextOfShape(std::string_view spelling, std::span<const TagText> tags);
/// None: filled with plain names it would not be read as tags with those values.
std::optional<TagShape> ReadShape(Dialect dialect, std::string_view text);

/// Thread-safe. Holds kMax at most, and kOfKeysMax of one dialect and the same keys: senders that
/// spell each series another way would need one for each. What is met first stays; what was kept
/// from before (Decode) until others come, if it is not met by then.
class TagShapes {
 public:
  static constexpr size_t kMax = 256;
  static constexpr size_t kOfKeysMax = 2;

  /// Tags that were met: all that are learnt, and some of those known; as TextOfShape.
  void Note(Dialect dialect, std::string_view spelling, std::span<const TagText> tags);
  [[nodiscard]] std::vector<TagShape> All() const;
  /// Another one when there is something new to keep.
  [[nodiscard]] uint64_t changes() const { return changes_.load(std::memory_order_acquire); }

  /// As a file keeps them.
  [[nodiscard]] Bytes Encode() const;
  /// Adds those of a file. False: it is damaged, or none of this version; nothing is added.
  bool Decode(ByteView file);

 private:
  struct Known {
    TagShape shape;
    std::vector<std::string> sorted_keys;
    bool met = false;  // since the start
  };
  /// With mutex_. Whether it is one of them now.
  bool Add(TagShape shape, bool met);

  std::atomic<uint64_t> changes_{0};
  mutable std::mutex mutex_;
  std::vector<Known> known_;                           // oldest first; guarded by mutex_
  std::map<std::string, size_t, std::less<>> places_;  // in known_, by dialect and text; the same
};

}  // namespace hg::tsd
