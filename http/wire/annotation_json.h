#pragma once
// Annotations in JSON (opentsdb-http-api.md §16.1). The order of fields and the handling of null
// differ from those of the stored JSON.

#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"
#include "storage/base/status.h"
#include "storage/codec/annotation.h"

namespace hg::http {

/// Writes an annotation in the form that /api/annotation and query results use.
void WriteAnnotation(const codec::Annotation& annotation, JsonWriter* json);

/// Reads an annotation of a request. Unknown fields are ignored; nulls count as absent.
/// InvalidArgument names the invalid field.
Result<codec::Annotation> ReadAnnotation(const JsonValue& value);

}  // namespace hg::http
