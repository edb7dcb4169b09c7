#pragma once
// Regular expressions of filters: Java's dialect as far as PCRE2 knows it. Matching is bounded, so
// that no pattern of a client can hold a thread.

#include <memory>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace hg::query {

/// Immutable and thread-safe.
class Regexp {
 public:
  /// `pattern` is UTF-8. InvalidArgument: what is wrong and where.
  static Result<std::shared_ptr<const Regexp>> Compile(std::string_view pattern);
  ~Regexp();
  Regexp(const Regexp&) = delete;
  Regexp& operator=(const Regexp&) = delete;

  /// True if the pattern is found anywhere in `text` (UTF-8). A match that exceeds the limits
  /// counts as none.
  [[nodiscard]] bool Search(std::string_view text) const;

 private:
  struct Impl;
  explicit Regexp(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hg::query
