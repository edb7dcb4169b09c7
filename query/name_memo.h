#pragma once
// Names and ids as one query sees them: each is looked up once.

#include <string>
#include <string_view>
#include <unordered_map>

#include "storage/base/status.h"
#include "storage/base/work_watch.h"
#include "uid/names.h"

namespace hg::query {

/// One thread at a time.
class NameMemo {
 public:
  /// Both outlive the memo; what it holds is charged to `watch`, if there is one.
  explicit NameMemo(uid::Names& names, WorkWatch* watch = nullptr)
      : names_(names), memory_(watch) {}

  /// UID of a name in UTF-8. NotFound: "No such name for 'tagk': 'X'"; InvalidArgument: it is
  /// empty.
  Result<Bytes> Find(UidKind kind, std::string_view name);
  /// UTF-8 name of a UID. NotFound: there is none, which a query cannot answer around. The
  /// reference lives as long as the memo.
  Result<const Bytes*> NameOf(UidKind kind, ByteView id);
  /// Names of UIDs that were looked up.
  [[nodiscard]] uint64_t resolved() const {
    return by_id_[0].size() + by_id_[1].size() + by_id_[2].size();
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view v) const { return std::hash<std::string_view>()(v); }
  };
  uid::Names& names_;
  MemoryTally memory_;
  std::unordered_map<Bytes, Bytes, Hash, std::equal_to<>> by_id_[3];
};

}  // namespace hg::query
