#include "tsd/retention/retention_rules.h"

#include <fstream>
#include <set>
#include <sstream>

#include "query/plan/filter.h"
#include "query/request/json_array.h"
#include "query/time/duration.h"
#include "storage/model/key_layout.h"
#include "storage/model/name_text.h"

namespace hg::tsd {
namespace {

constexpr int64_t kLeastKeepMs = int64_t{kRowSpan} * 1000;

// Rejects repeated fields, because only one of several equal fields would have an effect.
Status RefuseRepeats(const rapidjson::Value& object) {
  std::set<std::string_view> names;
  for (const auto& member : object.GetObject()) {
    const std::string_view name(member.name.GetString(), member.name.GetStringLength());
    if (!names.insert(name).second)
      return Status::InvalidArgument("\"" + std::string(name) + "\" occurs twice");
  }
  return {};
}

Status ReadTags(const rapidjson::Value& tags, std::vector<query::FilterSpec>* filters) {
  if (!tags.IsObject())
    return Status::InvalidArgument(
        "\"tags\" must be an object with a filter for each tag "
        "key");
  RETURN_IF_ERROR(RefuseRepeats(tags));
  for (const auto& tag : tags.GetObject()) {
    if (!tag.value.IsString()) {
      return Status::InvalidArgument(std::string("the filter of \"") + tag.name.GetString() +
                                     "\" must be a text");
    }
    ASSIGN_OR_RETURN(query::FilterSpec filter,
                     query::LegacyFilter(tag.name.GetString(), tag.value.GetString(), false));
    RETURN_IF_ERROR(query::TagFilter::Compile(filter).status());
    filters->push_back(std::move(filter));
  }
  return {};
}

Result<RetentionRule> ReadRule(const rapidjson::Value& value) {
  if (!value.IsObject()) return Status::InvalidArgument("it is not an object");
  RETURN_IF_ERROR(RefuseRepeats(value));
  RetentionRule rule;
  bool kept = false;
  for (const auto& member : value.GetObject()) {
    const std::string_view name = member.name.GetString();
    if (name == "tags") {
      RETURN_IF_ERROR(ReadTags(member.value, &rule.filters));
    } else if (name == "metric" && member.value.IsString()) {
      rule.metric = member.value.GetString();
    } else if (name == "keep" && member.value.IsString()) {
      ASSIGN_OR_RETURN(const query::Duration keep, query::ParseDuration(member.value.GetString()));
      rule.keep_ms = keep.millis();
      if (rule.keep_ms < kLeastKeepMs) {
        return Status::InvalidArgument(std::string("\"keep\" must be at least one hour, not ") +
                                       member.value.GetString());
      }
      kept = true;
    } else {
      // Unknown fields are rejected, because ignoring a misspelled one could delete more than
      // intended.
      return Status::InvalidArgument("it has a field \"" + std::string(name) +
                                     "\" with an unknown name or a wrong type");
    }
  }
  if (rule.metric.empty() || !kept)
    return Status::InvalidArgument("the fields \"metric\" and \"keep\" are required");
  rule.begins = rule.metric.back() == '*';
  if (rule.begins) rule.metric.pop_back();
  if (rule.metric.find('*') != std::string::npos)
    return Status::InvalidArgument("a star is allowed only at the end of a metric");
  // A character beyond ISO-8859-1 is stored as '?', so the prefix would match other metrics, too.
  if (rule.begins && !FitsLatin1(rule.metric)) {
    return Status::InvalidArgument("the prefix \"" + rule.metric +
                                   "*\" has characters beyond ISO-8859-1; use a shorter prefix or "
                                   "whole names");
  }
  return rule;
}

}  // namespace

Result<std::vector<RetentionRule>> ParseRetentionRules(std::string_view json) {
  rapidjson::Document document;
  RETURN_IF_ERROR(query::ParseJsonArray(json, "rules", &document));
  std::vector<RetentionRule> rules;
  for (const auto& item : document.GetArray()) {
    Result<RetentionRule> rule = ReadRule(item);
    if (!rule.ok()) return Prepend(rule.status(), "rule " + std::to_string(rules.size() + 1));
    rules.push_back(std::move(*rule));
  }
  return rules;
}

Result<std::vector<RetentionRule>> ReadRetentionRules(const std::string& source) {
  if (source.empty()) return std::vector<RetentionRule>();
  std::string text = source;
  if (!source.starts_with('[')) {
    std::ifstream file(source, std::ios::binary);
    std::ostringstream read;
    read << file.rdbuf();
    if (!file)
      return Status::InvalidArgument("the file with retention rules cannot be read: " + source);
    text = std::move(read).str();
  }
  Result<std::vector<RetentionRule>> rules = ParseRetentionRules(text);
  if (!rules.ok()) return Prepend(rules.status(), "tsd.retention.config");
  return rules;
}

}  // namespace hg::tsd
