#pragma once
// Decides which new names may get an id, as OpenTSDB's UniqueIdWhitelistFilter does
// (opentsdb-schema.md §19.2, tsd.uidfilter.whitelist.*).

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

/// The patterns that new names must match. Thread-safe.
class NameFilter {
 public:
  /// Compiles the regular expressions of each kind. Each element of `lists` is a text that lists
  /// the regular expressions of one kind. `delimiter` is a regular expression that separates the
  /// elements of a list. Returns InvalidArgument if a regular expression is invalid.
  static Result<std::unique_ptr<NameFilter>> Compile(const std::array<std::string, 3>& lists,
                                                     const std::string& delimiter);

  /// Returns whether all regular expressions of the kind are found in the name. If the kind has no
  /// regular expressions, every name is allowed. Also counts the name in accepted() or rejected().
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
