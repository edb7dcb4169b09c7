#pragma once
// The write path between the parsers and the points door (design.md §2): known spellings at one
// look-up a point, new ones by way of names, ids and registration.

#include <atomic>
#include <memory>
#include <string>

#include "storage/model/point_sink.h"
#include "storage/points/points.h"
#include "uid/names.h"

namespace hg::tsd {

class MetricLimits;
class TagShapes;

struct IngestOptions {
  bool auto_create_metrics = false;  // tsd.core.auto_create_metrics
  bool auto_create_tagks = true;
  bool auto_create_tagvs = true;
  int max_tags = 8;                   // tsd.storage.max_tags
  std::string extra_name_characters;  // tsd.core.tag.allow_specialchars, UTF-8
  bool append_blocks = false;  // Points::Append waits for another machine: for pool threads only
  size_t spelling_bytes_max = size_t{1} << 30;  // of remembered spellings; 25 to 200 B each
};

/// "{site=b1, host=s7}": Java's text of a map.
std::string TagsText(std::span<const TagText> tags);

/// The refusal of a time that is out of range. `stored`, `flags`: the value as it would be stored.
Status BadTimestamp(const NamedPoint& point, ByteView stored, uint8_t flags);

/// Thread-safe.
class Ingest : public PointSink {
 public:
  /// All outlive the object. `limits`: nullptr = metrics take what comes.
  Ingest(Points& points, uid::Names& names, IngestOptions options, MetricLimits* limits = nullptr);
  ~Ingest() override;

  Result<Appended> AppendSpelled(std::span<const SpelledPoint> points) override;
  Result<Appended> AppendLearning(std::span<const SpelledPoint> points) override;
  Result<Appended> AppendLines(std::span<const SpelledLine> lines,
                               std::span<const SpelledField> fields) override;
  Position AppendNamed(std::span<const NamedPoint> points, std::vector<Status>* results) override;
  void Commit(Position position, std::function<void(Status)> done) override;
  void ForgetSpellings() override;

  /// The series of a point, checked, named and registered, without storing the point: the importer
  /// resolves before it looks at the value (spec cli.md §5). Verdicts as AppendNamed. Blocks.
  Result<SeriesNumber> Resolve(const NamedPoint& point);

  /// What AppendNamed says of a point's names and tags before it looks for them.
  [[nodiscard]] Status CheckNames(const NamedPoint& point) const;

  // Of what is stored beside points (histogram_ingest.h, rollup_ingest.h), and counts as they do.

  /// LimitedSink::AskFor.
  Status AskForValues(std::span<const std::string_view> metrics, uint64_t values);
  /// The TSUID: names are checked and resolved, a new series is counted, the time is not looked at.
  /// Verdicts as AppendNamed. Blocks.
  Result<Bytes> ResolveTsuid(const NamedPoint& point);
  /// A value of that series was stored.
  void ChargeValue(std::string_view metric, ByteView tsuid);

  /// How the tags of spellings that were learnt are written.
  TagShapes& shapes();
  /// Makes the spellings known that follow from the shapes and the names of all series
  /// (spelling_recall.h), where the store can tell them; ends early where `stop` becomes true.
  /// False: there is no room for all. Beside anything else. Blocks.
  Result<bool> RecallSpellings(const std::atomic<bool>& stop);

  struct Stats {
    uint64_t spellings = 0;
    uint64_t spelling_bytes = 0;
    uint64_t points = 0;  // taken by the store
  };
  [[nodiscard]] Stats stats() const;

 private:
  class Resolver;
  /// find(points, numbers): whether all series are known, and their numbers.
  template <typename Find>
  Result<Appended> Append(std::span<const SpelledPoint> points, const Find& find);
  Result<LogPosition> Store(std::span<const PointEntry> entries);
  void NoteUse(std::span<const SpelledPoint> points);
  /// What the rates of the writer and of the metrics say; nobody is charged yet.
  [[nodiscard]] Status AskForPoints(std::span<const PointEntry> entries) const;

  Points& points_;
  const bool append_blocks_;
  MetricLimits* const limits_;
  std::atomic<uint64_t> stored_{0};
  std::unique_ptr<Resolver> resolver_;
};

}  // namespace hg::tsd
