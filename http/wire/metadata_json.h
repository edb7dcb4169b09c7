#pragma once
// Metadata objects in the JSON of requests and responses (opentsdb-http-api.md §17.3, §17.4). In
// stored JSON, the fields and their order are different.

#include <string>

#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"
#include "storage/base/status.h"
#include "uid/metadata.h"

namespace hg::http {

void WriteUidMeta(const uid::UidMeta& meta, JsonWriter* json);
void WriteTsMeta(const uid::TsMeta& meta, JsonWriter* json);

/// A request for the metadata of a UID. `id` is the text of the request, unchanged; "" if the
/// request has none. Unknown fields are ignored.
struct UidMetaRequest {
  std::string id;
  std::optional<UidKind> kind;
  uid::UidMeta fields;  // all fields of the request except kind and id
};
/// Parses the request. The message of InvalidArgument contains the name of the invalid field. Also
/// returns the errors of `context`, as ReadTsMeta does.
Result<UidMetaRequest> ReadUidMeta(const JsonValue& value,
                                   RequestContext& context = RequestContext::Unlimited());

struct TsMetaRequest {
  std::string tsuid;   // TSUID as in the request, unchanged; "" if the request has none
  uid::TsMeta fields;  // all fields of the request except the TSUID
};
Result<TsMetaRequest> ReadTsMeta(JsonValue document,
                                 RequestContext& context = RequestContext::Unlimited());

/// Parses the words "metric", "metrics", "tagk" and "tagv". The case of letters is ignored. Returns
/// nullopt for all other words.
std::optional<UidKind> ParseUidKind(std::string_view word);

}  // namespace hg::http
