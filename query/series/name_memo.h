#pragma once
// Caches the names and UIDs that one query uses, so that the query looks up each UID only once.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "uid/names.h"

namespace hg::query {

/// Turns the result of a look-up of names into an optional value. nullopt: a UID has no name
/// (NotFound). A client can create a series with this UID, for example with an annotation. PromQL,
/// lists and filters leave out this series. A group of /api/query that contains it fails, as in
/// OpenTSDB. All other errors are returned.
template <typename Named>
Result<std::optional<Named>> IfNamed(Result<Named> found) {
  if (found.ok()) return std::optional<Named>(*std::move(found));
  if (found.status().code() == StatusCode::kNotFound) return std::optional<Named>();
  return found.status();
}

/// The cache of the names and UIDs of one query. Not thread-safe.
class NameMemo {
 public:
  /// `names` and `watch` must outlive the memo. The memory of the cache is charged to `watch`,
  /// which may be nullptr.
  explicit NameMemo(uid::Names& names, RequestContext* watch = nullptr)
      : names_(names),
        context_(watch != nullptr ? *watch : RequestContext::Unlimited()),
        memory_(watch) {}

  /// Returns the UID of a name. `name` is UTF-8. NotFound: no UID has this name; the message is "No
  /// such name for 'tagk': 'X'". InvalidArgument: the name is empty.
  Result<Bytes> Find(UidKind kind, std::string_view name);
  /// Returns the name of a UID, in UTF-8. The pointer is valid as long as the memo exists.
  /// NotFound: the UID has no name; the query must fail with this error.
  Result<const Bytes*> NameOf(UidKind kind, ByteView id);
  /// Returns the request context to which callers charge work on the names of the query. If the
  /// memo was created without a context, the result is a context without limits.
  [[nodiscard]] RequestContext& context() const { return context_; }
  /// Charges `bytes` bytes of memory until the memo is destroyed. Callers use this function for
  /// data that they derived from names.
  Status Hold(int64_t bytes) { return memory_.Add(bytes); }
  /// Returns the number of UIDs whose names were looked up.
  [[nodiscard]] uint64_t resolved() const {
    return by_id_[0].size() + by_id_[1].size() + by_id_[2].size();
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view v) const { return std::hash<std::string_view>()(v); }
  };
  uid::Names& names_;
  RequestContext& context_;
  MemoryTally memory_;
  std::unordered_map<Bytes, Bytes, Hash, std::equal_to<>> by_id_[3];
};

}  // namespace hg::query
