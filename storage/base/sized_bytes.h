#pragma once
// Length-prefixed bytes: a varint with the length, followed by the bytes. The log, the manifest and
// the rows of cell tables store names, qualifiers and values as length-prefixed bytes.

#include "storage/base/varint.h"

namespace hg {

inline void AppendSized(Bytes* out, ByteView bytes) {
  AppendVarint(out, bytes.size());
  *out += bytes;
}

/// Removes length-prefixed bytes from the front of `in` and sets `out` to a view of these bytes.
/// Returns false if `in` is too short; `in` may then have been changed.
inline bool TakeSized(ByteView* in, ByteView* out) {
  uint64_t size;
  if (!GetVarint64(in, &size) || size > in->size()) return false;
  *out = in->substr(0, size);
  in->remove_prefix(size);
  return true;
}

/// Removes length-prefixed bytes from the front of `in` and copies them to `out`. Returns false if
/// `in` is too short; `in` may then have been changed.
inline bool TakeSized(ByteView* in, Bytes* out) {
  ByteView view;
  if (!TakeSized(in, &view)) return false;
  out->assign(view);
  return true;
}

}  // namespace hg
