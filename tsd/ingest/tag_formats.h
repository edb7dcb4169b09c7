#pragma once
// Tag formats. A tag format is the text in which a client writes tags, without the tag values, such
// as {"host":"…","dc":"…"}. Series with the same tag keys that a client writes in the same way
// share a format. Therefore, a few stored formats are sufficient after a restart to compute the raw
// series keys of all series with known names (raw_key_recall.h). A format contains no ids, so a
// wrong format cannot confuse series.

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
  /// The character in `text` that stands for a tag value. This character does not occur in a raw
  /// series key of ordinary form (plain_raw_key.h).
  static constexpr char kHole = '\0';

  Dialect dialect = Dialect::kJson;
  std::string text;               // the format; it has one kHole in place of each tag value
  std::vector<std::string> keys;  // the tag keys, in the order of the holes in the text

  /// Writes the text of tags to `out`: the format, with the given values in its holes, in their
  /// order. Each value must be a plain name.
  void Fill(std::span<const std::string_view> values, std::string* out) const;
};

/// Returns the text of the tag format of a raw series key. `tags` must be the result of
/// ReadPlainTags for `raw_key`.
std::string TextOfTagFormat(std::string_view raw_key, std::span<const TagText> tags);
/// Parses a tag format from its text. Returns nullopt if the text, with plain names in its holes,
/// would not be parsed as tags that have these names as values.
std::optional<TagFormat> ReadTagFormat(Dialect dialect, std::string_view text);

/// The tag formats that clients have used. The object is thread-safe.
///
/// The object stores at most kMax formats, and at most kOfKeysMax formats for each dialect and set
/// of tag keys. The limits are needed because a client that writes each series differently would
/// need one format for each series. When a limit is reached, the formats that were used first stay.
/// New formats may replace formats that came from a file (Decode) and that no client has used
/// since.
class TagFormats {
 public:
  static constexpr size_t kMax = 256;
  static constexpr size_t kOfKeysMax = 2;

  /// Records the tag format of a raw series key. Callers pass every new raw series key, and some of
  /// the known keys. The parameters are those of TextOfTagFormat.
  void Note(Dialect dialect, std::string_view raw_key, std::span<const TagText> tags);
  [[nodiscard]] std::vector<TagFormat> All() const;
  /// Returns a number that changes when the formats that must be saved have changed.
  [[nodiscard]] uint64_t changes() const { return changes_.load(std::memory_order_acquire); }

  /// Returns all formats in the encoding of the file (StoredTagFormats).
  [[nodiscard]] Bytes Encode() const;
  /// Adds the formats from the contents of a file. If the file is damaged or has another version,
  /// adds nothing and returns false.
  bool Decode(ByteView file);

 private:
  struct Known {
    TagFormat format;
    std::vector<std::string> sorted_keys;
    bool met = false;  // whether a client has used the format since the start of the process
  };
  /// Adds a format if the limits allow it. Returns whether known_ contains the format after the
  /// call. The caller must hold mutex_.
  bool Add(TagFormat format, bool met);

  std::atomic<uint64_t> changes_{0};
  mutable std::mutex mutex_;
  std::vector<Known> known_;  // the formats, oldest first; guarded by mutex_
  std::map<std::string, size_t, std::less<>>
      places_;  // maps dialect and text to an index in known_; guarded by mutex_
};

}  // namespace hg::tsd
