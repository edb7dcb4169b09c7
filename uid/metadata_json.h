#pragma once
// Encodes and decodes metadata objects as JSON with a fixed order of fields (opentsdb-schema.md
// §14). All writers must produce exactly this JSON, because OpenTSDB's updates compare the stored
// bytes.

#include <string>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "uid/metadata.h"

namespace hg::uid {

/// kMetaFamily is the column family of all cells of metadata. kTsMeta and kTsCounter are the
/// columns of the object and of the counter of a series.
inline const Bytes kMetaFamily = "name", kTsMeta = "ts_meta", kTsCounter = "ts_ctr";

std::string EncodeUidMeta(const UidMeta& meta);
/// Sets the fields of `*meta` that are in the stored JSON. Other fields stay unchanged. Returns
/// Corruption if the bytes are not a JSON object, or if a field has the wrong type.
Status DecodeUidMeta(ByteView json, UidMeta* meta);

std::string EncodeTsMeta(const TsMeta& meta);
Status DecodeTsMeta(ByteView json, TsMeta* meta);

/// Returns the name of a kind of ids in upper case: "METRIC", "TAGK" or "TAGV".
std::string_view UidKindWord(UidKind kind);

}  // namespace hg::uid
