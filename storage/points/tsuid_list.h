#pragma once
// A list of TSUIDs in one buffer, for operations on many series.

#include <vector>

#include "storage/base/bytes.h"

namespace hg {

/// A list of TSUIDs. TsuidList is a plain value.
class TsuidList {
 public:
  void Add(ByteView metric, ByteView pairs) {
    bytes_ += metric;
    bytes_ += pairs;
    ends_.push_back(bytes_.size());
  }
  void Add(ByteView tsuid) { Add(tsuid, {}); }
  void Clear() {
    bytes_.clear();
    ends_.clear();
  }
  [[nodiscard]] size_t size() const { return ends_.size(); }
  /// Returns views of all TSUIDs. The views are valid until the list changes.
  [[nodiscard]] std::vector<ByteView> views() const {
    std::vector<ByteView> views;
    views.reserve(ends_.size());
    size_t begin = 0;
    for (const size_t end : ends_) {
      views.push_back(ByteView(bytes_).substr(begin, end - begin));
      begin = end;
    }
    return views;
  }

 private:
  Bytes bytes_;
  std::vector<size_t> ends_;
};

}  // namespace hg
