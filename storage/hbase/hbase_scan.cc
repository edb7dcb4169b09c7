#include "storage/hbase/hbase_scan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "storage/base/survive.h"
#include "storage/hbase/filter_bytes.h"
#include "storage/hbase/hbase_store.h"
#include "storage/hbase/wire_types.h"
#include "storage/points/filter_row.h"

namespace hg::hbase {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// Returns the average size of a row.
size_t RowBytes(const std::vector<wire::TResult>& results) {
  constexpr size_t kCellOverhead = 32;  // time, type and separators of a cell
  size_t bytes = 0;
  for (const wire::TResult& result : results) {
    bytes += result.row.size();
    for (const wire::TColumnValue& cell : result.columnValues) {
      bytes += cell.family.size() + cell.qualifier.size() + cell.value.size() + kCellOverhead;
    }
  }
  return bytes / results.size();
}

}  // namespace

HbaseScan::HbaseScan(Client* client, const ScanSpec& spec)
    : client_(client),
      spec_(spec),
      fetch_rows_(client->options.fetch_rows),
      memory_(spec.context) {}

Result<std::unique_ptr<ScanCursor>> HbaseScan::Open(Client* client, const ScanSpec& spec) {
  RETURN_IF_ERROR(points::CheckFilter(spec.filter));
  std::unique_ptr<HbaseScan> scan(new HbaseScan(client, spec));
  wire::TTimeRange range;
  scan->done_ = scan->EmptyRange() || spec.limit_rows == 0 || !ChosenTimes(spec, &range);
  if (!scan->done_) RETURN_IF_ERROR(scan->Fetch());
  return std::unique_ptr<ScanCursor>(std::move(scan));
}

// The scanner ends by itself if closing it fails or throws.
HbaseScan::~HbaseScan() {
  (void)Survive([this] { Close(); });
}

// Returns whether the range is empty. In HBase a range with equal start and stop contains that key.
bool HbaseScan::EmptyRange() const {
  if (spec_.reversed) return !spec_.start.empty() && spec_.stop >= spec_.start;
  return !spec_.stop.empty() && spec_.start >= spec_.stop;
}

bool HbaseScan::AtEnd() const {
  return !spec_.reversed && last_ && !spec_.stop.empty() && *last_ + Bytes(1, '\0') >= spec_.stop;
}

wire::TScan HbaseScan::Describe() const {
  wire::TScan scan;
  if (!spec_.start.empty()) scan.__set_startRow(spec_.start);
  if (!spec_.stop.empty()) scan.__set_stopRow(spec_.stop);
  // Continues after the last key. A descending scan cannot name the greatest key before the last
  // one, so it reads the last row again.
  if (last_) scan.__set_startRow(spec_.reversed ? *last_ : *last_ + Bytes(1, '\0'));
  scan.columns = ChosenColumns(spec_);
  scan.__isset.columns = !scan.columns.empty();
  scan.__set_caching(RowsToFetch());
  scan.__set_maxVersions(spec_.max_versions);
  if (!AllTimes(spec_)) {
    wire::TTimeRange range;
    (void)ChosenTimes(spec_, &range);
    scan.__set_timeRange(range);
  }
  if (spec_.reversed) scan.__set_reversed(true);
  scan.__set_cacheBlocks(spec_.fill_cache);
  if (Bytes filter = FilterBytes(spec_, spec_.filter, spec_.reversed); !filter.empty()) {
    scan.__set_filterBytes(filter);
  }
  return scan;
}

int32_t HbaseScan::RowsToFetch() const {
  size_t rows = fetch_rows_;
  if (row_bytes_ > 0) {
    rows = std::min(rows, std::min(spec_.batch_bytes, client_->options.fetch_bytes) / row_bytes_);
  }
  if (spec_.filter.kind == RowFilter::Kind::kAll) {
    rows = std::min<uint64_t>({rows, spec_.batch_rows, spec_.limit_rows - given_});
  }
  return static_cast<int32_t>(std::max<size_t>(rows, 1));
}

Attempt HbaseScan::FetchOnce(Deadline deadline, std::vector<wire::TResult>* results,
                             bool* forgotten) {
  const auto wanted = scanner_ ? std::optional(scanner_->gateway) : std::nullopt;
  auto lease = client_->pool.Take(wanted, deadline);
  if (!lease.ok()) {
    return {lease.status(), lease.status().code() == StatusCode::kUnavailable, false, true};
  }
  *forgotten = scanner_ && scanner_->epoch != lease->epoch();
  if (*forgotten) return {};
  const CallOptions call{"a scan", spec_.table};
  return CallOnce(*lease, call, [&](wire::THBaseServiceClient& service) {
    results->clear();
    if (!scanner_) {
      const int32_t id = service.openScanner(spec_.table, Describe());
      scanner_ = Scanner{id, lease->gateway(), lease->epoch()};
    }
    try {
      service.getScannerRows(*results, scanner_->id, RowsToFetch());
    } catch (const wire::TIllegalArgument&) {
      *forgotten = true;
    }
  });
}

