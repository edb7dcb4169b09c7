#include "storage/thrift2/scanners.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hg::thrift2 {
namespace {

constexpr size_t kBatchRowsMax = 128;
constexpr size_t kBatchBytes = 1 << 20;  // maximum that a scanner reads ahead
constexpr int64_t kScannerBytes = 4096;  // memory of the structures of a scanner

ScanSpec SpecOf(const std::string& table, const wire::TScan& scan) {
  ScanSpec spec;
  spec.table = table;
  spec.start = scan.startRow;
  spec.stop = scan.stopRow;
  spec.reversed = scan.reversed;
  // In HBase, a scan from a key to the same key returns that key.
  if (!spec.start.empty() && spec.start == spec.stop) {
    spec.stop.push_back('\0');
    spec.reversed = false;
  }
  spec.fill_cache = !scan.__isset.cacheBlocks || scan.cacheBlocks;
  spec.batch_bytes = kBatchBytes;
  return spec;
}

}  // namespace

Scanner::Scanner(std::string table, const wire::TScan& scan, std::unique_ptr<CallContext> context,
                 const std::string& method)
    : table_(std::move(table)),
      method_(method),
      context_(std::move(context)),
      columns_(scan.columns),
      choice_(scan, method),
      spec_(SpecOf(table_, scan)),
      batch_cells_(scan.__isset.batchSize ? std::max(scan.batchSize, 0) : 0),
      rows_left_(scan.__isset.limit && scan.limit > 0 ? static_cast<uint64_t>(scan.limit)
                                                      : std::numeric_limits<uint64_t>::max()),
      memory_(context_.get()) {
  static_cast<CellSelection&>(spec_) = choice_.selection();
  spec_.context = context_.get();
  if (choice_.keeps_all() && batch_cells_ == 0) spec_.limit_rows = rows_left_;
  Check(memory_.Add(kScannerBytes + choice_.memory_bytes() +
                    static_cast<int64_t>(spec_.start.size() + spec_.stop.size())),
        table_, method_);
}

void Scanner::Open(Store& store, size_t rows) {
  spec_.batch_rows = std::clamp<size_t>(rows, 1, kBatchRowsMax);
  auto cursor = store.Scan(spec_);
  Check(cursor.status(), table_, method_);
  cursor_ = std::move(*cursor);
}

bool Scanner::NextRow() {
  for (;;) {
    if (at_ == rows_.size()) {
      at_ = 0;
      Check(cursor_->Next(&rows_), table_, method_);
      if (rows_.empty()) return false;
    }
    row_ = std::move(rows_[at_++]);
    cell_at_ = 0;
    Check(context_->Step(1 + row_.cells.size()), table_, method_);
    choice_.Keep(&row_, context_.get());
    if (!row_.empty()) return true;
  }
}

wire::TResult Scanner::TakeResult(int64_t bytes_max, MemoryTally* reply) {
  Row piece;
  if (batch_cells_ == 0) {
    piece = std::exchange(row_, {});
  } else {
    piece.key = row_.key;
    while (cell_at_ < row_.cells.size() && piece.cells.size() < static_cast<size_t>(batch_cells_)) {
      piece.cells.push_back(std::move(row_.cells[cell_at_++]));
    }
  }
  // Each piece of a row has a copy of the key.
  Check(CountRow(piece, reply), table_, method_);
  Check(reply->Add(sizeof(wire::TResult)), table_, method_);
  CheckResponse(reply->held(), bytes_max, "fetch fewer rows");
  wire::TResult result = WriteRow(std::move(piece));
  if (batch_cells_ > 0) result.__set_partial(cell_at_ < row_.cells.size());
  return result;
}

void Scanner::Fetch(Store& store, size_t rows, int socket, int64_t bytes_max, MemoryTally* reply,
                    std::vector<wire::TResult>* results) {
  context_->Begin(socket);
  if (!cursor_) Open(store, rows);
  while (results->size() < rows && rows_left_ > 0) {
    if (cell_at_ >= row_.cells.size()) {
      if (!NextRow()) return;
    }
    results->push_back(TakeResult(bytes_max, reply));
    if (cell_at_ >= row_.cells.size()) --rows_left_;
  }
}

Result<int32_t> Scanners::Add(std::shared_ptr<Scanner> scanner, uint64_t connection) {
  const MutexLock lock(mutex_);
  const auto of_connection =
      std::count_if(entries_.begin(), entries_.end(),
                    [&](const auto& entry) { return entry.second.connection == connection; });
  if (entries_.size() >= scanners_max_ ||
      static_cast<size_t>(of_connection) >= per_connection_max_) {
    return Status::Busy("too many scanners are open: " + std::to_string(of_connection) +
                        " of this connection, " + std::to_string(entries_.size()) + " in total");
  }
  int32_t id = 0;
  do {
    id = static_cast<int32_t>(next_id_++ & 0x7fffffff);
  } while (entries_.contains(id));
  entries_[id] = {std::move(scanner), connection, 0, std::chrono::steady_clock::now()};
  return id;
}

std::shared_ptr<Scanner> Scanners::Use(int32_t id) {
  const MutexLock lock(mutex_);
  const auto it = entries_.find(id);
  if (it == entries_.end()) return nullptr;
  ++it->second.users;
  return it->second.scanner;
}

void Scanners::Done(int32_t id) {
  const MutexLock lock(mutex_);
  const auto it = entries_.find(id);
  if (it == entries_.end()) return;
  --it->second.users;
  it->second.last_use = std::chrono::steady_clock::now();
}

void Scanners::Remove(int32_t id) {
  std::shared_ptr<Scanner> closed;  // destroyed without the lock
  const MutexLock lock(mutex_);
  const auto it = entries_.find(id);
  if (it == entries_.end()) return;
  closed = std::move(it->second.scanner);
  entries_.erase(it);
}

void Scanners::CloseIdle(std::chrono::milliseconds idle) {
  std::vector<std::shared_ptr<Scanner>> closed;
  const auto now = std::chrono::steady_clock::now();
  const MutexLock lock(mutex_);
  std::erase_if(entries_, [&](auto& entry) {
    if (entry.second.users > 0 || now - entry.second.last_use < idle) return false;
    closed.push_back(std::move(entry.second.scanner));
    return true;
  });
}

void Scanners::Clear() {
  std::map<int32_t, Entry> closed;
  const MutexLock lock(mutex_);
  closed.swap(entries_);
}

size_t Scanners::size() const {
  const MutexLock lock(mutex_);
  return entries_.size();
}

}  // namespace hg::thrift2
