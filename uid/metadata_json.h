#pragma once
// Stored form of metadata objects: JSON with fixed field order (spec schema.md §14). A foreign
// writer must emit exactly this, or OpenTSDB's later updates of the series' object fail.

#include <string>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "uid/metadata.h"

namespace hg::uid {

std::string EncodeUidMeta(const UidMeta& meta);
/// Sets what is stored and leaves the rest. Corruption: no JSON object, or a field of another type.
Status DecodeUidMeta(ByteView json, UidMeta* meta);

std::string EncodeTsMeta(const TsMeta& meta);
Status DecodeTsMeta(ByteView json, TsMeta* meta);

/// "METRIC", "TAGK", "TAGV".
std::string_view UidKindWord(UidKind kind);

}  // namespace hg::uid
