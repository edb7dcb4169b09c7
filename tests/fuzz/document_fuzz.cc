// Documents, files and lines other than points and queries: metadata, trees and annotations in
// requests and in storage, histograms, settings files, lines of the tools, the file of users,
// credentials. Accepted input is written and read again without a change.

#include <unistd.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "http/access/credentials.h"
#include "http/access/user_file.h"
#include "http/request/influx_target.h"
#include "http/wire/annotation_json.h"
#include "http/wire/histogram_text.h"
#include "http/wire/json_value.h"
#include "http/wire/json_writer.h"
#include "http/wire/metadata_json.h"
#include "http/wire/series_expression.h"
#include "http/wire/tree_json.h"
#include "query/request/limits_file.h"
#include "query/time/time_zone.h"
#include "storage/base/invariant.h"
#include "storage/model/number_text.h"
#include "tsd/properties.h"
#include "tsd/rollup_config.h"
#include "tsd/tools/cell_line.h"
#include "tsd/tools/import_line.h"
#include "tsd/tools/line_source.h"
#include "tsd/tools/query_words.h"
#include "uid/java_pattern.h"
#include "uid/metadata_json.h"
#include "uid/tree.h"
#include "uid/tree_path.h"

namespace hg {
namespace {

/// Errors have a text and one of these codes.
template <typename T>
bool Read(const Result<T>& result) {
  if (result.ok()) return true;
  const StatusCode code = result.status().code();
  INVARIANT(code == StatusCode::kInvalidArgument || code == StatusCode::kCorruption ||
            code == StatusCode::kLimitExceeded);
  INVARIANT(!result.status().message().empty());
  return false;
}

/// Objects in cells: encoding and decoding gives the same object.
template <typename T, typename Decode, typename Encode>
void StoredObject(ByteView json, Decode decode, Encode encode) {
  T object{}, again{};
  const Status status = decode(json, &object);
  INVARIANT(status.ok() || status.code() == StatusCode::kCorruption);
  if (!status.ok()) return;
  const std::string written = encode(object);
  INVARIANT(decode(written, &again).ok());
  INVARIANT(encode(again) == written);
}

void Stored(ByteView json) {
  StoredObject<uid::UidMeta>(json, uid::DecodeUidMeta, uid::EncodeUidMeta);
  StoredObject<uid::TsMeta>(json, uid::DecodeTsMeta, uid::EncodeTsMeta);
  StoredObject<uid::Tree>(json, uid::DecodeTree, uid::EncodeTree);
  StoredObject<uid::TreeRule>(json, uid::DecodeTreeRule, uid::EncodeTreeRule);
  StoredObject<std::vector<std::string>>(json, uid::DecodeTreeBranch, uid::EncodeTreeBranch);
  StoredObject<uid::TreeLeaf>(json, uid::DecodeTreeLeaf, uid::EncodeTreeLeaf);
}

void Sent(std::string_view text) {
  const auto json = http::ParseJson(text, nullptr);
  if (!Read(json)) return;
  std::string out;
  if (const auto note = http::ReadAnnotation(*json); Read(note)) {
    http::JsonWriter writer(&out);
    http::WriteAnnotation(*note, &writer);
    const auto parsed = http::ParseJson(out, nullptr);
    INVARIANT(parsed.ok());
    const auto again = http::ReadAnnotation(*parsed);
    INVARIANT(again.ok() && *again == *note);
  }
  if (const auto meta = http::ReadUidMeta(*json); Read(meta)) {
    out.clear();
    http::JsonWriter writer(&out);
    http::WriteUidMeta(meta->fields, &writer);
    INVARIANT(http::ParseJson(out, nullptr).ok());
  }
  if (const auto meta = http::ReadTsMeta(*json); Read(meta)) {
    out.clear();
    http::JsonWriter writer(&out);
    http::WriteTsMeta(meta->fields, &writer);
    INVARIANT(http::ParseJson(out, nullptr).ok());
  }
}

void Histograms(std::string_view text) {
  codec::SimpleHistogram histogram;
  if (http::ParseBucketWords(text, &histogram)) {
    const auto bytes = codec::EncodeSimpleHistogram(histogram);
    INVARIANT(bytes.ok() || bytes.status().code() == StatusCode::kInvalidArgument);
    if (bytes.ok()) {
      const auto back = codec::DecodeSimpleHistogram(*bytes);
      INVARIANT(back.ok());
    }
  }
  (void)Read(http::DecodeHistogramText(text, 0));
  (void)http::AddBucket(text, 1, &histogram);
}

/// Accepted input is written and read again. Names must be legal.
void Users(std::string_view text) {
  const auto users = http::ParseUserFile(text);
  if (!Read(users)) return;
  for (const http::User& user : *users) INVARIANT(http::CheckUserName(user.name).ok());
  const std::string written = http::UserFileText(*users);
  const auto again = http::ParseUserFile(written);
  INVARIANT(again.ok() && again->size() == users->size());
  INVARIANT(http::UserFileText(*again) == written);
}

/// Reads credentials of clients from headers, telnet lines and targets. Their names end at the
/// first colon or blank.
void Said(std::string_view text) {
  using Kind = http::Credentials::Kind;
  const http::Credentials field = http::ReadAuthorization(text);
  INVARIANT((field.kind == Kind::kNone) == text.empty());
  INVARIANT(field.kind != Kind::kPassword || field.name.find(':') == std::string::npos);
  const std::string line = "auth " + std::string(text);
  INVARIANT(http::IsAuthLine(line));
  const http::Credentials by_line = http::ReadAuthLine(line);
  INVARIANT(by_line.kind != Kind::kNone);
  INVARIANT(by_line.name.find(' ') == std::string::npos);
  (void)http::ReadAuthLine(text);
  (void)http::InfluxCredentials("/write?" + std::string(text));
  INVARIANT(http::InfluxCredentials("/api/put?" + std::string(text)).kind == Kind::kNone);
}

void Lines(std::string_view text) {
  Said(text);
  (void)Read(http::ParseSeriesExpression(text));
  if (const auto line = tsd::ParseImportLine(text); Read(line)) {
    INVARIANT(line->time.raw > 0 && !line->metric.empty() && !line->value.empty());
    PointValue value;
    NumberError error;
    const auto tags = tsd::ParseImportTags(line->tags);
    if (Read(tags) && ParseValue(line->value, EntryPath::kImport, &value, &error)) {
      const std::string written =
          tsd::ImportLineText(line->metric, line->time.raw, value, " " + std::string(line->tags));
      const auto again =
          tsd::ParseImportLine(std::string_view(written).substr(0, written.size() - 1));
      INVARIANT(again.ok() && again->metric == line->metric && again->tags == line->tags);
      PointValue same;
      INVARIANT(ParseValue(again->value, EntryPath::kImport, &same, &error));
      INVARIANT(same == value);
    }
  }
  if (const auto cell = tsd::ParseCellLine(text); Read(cell)) {
    const std::string written =
        cell->table + "\t" +
        tsd::CellLineText(cell->row, {cell->family, cell->qualifier, cell->value, 0});
    const auto again = tsd::ParseCellLine(written);
    INVARIANT(again.ok() && again->row == cell->row && again->qualifier == cell->qualifier);
    INVARIANT(again->table == cell->table && again->value == cell->value);
  }
  std::vector<std::string> words;
  std::istringstream in{std::string(text)};
  for (std::string word; std::getline(in, word, ' ');) words.push_back(word);
  if (words.size() < tsd::kQueryWordsMin) return;
  (void)Read(tsd::ParseQueryWords(words, 1'700'000'000'000, query::TimeZone()));
}

/// Lines are returned unchanged, whatever the sizes of the reads, and none is lost.
void Source(const std::string& path, std::string_view text) {
  std::istringstream in{std::string(text)};
  auto source = tsd::LineSource::Open(path, in);
  INVARIANT(source.ok());
  size_t taken = 0;
  std::string_view line;
  for (;;) {
    const auto more = (*source)->Next(&line);
    INVARIANT(more.ok());
    if (!*more) break;
    const size_t end = std::min(text.find('\n', taken), text.size());
    std::string_view expected = text.substr(taken, end - taken);
    if (end < text.size() && expected.ends_with('\r')) expected.remove_suffix(1);
    INVARIANT(line == expected || (end == text.size() && line == expected.substr(0, line.size())));
    taken = end + 1;
  }
  INVARIANT(taken >= text.size());
}

/// A compressed text has the same lines as the text itself. Files that are not gzip, or are
/// damaged, give an error.
void PackedSource(std::string_view bytes) {
  static const std::string path = "/tmp/document_fuzz." + std::to_string(getpid()) + ".gz";
  const gzFile packed = gzopen(path.c_str(), "wb1");
  INVARIANT(packed != nullptr);
  (void)gzwrite(packed, bytes.data(), static_cast<unsigned>(bytes.size()));
  INVARIANT(gzclose(packed) == Z_OK);
  Source(path, bytes);
  std::ofstream(path, std::ios::binary) << bytes;
  std::istringstream unused;
  auto source = tsd::LineSource::Open(path, unused);
  std::string_view line;
  for (bool more = Read(source); more;) {
    const auto next = (*source)->Next(&line);
    more = Read(next) && *next;
  }
  std::filesystem::remove(path);
}

void Files(std::string_view text) {
  Users(text);
  (void)Read(tsd::ParseRollupConfig(text));
  (void)Read(query::ParseLimitsFile(text));
  (void)tsd::ParseProperties(text);
  Source("-", text);
}

/// The input has the form "pattern\ntext".
void JavaPatterns(std::string_view in) {
  const size_t cut = std::min(in.find('\n'), in.size());
  const std::string_view text = in.substr(std::min(cut + 1, in.size()));
  const auto pattern = uid::JavaPattern::Compile(in.substr(0, cut));
  if (!Read(pattern)) return;
  for (const int group : {0, 1, 7}) {
    const auto found = (*pattern)->Group(text, group);
    INVARIANT(!found || text.find(*found) != std::string_view::npos);
  }
  size_t bytes = 0;
  const auto pieces = (*pattern)->Split(text, RequestContext::Unlimited());
  for (const std::string& piece : *pieces) bytes += piece.size();
  INVARIANT(bytes <= text.size());
}

}  // namespace
}  // namespace hg

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'z') {
    hg::PackedSource(rest);
    return 0;
  }
  switch (data[0] % 6) {
    case 0:
      hg::Stored(rest);
      break;
    case 1:
      hg::Sent(rest);
      break;
    case 2:
      hg::Histograms(rest);
      break;
    case 3:
      hg::Lines(rest);
      break;
    case 4:
      hg::Files(rest);
      break;
    case 5:
      hg::JavaPatterns(rest);
      break;
  }
  return 0;
}
