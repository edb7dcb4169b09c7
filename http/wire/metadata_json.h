#pragma once
// Metadata objects in the JSON of requests (opentsdb-http-api.md §17.3, §17.4). Fields and their
// order differ from the stored JSON.

#include <string>

#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"
#include "storage/base/status.h"
#include "uid/metadata.h"

namespace hg::http {

void WriteUidMeta(const uid::UidMeta& meta, JsonWriter* json);
void WriteTsMeta(const uid::TsMeta& meta, JsonWriter* json);

/// A request for the metadata of a UID. `id` is unchanged from the request; "" if absent. Unknown
/// fields are ignored.
struct UidMetaRequest {
  std::string id;
  std::optional<UidKind> kind;
  uid::UidMeta fields;  // all fields except kind and id
};
/// Parses the document. The message of InvalidArgument names the invalid field.
Result<UidMetaRequest> ReadUidMeta(const JsonValue& value);

struct TsMetaRequest {
  std::string tsuid;   // unchanged from the request; "" if absent
  uid::TsMeta fields;  // all fields except the TSUID
};
Result<TsMetaRequest> ReadTsMeta(JsonValue document);

/// Parses "metric", "metrics", "tagk" and "tagv" in any case.
std::optional<UidKind> ParseUidKind(std::string_view word);

}  // namespace hg::http
