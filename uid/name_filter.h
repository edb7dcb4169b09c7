#pragma once
// Which new names may get an id: the filter that OpenTSDB brings along (UniqueIdWhitelistFilter;
// spec schema.md §19.2, tsd.uidfilter.whitelist.*).

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/model/uid_kind.h"
#include "uid/java_pattern.h"

namespace hg::uid {

/// Thread-safe.
class NameFilter {
 public:
  /// Lists of regular expressions by kind. `delimiter`, itself one, parts a list. InvalidArgument:
  /// one of them cannot be understood.
  static Result<std::unique_ptr<NameFilter>> Compile(const std::array<std::string, 3>& lists,
                                                     const std::string& delimiter);

  /// Every pattern of the kind is found in the name; a kind without patterns allows all. Counted.
  bool Allows(UidKind kind, std::string_view name);

  [[nodiscard]] uint64_t accepted(UidKind kind) const { return of(kind).accepted; }
  [[nodiscard]] uint64_t rejected(UidKind kind) const { return of(kind).rejected; }

 private:
  struct Kind {
    std::vector<std::shared_ptr<const JavaPattern>> patterns;
    std::atomic<uint64_t> accepted{0}, rejected{0};
  };

  NameFilter() = default;
  Kind& of(UidKind kind) { return kinds_[static_cast<size_t>(kind)]; }
  [[nodiscard]] const Kind& of(UidKind kind) const { return kinds_[static_cast<size_t>(kind)]; }

  std::array<Kind, 3> kinds_;
};

}  // namespace hg::uid