Status HbaseScan::Fetch() {
  const auto begin = steady_clock::now();
  int attempts = 0;
  Status status = Fetch(&attempts);
  if (attempts > 0) {
    client_->counters.Count("scan", attempts, steady_clock::now() - begin, status);
  } else if (!status.ok()) {
    client_->counters.CountRefused("scan");
  }
  return status;
}

Status HbaseScan::Fetch(int* attempts) {
  const GatewayPool::Entry entry = client_->pool.Enter();
  if (!entry.refusal().ok()) {
    scanner_.reset();  // lost together with its gateway
    return Prepend(entry.refusal(), "a scan of table " + spec_.table);
  }
  const Deadline deadline = steady_clock::now() + milliseconds(client_->options.deadline_ms);
  for (int n = 1;; ++n) {
    if (!scanner_ && AtEnd()) {
      done_ = true;
      return {};
    }
    *attempts = n;
    std::vector<wire::TResult> results;
    bool forgotten = false;
    const Attempt attempt = FetchOnce(deadline, &results, &forgotten);
    if (attempt.status.ok() && !forgotten) {
      Keep(std::move(results));
      return {};
    }
    // A scanner whose fetch failed may have advanced, so its position is unknown.
    if (attempt.lost || forgotten) scanner_.reset();
    Close();
    if (attempt.status.code() == StatusCode::kLimitExceeded && fetch_rows_ > 1) {
      fetch_rows_ = std::max<size_t>(1, static_cast<size_t>(RowsToFetch()) / 2);
      continue;
    }
    const Status failure = Prepend(attempt.status, "a scan of table " + spec_.table);
    if (!attempt.status.ok() && !attempt.temporary) return failure;
    if (forgotten && n == 1) continue;
    if (attempt.lost && static_cast<size_t>(n) < client_->pool.gateway_count()) continue;
    if (attempt.lost && entry.looks()) return failure;
    const bool busy = attempt.status.code() == StatusCode::kBusy;
    if (!BackOff(client_->options, n, busy, deadline)) {
      return forgotten ? Status::Unavailable("the gateway lost the scanner on each try for table " +
                                             spec_.table)
                       : failure;
    }
  }
}

void HbaseScan::Keep(std::vector<wire::TResult> results) {
  ready_.clear();
  given_of_ready_ = 0;
  done_ = results.empty();
  if (!results.empty()) row_bytes_ = RowBytes(results);
  for (wire::TResult& result : results) {
    if (spec_.reversed && last_ && result.row >= *last_) continue;
    if (!spec_.reversed && !spec_.stop.empty() && result.row >= spec_.stop) continue;
    last_ = result.row;
    ++examined_;
    Row row = ReadRow(std::move(result));
    std::erase_if(row.cells, [&](const Cell& cell) {
      return !points::ColumnChosen(spec_, cell.family, cell.qualifier);
    });
    if (row.cells.empty() || !points::RowPasses(spec_.filter, row.key, row.cells)) continue;
    points::Strip(spec_, &row.cells);
    ready_.push_back(std::move(row));
  }
}

Status HbaseScan::Next(std::vector<Row>* rows) {
  rows->clear();
  memory_.Remove(memory_.held());  // frees the charge of the rows returned last
  while (!done_ && given_of_ready_ == ready_.size()) {
    if (given_ == spec_.limit_rows) done_ = true;
    if (!done_) RETURN_IF_ERROR(Fetch());
  }
  size_t bytes = 0;
  while (given_of_ready_ < ready_.size() && rows->size() < spec_.batch_rows &&
         given_ < spec_.limit_rows && bytes < spec_.batch_bytes) {
    Row& row = ready_[given_of_ready_++];
    bytes += row.key.size();
    for (const Cell& cell : row.cells) {
      bytes += cell.family.size() + cell.qualifier.size() + cell.value.size();
    }
    RETURN_IF_ERROR(CountRow(row, &memory_));
    rows->push_back(std::move(row));
    ++given_;
  }
  if (rows->empty()) Close();
  return {};
}

// Closes the scanner. Otherwise, the scanner would keep resources of a region server until it
// expires. A failure is ignored.
void HbaseScan::Close() {
  if (!scanner_) return;
  const Scanner scanner = *std::exchange(scanner_, std::nullopt);
  auto lease = client_->pool.Take(scanner.gateway, steady_clock::now() + milliseconds(1000));
  if (!lease.ok() || lease->epoch() != scanner.epoch) return;
  (void)CallOnce(*lease, {"closeScanner", spec_.table},
                 [&](wire::THBaseServiceClient& service) { service.closeScanner(scanner.id); });
}

Result<std::unique_ptr<ScanCursor>> HbaseStore::Scan(const ScanSpec& spec) {
  return HbaseScan::Open(client_.get(), spec);
}

}  // namespace hg::hbase
