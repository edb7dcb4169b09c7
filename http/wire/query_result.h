#pragma once
// Answers of queries as JSON (spec http-api.md §10.7, §10.8, §11). Streams through the writer.

#include <vector>

#include "http/wire/json_parts.h"
#include "http/wire/json_writer.h"
#include "query/answer.h"
#include "query/last_point.h"
#include "query/validate.h"
#include "storage/base/clock.h"

namespace hg::http {

struct AnswerForm {
  bool arrays = false;    // points as pairs instead of members
  bool omit_nan = false;  // NaN is left out instead of "NaN" or null
};

/// The array of output objects and, with showSummary, the summary. Ends early when the client has
/// gone. The time it takes is added to `stats`, which has an entry for each sub-query: that of all
/// threads.
void WriteAnswer(const query::ValidQuery& query, const query::Answer& answer,
                 const AnswerForm& form, const Clock& clock, query::QueryStats* stats,
                 const Printers& printers, JsonWriter* json);

/// One sub-query as parsed: the "query" object. `filter_keys`: UIDs of its filtered tag keys.
void WriteSubQuery(const query::SubQuery& text, size_t index, const std::vector<Bytes>& filter_keys,
                   JsonWriter* json, std::string_view rollup_table = query::kRawTable);

void WriteLastPoints(const std::vector<query::LastPoint>& points, const Printers& printers,
                     JsonWriter* json);

}  // namespace hg::http
