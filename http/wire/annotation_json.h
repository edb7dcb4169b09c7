#pragma once
// Annotations in the JSON of requests and responses (opentsdb-http-api.md §16.1). The order of
// fields and the handling of null differ from the stored JSON.

#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"
#include "storage/base/status.h"
#include "storage/codec/annotation.h"

namespace hg::http {

/// Writes an annotation in the form for /api/annotation and query results.
void WriteAnnotation(const codec::Annotation& annotation, JsonWriter* json);

/// Parses an annotation of a request. Ignores unknown fields; nulls count as absent. The message of
/// InvalidArgument names the invalid field.
Result<codec::Annotation> ReadAnnotation(const JsonValue& value);

}  // namespace hg::http
