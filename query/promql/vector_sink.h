#pragma once
// What the sinks share that make an instant vector of samples.

#include <deque>
#include <memory>
#include <vector>

#include "query/promql/sample_reader.h"
#include "query/promql/value.h"

namespace hg::query::promql {

/// A column for each series, which the sinks below fill. One thread at a time.
class VectorSink : public SampleSink {
 public:
  Status AddSeries(Labels labels) override;
  std::vector<SampleSink*> Cut(size_t parts) override;
  Status Join() override;
  /// Once, at the end: series without any sample are left out.
  Result<Value> Finish();

 protected:
  /// The tally outlives the sink and its result, its watch, too.
  VectorSink(size_t steps, WorkWatch* watch, MemoryTally* tally)
      : steps_(steps), watch_(watch), tally_(*tally) {}

  /// One more series: what is kept for its samples.
  virtual void BeginSeries() = 0;
  /// Another sink of the same kind.
  virtual std::unique_ptr<VectorSink> MakePart(MemoryTally* tally) const = 0;

  [[nodiscard]] WorkWatch* watch() const { return watch_; }
  [[nodiscard]] MemoryTally& tally() { return tally_; }
  [[nodiscard]] Column& column(size_t series) { return value_.vector[series].values; }

 private:
  struct Part {
    explicit Part(WorkWatch* watch) : memory(watch) {}
    MemoryTally memory;
    std::unique_ptr<VectorSink> sink;
  };
  Status EndAll();

  const size_t steps_;
  WorkWatch* const watch_;
  MemoryTally& tally_;
  Value value_;
  std::deque<Part> parts_;  // until Join
};

}  // namespace hg::query::promql
