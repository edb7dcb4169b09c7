#pragma once
// Writes query results as JSON (opentsdb-http-api.md §10.7, §10.8, §11). The JsonWriter streams
// them to the client.

#include <vector>

#include "http/wire/json_parts.h"
#include "http/wire/json_writer.h"
#include "query/last_point.h"
#include "query/plan/validate.h"
#include "query/request/answer.h"
#include "storage/base/clock.h"

namespace hg::http {

struct AnswerForm {
  bool arrays = false;    // whether points are printed as arrays of pairs instead of object members
  bool omit_nan = false;  // whether NaN values are left out instead of printed as "NaN" or null
};

/// Writes the array of results and, if the request has showSummary, the summary. Returns early if
/// the client has disconnected. `stats` must have one element per sub-query; the function adds to
/// each element the time that all threads needed to print the results of the sub-query.
void WriteAnswer(const query::ValidQuery& query, const query::Answer& answer,
                 const AnswerForm& form, const Clock& clock, query::QueryStats* stats,
                 const Printers& printers, JsonWriter* json);

/// Writes the object "query" of a result, which contains the sub-query as it was parsed.
/// `filter_keys` are the UIDs of the tag keys that have filters. `rollup_table` is the name of the
/// table in the member "rollupTable".
void WriteSubQuery(const query::SubQuery& text, size_t index, const std::vector<Bytes>& filter_keys,
                   JsonWriter* json, std::string_view rollup_table = query::kRawTable);

void WriteLastPoints(const std::vector<query::LastPoint>& points, const Printers& printers,
                     JsonWriter* json);

}  // namespace hg::http
