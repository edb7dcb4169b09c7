#pragma once
// Writes PromQL results in the form of Prometheus' HTTP API: times in seconds, and values as texts.

#include "http/wire/json_writer.h"
#include "query/promql/labels.h"
#include "query/promql/steps.h"
#include "query/promql/value.h"

namespace hg::http {

/// Writes the result of an instant query: {"resultType":…,"result":…}.
void WriteInstant(const query::promql::Value& value, int64_t time_ms, JsonWriter* json);

/// Writes the result of a range query in the form {"resultType":…,"result":…}. The result is a
/// matrix without the series that have no samples. `value` must be a scalar or a vector.
void WriteRange(const query::promql::Value& value, const query::promql::Steps& steps,
                JsonWriter* json);

/// Writes labels as a JSON object, such as {"__name__":"up","job":"a"}.
void WriteLabels(const query::promql::Labels& labels, JsonWriter* json);

}  // namespace hg::http
