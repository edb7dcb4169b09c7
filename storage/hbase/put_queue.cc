#include "storage/hbase/put_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "storage/base/keyed_hash.h"
#include "storage/base/sized_bytes.h"
#include "storage/hbase/client.h"
#include "storage/hbase/failure.h"

namespace hg::hbase {
namespace {

using Service = wire::THBaseServiceClient;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Returns a unique name of the column of a cell. The parts of the name cannot be confused.
Bytes NameOf(const wire::TPut& put, const wire::TColumnValue& cell) {
  Bytes name;
  AppendSized(&name, put.row);
  AppendSized(&name, cell.family);
  name += cell.qualifier;
  return name;
}

}  // namespace

std::vector<Status> PutQueue::Send(const std::string& table, std::vector<Put> puts) {
  const Status late = Status::Unavailable("HBase has not answered older writes to table " + table);
  const auto caller = std::make_shared<Caller>();
  caller->statuses.assign(puts.size(), late);
  caller->unknown = puts.size();
  std::list<Waiting> own;
  size_t bytes = 0;
  for (size_t i = 0; i < puts.size(); ++i) {
    bytes += puts[i].bytes;
    own.push_back({std::move(puts[i]), {caller, i}});
  }
  const bool spooled = client_->Spooled(table);
  const auto give_up = steady_clock::now() + milliseconds(client_->PutDeadlineMs(table));
  std::unique_lock lock(mutex_);
  TableQueue& queue = queues_[table];
  // From here on nothing may throw, because the threads of other callers may send the puts of this
  // caller, and this thread may send theirs.
  queue.waiting.splice(queue.waiting.end(), own);
  queue.waiting_bytes += bytes;
  while (caller->unknown > 0) {
    if (MaySend(queue)) {
      SendFirst(table, &queue, lock);
    } else if (!spooled) {
      queue.changed.wait(lock);
    } else if (queue.changed.wait_until(lock, give_up) == std::cv_status::timeout &&
               caller->unknown > 0 && !MaySend(queue)) {
      caller->stopped = late;
      FailWaiting(&queue, {});
      return caller->statuses;  // a copy, because the threads that send the other puts still write
                                // their statuses
    }
  }
  return std::move(caller->statuses);
}

void PutQueue::SendFirst(const std::string& table, TableQueue* queue,
                         std::unique_lock<std::mutex>& lock) noexcept {
  Batch batch;
  try {
    batch = TakeBatch(queue);
  } catch (...) {
    FailWaiting(queue, no_memory_);
    queue->changed.notify_all();
    return;
  }
  ++queue->calls;
  ++batches_;
  rows_ += batch.puts.size();
  lock.unlock();
  SendBatch(table, &batch);
  lock.lock();
  --queue->calls;
  for (const wire::TPut& put : batch.puts) queue->rows_on_the_way.erase(put.row);
  for (size_t i = 0; i < batch.places.size(); ++i) Tell(batch.places[i], batch.statuses[i]);
  const auto away =
      std::find_if(batch.statuses.begin(), batch.statuses.end(),
                   [](const Status& status) { return status.code() == StatusCode::kUnavailable; });
  FailWaiting(queue, away == batch.statuses.end() ? Status() : *away);
  queue->changed.notify_all();
}

void PutQueue::AddStats(HbaseStats* stats) {
  const std::lock_guard lock(mutex_);
  for (const auto& [table, queue] : queues_) stats->puts_waiting += queue.waiting.size();
  stats->put_batches = batches_;
  stats->put_rows = rows_;
}

bool PutQueue::MaySend(const TableQueue& queue) const {
  // Concurrent calls end in any order, so two calls must not send the same row at the same time.
  if (queue.waiting.empty() || queue.rows_on_the_way.contains(queue.waiting.front().put.put.row)) {
    return false;
  }
  const bool full = queue.waiting.size() >= client_->options.batch_rows ||
                    queue.waiting_bytes >= client_->options.batch_bytes;
  return queue.calls == 0 || (full && queue.calls < kCallsMax);
}

PutQueue::Batch PutQueue::TakeBatch(TableQueue* queue) const {
  keyed_hash::Set rows;
  keyed_hash::Set columns;
  const auto repeats = [&](const wire::TPut& put) {
    return std::any_of(put.columnValues.begin(), put.columnValues.end(),
                       [&](const auto& cell) { return columns.contains(NameOf(put, cell)); });
  };
  size_t count = 0;
  size_t bytes = 0;
  for (const Waiting& next : queue->waiting) {
    const wire::TPut& put = next.put.put;
    if (count == client_->options.batch_rows) break;
    if (count > 0 && bytes + next.put.bytes > client_->options.batch_bytes) break;
    if (queue->rows_on_the_way.contains(put.row) || (rows.contains(put.row) && repeats(put))) break;
    for (const wire::TColumnValue& cell : put.columnValues) columns.insert(NameOf(put, cell));
    rows.insert(put.row);
    bytes += next.put.bytes;
    ++count;
  }
  Batch batch;
  batch.puts.reserve(count);
  batch.places.reserve(count);
  batch.statuses.resize(count);
  queue->rows_on_the_way.reserve(queue->rows_on_the_way.size() + rows.size());
  // All memory is allocated; from here on nothing throws.
  queue->rows_on_the_way.merge(rows);
  for (; count > 0; --count) {
    Waiting& first = queue->waiting.front();
    batch.puts.push_back(std::move(first.put.put));
    batch.places.push_back(std::move(first.place));
    queue->waiting.pop_front();
  }
  queue->waiting_bytes -= bytes;
  return batch;
}

void PutQueue::Tell(const Place& place, const Status& status) {
  Caller& caller = *place.caller;
  if (IsTemporary(status) && caller.stopped.ok()) caller.stopped = status;
  caller.statuses[place.at] = status;
  --caller.unknown;
}

// Fails puts that wait. Otherwise each of them would wait as long as the call that failed, or
// overwrite newer writes later.
void PutQueue::FailWaiting(TableQueue* queue, const Status& away) {
  for (auto one = queue->waiting.begin(); one != queue->waiting.end();) {
    const Status why = away.ok() ? one->place.caller->stopped : away;
    if (why.ok()) {
      ++one;
      continue;
    }
    queue->waiting_bytes -= one->put.bytes;
    Tell(one->place, why);
    one = queue->waiting.erase(one);
  }
}

void PutQueue::SendBatch(const std::string& table, Batch* batch) noexcept {
  std::vector<Status>& statuses = batch->statuses;
  try {
    const int deadline_ms = client_->PutDeadlineMs(table);
    const auto send_one = [&](const wire::TPut& put) {
      const CallOptions call{"put", table, Repeat::kAlways, deadline_ms};
      return client_->Send(call, [&](Service& service) { service.put(table, put); });
    };
    if (batch->puts.size() == 1) {
      statuses[0] = send_one(batch->puts[0]);
      return;
    }
    const Status sent =
        client_->Send({"putMultiple", table, Repeat::kAlways, deadline_ms},
                      [&](Service& service) { service.putMultiple(table, batch->puts); });
    std::fill(statuses.begin(), statuses.end(), sent);
    // The failure does not say which rows it concerns, and the other rows were written, so each row
    // is sent alone. If HBase is unreachable or busy, no row was written. Sending each row would
    // then only repeat the wait.
    if (sent.ok() || IsTemporary(sent)) return;
    for (size_t i = 0; i < statuses.size(); ++i) {
      const bool away = i > 0 && statuses[i - 1].code() == StatusCode::kUnavailable;
      statuses[i] = away ? statuses[i - 1] : send_one(batch->puts[i]);
    }
  } catch (...) {
    // Other callers wait for the statuses of their puts, so each put must get one.
    std::fill(statuses.begin(), statuses.end(), no_memory_);
  }
}

}  // namespace hg::hbase
