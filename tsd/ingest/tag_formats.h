#pragma once
// Tag formats. A tag format is the text in which a client writes tags, without the tag values, such
// as {"host":"…","dc":"…"}. A client writes the tags of all its series in the same format. After a
// restart, a few stored formats therefore suffice to compute the raw series keys of all series with
// known names (raw_key_recall.h). A format contains no ids, so a wrong one cannot confuse series.

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

struct TagFormat {
  static constexpr char kHole = '\0';  // cannot occur in a plain raw series key

  Dialect dialect = Dialect::kJson;
  std::string text;               // with one kHole in place of each tag value
  std::vector<std::string> keys;  // the tag keys, in the order of the holes

  /// Writes the text of tags to `out`: the format, with these values in its holes, in order. Each
  /// value must be a plain name.
  void Fill(std::span<const std::string_view> values, std::string* out) const;
};

/// Returns the format of the tags in `raw_key`. ReadPlainTags must have read `tags` from it.
std::string TextOfTagFormat(std::string_view raw_key, std::span<const TagText> tags);
/// Parses a format from its text. Returns nullopt if the text, filled with plain names, could not
/// be parsed as tags with those names as values.
std::optional<TagFormat> ReadTagFormat(Dialect dialect, std::string_view text);

/// The tag formats that clients have used. Thread-safe. The object holds at most kMax formats, and
/// at most kOfKeysMax of them per dialect and set of keys, because a client that writes each series
/// differently would need one format per series. When a limit is reached, the formats that were
/// seen first stay. New formats may replace those that came from a file (Decode) and that no client
/// has used since.
class TagFormats {
 public:
  static constexpr size_t kMax = 256;
  static constexpr size_t kOfKeysMax = 2;

  /// Records the format of the tags in a raw series key. The caller passes every key that is
  /// learned, and some of the known keys. The parameters are as in TextOfTagFormat.
  void Note(Dialect dialect, std::string_view raw_key, std::span<const TagText> tags);
  [[nodiscard]] std::vector<TagFormat> All() const;
  /// Returns a number that changes when the formats to save have changed.
  [[nodiscard]] uint64_t changes() const { return changes_.load(std::memory_order_acquire); }

  /// Returns all formats, encoded for the file (StoredTagFormats).
  [[nodiscard]] Bytes Encode() const;
  /// Adds the formats of a file. If the file is damaged or has another version, adds nothing and
  /// returns false.
  bool Decode(ByteView file);

 private:
  struct Known {
    TagFormat format;
    std::vector<std::string> sorted_keys;
    bool met = false;  // whether a client used the format since the start
  };
  /// Adds a format. Returns whether known_ contains the format now. The caller must hold mutex_.
  bool Add(TagFormat format, bool met);

  std::atomic<uint64_t> changes_{0};
  mutable std::mutex mutex_;
  std::vector<Known> known_;  // oldest first; guarded by mutex_
  std::map<std::string, size_t, std::less<>>
      places_;  // key: dialect and text; value: index in known_; guarded by mutex_
};

}  // namespace hg::tsd
