// The part of a walk that takes, splits and puts back pieces of work.
#include "explore/walk.h"
#include "store/txn_set.h"

namespace isoscope::explore {

template <class Set>
bool Walk<Set>::is_over() {
  if (control_.is_draining()) {
    put_back();
    return true;
  }
  if (path_.size() >= first_counted_) control_.calls.fetch_add(1, std::memory_order_relaxed);
  if (control_.is_over(budget_, path_)) return true;
  keys_on_path_.drop_if_many(trail_);
  // Is what we have in hand large enough to share?
  if (control_.is_hungry() && num_calls_ - present_.size() >= 2) split();
  return false;
}

// What is explored from here on, as a piece; or the piece itself, if we have not come to its place.
template <class Set>
void Walk<Set>::put_back() {
  const bool is_replaying = path_.size() <= prefix_.size();
  Piece rest;
  rest.words = is_replaying ? Path{narrow(first_counted_), from_} : Path{narrow(path_.size()), 0};
  const Path& choices = is_replaying ? prefix_ : path_;
  rest.words.insert(rest.words.end(), choices.begin(), choices.end());
  control_.pool()->give(std::move(rest));
}

template <class Set>
void Walk<Set>::begin_piece(const Piece& piece) {
  first_counted_ = piece.words[0];
  from_ = piece.words[1];
  prefix_.assign(piece.words.begin() + 2, piece.words.end());
}

template <class Set>
void Walk<Set>::give_rest(std::size_t depth, std::uint32_t from) {
  Piece rest{.words = {narrow(depth + 1), from}};
  rest.words.insert(rest.words.end(), path_.begin(),
                    path_.begin() + static_cast<std::ptrdiff_t>(depth));
  control_.pool()->give(std::move(rest));
}

template <class Set>
void Walk<Set>::give_untried(ReadEvent<Set>& read) {
  give_rest(read.path_end, read.untried.front().index + 1);
  read.untried = {};
}

template <class Set>
void Walk<Set>::split() {
  ReadEvent<Set>* read = nullptr;
  for (std::size_t i = 0; i < trail_.reads.size() && read == nullptr; ++i) {
    if (!trail_.reads[i].untried.empty()) read = &trail_.reads[i];
  }
  OpenChoice* open = nullptr;
  for (std::size_t i = 0; i < open_.size() && open == nullptr; ++i) {
    if (!open_[i].is_given) open = &open_[i];
  }
  if (open != nullptr && (read == nullptr || open->depth < read->path_end)) {
    open->is_given = true;
    give_rest(open->depth, path_[open->depth] + 1);
  } else if (read != nullptr) {
    give_untried(*read);
  }
}

template bool Walk<TxnSet<1>>::is_over();
template void Walk<TxnSet<1>>::begin_piece(const Piece& piece);
template void Walk<TxnSet<1>>::give_rest(std::size_t depth, std::uint32_t from);
template void Walk<TxnSet<1>>::give_untried(ReadEvent<TxnSet<1>>& read);
template bool Walk<TxnSet<4>>::is_over();
template void Walk<TxnSet<4>>::begin_piece(const Piece& piece);
template void Walk<TxnSet<4>>::give_rest(std::size_t depth, std::uint32_t from);
template void Walk<TxnSet<4>>::give_untried(ReadEvent<TxnSet<4>>& read);

}  // namespace isoscope::explore
