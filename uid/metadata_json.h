#pragma once
// The stored form of metadata objects: JSON with a fixed field order (opentsdb-schema.md §14). All
// writers must produce exactly this form, because OpenTSDB's updates compare the stored bytes.

#include <string>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "uid/metadata.h"

namespace hg::uid {

/// The family of all cells of metadata, and the columns of a series: its object and its counter.
inline const Bytes kMetaFamily = "name", kTsMeta = "ts_meta", kTsCounter = "ts_ctr";

std::string EncodeUidMeta(const UidMeta& meta);
/// Sets those fields that are in the stored form. Other fields stay unchanged. Corruption: the
/// bytes are not a JSON object, or a field has the wrong type.
Status DecodeUidMeta(ByteView json, UidMeta* meta);

std::string EncodeTsMeta(const TsMeta& meta);
Status DecodeTsMeta(ByteView json, TsMeta* meta);

/// Returns "METRIC", "TAGK" or "TAGV".
std::string_view UidKindWord(UidKind kind);

}  // namespace hg::uid
