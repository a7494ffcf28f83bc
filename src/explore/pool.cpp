#include "explore/pool.h"

#include <algorithm>

#include "support/assert.h"

namespace isoscope::explore {
namespace {

void merge(Added& all, const Added& more) {
  if (all.size() < more.size()) all.resize(more.size());
  for (std::size_t depth = 0; depth < more.size(); ++depth) {
    std::vector<std::uint32_t>& sessions = all[depth];
    sessions.insert(sessions.end(), more[depth].begin(), more[depth].end());
    std::sort(sessions.begin(), sessions.end());
    sessions.erase(std::unique(sessions.begin(), sessions.end()), sessions.end());
  }
}

}  // namespace

void pack(Packer& out, const Piece& piece) {
  out.number(piece.join).number(piece.added.size());
  for (const auto& sessions : piece.added) out.numbers(sessions);
  out.numbers(piece.words);
}

Piece unpack_piece(Unpacker& in) {
  Piece piece;
  piece.join = in.number();
  piece.added.resize(in.count());
  for (auto& sessions : piece.added) sessions = in.numbers();
  piece.words = in.numbers();
  return piece;
}

Pool::Pool(unsigned threads, unsigned process, Work work)
    : num_threads_(threads), process_(process), work_(std::move(work)) {
  update();
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work_off(); });
}

Pool::~Pool() {
  {
    const std::scoped_lock lock(mutex_);
    is_closing_ = true;
  }
  for_threads_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Pool::work_off() {
  std::unique_lock lock(mutex_);
  for (;;) {
    for_threads_.wait(lock, [&] { return is_closing_ || (!queue_.empty() && !is_draining_); });
    if (is_closing_) return;
    const Piece piece = std::move(queue_.front());
    queue_.pop_front();
    ++num_running_;
    update();
    lock.unlock();
    work_(piece);
    lock.lock();
    --num_running_;
    update();
    if (num_running_ == 0) for_leader_.notify_one();
  }
}

// Requires: the lock is held.
void Pool::update() {
  const auto idle = static_cast<std::int64_t>(num_threads_ - num_running_);
  hunger_.store(idle + num_wanted_ - static_cast<std::int64_t>(queue_.size()),
                std::memory_order_relaxed);
}

// Requires: the lock is held.
void Pool::push(Piece piece) {
  queue_.push_back(std::move(piece));
  update();
  for_threads_.notify_one();
}

void Pool::give(Piece piece) {
  const std::scoped_lock lock(mutex_);
  push(std::move(piece));
}

JoinId Pool::open_join(std::uint32_t num_parts) {
  const std::scoped_lock lock(mutex_);
  const JoinId id = (std::uint64_t{epoch_} << 56) | (std::uint64_t{process_} << 32) | ++num_joins_;
  if (process_ == 0) {
    joins_[id].num_missing = num_parts;
  } else {
    news_.opened.push_back({id, num_parts});
  }
  return id;
}

void Pool::arrive(Arrival arrival) {
  const std::scoped_lock lock(mutex_);
  if (process_ == 0) {
    arrive_here(std::move(arrival));
  } else {
    news_.arrivals.push_back(std::move(arrival));
  }
}

// Requires: the lock is held.
void Pool::arrive_here(Arrival arrival) {
  const auto found = joins_.find(arrival.join);
  ISO_ASSERT(found != joins_.end());
  Join& join = found->second;
  merge(join.added, arrival.added);
  if (arrival.rest) join.rest = std::move(arrival.rest);
  if (--join.num_missing > 0) return;
  ISO_ASSERT(join.rest.has_value());
  merge(join.rest->added, join.added);
  push(*std::move(join.rest));
  joins_.erase(found);
}

void Pool::put_join(JoinId id, Join join) {
  const std::scoped_lock lock(mutex_);
  joins_[id] = std::move(join);
}

void Pool::wait(std::chrono::microseconds limit) {
  std::unique_lock lock(mutex_);
  for_leader_.wait_for(lock, limit,
                       [&] { return num_running_ == 0 && (queue_.empty() || is_draining_); });
}

Pool::News Pool::news() {
  const std::scoped_lock lock(mutex_);
  News news = std::move(news_);
  news_ = {};
  while (process_ != 0 && num_wanted_ > 0 && !queue_.empty() && !is_draining_) {
    news.to_others.push_back(std::move(queue_.front()));
    queue_.pop_front();
    --num_wanted_;
  }
  news.num_idle = num_threads_ - num_running_;
  news.is_idle = num_running_ == 0 && queue_.empty();
  if (news.is_idle && process_ != 0) num_wanted_ = 0;  // they will hear that there is nothing
  update();
  return news;
}

void Pool::want(unsigned num_pieces) {
  const std::scoped_lock lock(mutex_);
  num_wanted_ = num_pieces;
  update();
}

unsigned Pool::num_wanted() const {
  const std::scoped_lock lock(mutex_);
  return num_wanted_;
}

std::optional<Piece> Pool::take() {
  const std::scoped_lock lock(mutex_);
  if (queue_.empty()) return std::nullopt;
  Piece piece = std::move(queue_.front());
  queue_.pop_front();
  update();
  return piece;
}

void Pool::drain() {
  const std::scoped_lock lock(mutex_);
  is_draining_ = true;
}

void Pool::go_on() {
  const std::scoped_lock lock(mutex_);
  is_draining_ = false;
  for_threads_.notify_all();
}

bool Pool::is_drained() const {
  const std::scoped_lock lock(mutex_);
  return is_draining_ && num_running_ == 0;
}

void Pool::pack_all(Packer& out) const {
  const std::scoped_lock lock(mutex_);
  out.number(epoch_).number(queue_.size());
  for (const Piece& piece : queue_) pack(out, piece);
  out.number(joins_.size());
  for (const auto& [id, join] : joins_) {
    out.number(id).number(join.num_missing).number(join.rest ? 1 : 0);
    Piece rest = join.rest.value_or(Piece{});
    merge(rest.added, join.added);
    pack(out, rest);
  }
}

bool Pool::unpack_all(Unpacker& in) {
  const std::scoped_lock lock(mutex_);
  epoch_ = in.small() + 1;
  for (std::size_t i = in.count(); i-- > 0 && in.is_good();) queue_.push_back(unpack_piece(in));
  for (std::size_t i = in.count(); i-- > 0 && in.is_good();) {
    const JoinId id = in.number();
    Join& join = joins_[id];
    join.num_missing = in.small();
    const bool has_rest = in.number() != 0;
    Piece rest = unpack_piece(in);
    join.added = std::move(rest.added);
    rest.added = {};
    if (has_rest) join.rest = std::move(rest);
  }
  update();
  for_threads_.notify_all();
  return in.is_good();
}

}  // namespace isoscope::explore
