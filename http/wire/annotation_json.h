#pragma once
// Annotations on the wire (spec http-api.md §16.1): another order of fields than in storage, and
// another null.

#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"
#include "storage/base/status.h"
#include "storage/codec/annotation.h"

namespace hg::http {

/// Writes the object, as /api/annotation and query results show it.
void WriteAnnotation(const codec::Annotation& annotation, JsonWriter* json);

/// Reads an object of a request; unknown fields are passed over, nulls are as if absent.
/// InvalidArgument names the field that is not what it should be.
Result<codec::Annotation> ReadAnnotation(const JsonValue& value);

}  // namespace hg::http
