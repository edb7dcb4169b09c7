#pragma once
// Caches the names and ids that one query uses, so that the query looks up each id only once.

#include <string>
#include <string_view>
#include <unordered_map>

#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "uid/names.h"

namespace hg::query {

/// The names and ids of one query. The object is not thread-safe.
class NameMemo {
 public:
  /// Both arguments must outlive the memo. The memory of the cache is charged to `watch`, which may
  /// be nullptr.
  explicit NameMemo(uid::Names& names, RequestContext* watch = nullptr)
      : names_(names),
        context_(watch != nullptr ? *watch : RequestContext::Unlimited()),
        memory_(watch) {}

  /// Returns the UID of a name in UTF-8. NotFound: no UID has this name; the message is "No such
  /// name for 'tagk': 'X'". InvalidArgument: the name is empty.
  Result<Bytes> Find(UidKind kind, std::string_view name);
  /// Returns the UTF-8 name of a UID. The pointer is valid as long as the memo exists. NotFound:
  /// the UID has no name, so the query must fail.
  Result<const Bytes*> NameOf(UidKind kind, ByteView id);
  /// Returns the request context to which work on these names is charged. If the memo was created
  /// without a context, the result is a context without limits.
  [[nodiscard]] RequestContext& context() const { return context_; }
  /// Charges memory until the memo is destroyed, for example for results that callers derived from
  /// names.
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
