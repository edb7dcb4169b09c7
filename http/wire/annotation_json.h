#pragma once
// Annotations in the JSON of requests and responses (opentsdb-http-api.md §16.1). In stored JSON,
// the order of fields and the handling of null are different.

#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"
#include "storage/base/status.h"
#include "storage/codec/annotation.h"

namespace hg::http {

/// Writes an annotation in the form of /api/annotation and of query results.
void WriteAnnotation(const codec::Annotation& annotation, JsonWriter* json);

/// Parses an annotation of a request. Unknown fields are ignored, and a field with the value null
/// counts as absent. The message of InvalidArgument contains the name of the invalid field.
Result<codec::Annotation> ReadAnnotation(const JsonValue& value);

}  // namespace hg::http
