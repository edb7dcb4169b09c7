#include <string>

#include "http/api/handlers.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "http/wire/json_writer.h"

namespace hg::http {
namespace {

struct FilterHelp {
  std::string_view name, examples, description;
};

// The filters are in the order of OpenTSDB's response. Programs use only the names. The other texts
// are for people.
constexpr FilterHelp kFilters[] = {
    {"regexp",
     R"(host=regexp(web[0-9]+)  {"type":"regexp","tagk":"host","filter":"web[0-9]+","groupBy":false})",
     "Values that match a regular expression as a whole. Curly braces cannot be written in a URL."},
    {"iwildcard",
     R"(host=iwildcard(web*)  {"type":"iwildcard","tagk":"host","filter":"web*","groupBy":false})",
     "Values that fit a pattern in which * stands for any characters; case does not matter."},
    {"iliteral_or",
     R"(host=iliteral_or(web01|web02)  {"type":"iliteral_or","tagk":"host","filter":"web01|web02","groupBy":false})",
     "Values that equal one of the words between the pipes; case does not matter."},
    {"not_iliteral_or",
     R"(host=not_iliteral_or(web01|web02)  {"type":"not_iliteral_or","tagk":"host","filter":"web01|web02","groupBy":false})",
     "Values that equal none of the words between the pipes; case does not matter."},
    {"not_literal_or",
     R"(host=not_literal_or(web01|web02)  {"type":"not_literal_or","tagk":"host","filter":"web01|web02","groupBy":false})",
     "Values that equal none of the words between the pipes."},
    {"literal_or",
     R"(host=literal_or(web01|web02)  {"type":"literal_or","tagk":"host","filter":"web01|web02","groupBy":false})",
     "Values that equal one of the words between the pipes."},
    {"wildcard",
     R"(host=wildcard(web*)  {"type":"wildcard","tagk":"host","filter":"web*","groupBy":false})",
     "Values that fit a pattern in which * stands for any characters."},
};

/// Credentials in the settings are masked already (tsd/config.h).
std::string SettingsJson(const Services& services) {
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  for (const auto& [key, value] : services.settings) json.Member(key, value);
  json.EndObject();
  return body;
}

std::string FiltersJson() {
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  for (const FilterHelp& filter : kFilters) {
    json.Key(filter.name);
    json.BeginObject();
    json.Member("examples", filter.examples);
    json.Member("description", filter.description);
    json.EndObject();
  }
  json.EndObject();
  return body;
}

}  // namespace

void HandleConfig(const Request& request, Services& services, ResponseWriter& out) {
  SendJson(out, request, request.Segment(1) == "filters" ? FiltersJson() : SettingsJson(services));
}

}  // namespace hg::http
