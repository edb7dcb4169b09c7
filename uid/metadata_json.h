#pragma once
// Encodes and decodes metadata objects as JSON with a fixed order of fields (opentsdb-schema.md
// §14). All writers must produce exactly this JSON, because OpenTSDB's updates compare the stored
// bytes.

#include <string>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "uid/metadata.h"

namespace hg::uid {

/// The family of all cells of metadata, and the two columns of a series: its object and its
/// counter.
inline const Bytes kMetaFamily = "name", kTsMeta = "ts_meta", kTsCounter = "ts_ctr";

std::string EncodeUidMeta(const UidMeta& meta);
/// Sets those fields that are in the stored JSON. Other fields stay unchanged. Returns Corruption
/// if the bytes are not a JSON object, or if a field has the wrong type.
Status DecodeUidMeta(ByteView json, UidMeta* meta);

std::string EncodeTsMeta(const TsMeta& meta);
Status DecodeTsMeta(ByteView json, TsMeta* meta);

/// Returns the name of a kind in upper case: "METRIC", "TAGK" or "TAGV".
std::string_view UidKindWord(UidKind kind);

}  // namespace hg::uid
