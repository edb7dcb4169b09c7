#pragma once
// Metadata objects on the wire (spec http-api.md §17.3, §17.4): other fields and another order than
// in storage.

#include <string>

#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"
#include "storage/base/status.h"
#include "uid/metadata.h"

namespace hg::http {

void WriteUidMeta(const uid::UidMeta& meta, JsonWriter* json);
void WriteTsMeta(const uid::TsMeta& meta, JsonWriter* json);

/// A request about an id. `id` and `type` are as sent; "" if absent. Unknown fields are passed
/// over.
struct UidMetaRequest {
  std::string id;
  std::optional<UidKind> kind;
  uid::UidMeta fields;  // but kind and id
};
/// InvalidArgument names the field that is not what it should be.
Result<UidMetaRequest> ReadUidMeta(const JsonValue& value);

struct TsMetaRequest {
  std::string tsuid;   // as sent; "" if absent
  uid::TsMeta fields;  // but the TSUID
};
Result<TsMetaRequest> ReadTsMeta(JsonValue document);

/// "metric", "metrics", "tagk" or "tagv" in any case.
std::optional<UidKind> ParseUidKind(std::string_view word);

}  // namespace hg::http
