#pragma once
// Results of PromQL as Prometheus' HTTP API prints them: times are seconds, values are texts.

#include "http/wire/json_writer.h"
#include "query/promql/labels.h"
#include "query/promql/steps.h"
#include "query/promql/value.h"

namespace hg::http {

/// {"resultType":…,"result":…} of an instant query.
void WriteInstant(const query::promql::Value& value, int64_t time_ms, JsonWriter* json);

/// The same of a range query: always a matrix, sorted by labels; series without samples are left
/// out. `value` is a scalar or a vector.
void WriteRange(const query::promql::Value& value, const query::promql::Steps& steps,
                JsonWriter* json);

/// {"__name__":"up","job":"a"}
void WriteLabels(const query::promql::Labels& labels, JsonWriter* json);

}  // namespace hg::http
