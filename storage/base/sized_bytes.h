#pragma once
// Bytes behind their number: a varint, then so many bytes. What log, manifest and rows of cells
// keep names, qualifiers and values as.

#include "storage/base/varint.h"

namespace hg {

inline void AppendSized(Bytes* out, ByteView bytes) {
  AppendVarint(out, bytes.size());
  *out += bytes;
}

/// Takes them from the front of `in`. False: it ends before them, and may have been moved.
inline bool TakeSized(ByteView* in, Bytes* out) {
  uint64_t size;
  if (!GetVarint64(in, &size) || size > in->size()) return false;
  out->assign(in->substr(0, size));
  in->remove_prefix(size);
  return true;
}

}  // namespace hg
