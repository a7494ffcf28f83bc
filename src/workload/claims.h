#pragma once
// Claims about the calls of a program, as sums and maxima over them.
//
//     assert max(0, call.total of vote(c = $c)) == sum(call.accepted of vote(c = $c))
//
// becomes  assert max(0, s1[2].total, s2[3].total) == (s1[2].accepted + s2[3].accepted).
//
//     side  := "sum(" item {"," item} ")" | "max(" … ")" | text
//     item  := side | side "for" NAME "in" A ".." B
//            | text "of" calls { "or" text "of" calls }      # in the order of the calls
//     calls := NAME "(" [ PARAMETER "=" value {"," …} ] ")" { "|" … }
//
// In a text that is said of calls, `call` is the call, $client its session and $number its place. A
// claim whose left side is about calls of which there are none is left out.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/template.h"

namespace isoscope {

// Where a call stands: session and place in it, from 1. No other call has the same, so together
// they number what a call inserts.
struct Client {
  std::int64_t session = 1;
  std::int64_t number = 1;
};

struct DrawnCall {
  std::string txn;
  std::vector<std::int64_t> arguments;
  Client client = {};
};

// Parameters of each transaction.
using TxnHeads = std::map<std::string, std::vector<std::string>, std::less<>>;

struct Claim {
  std::string left;
  std::string sign;
  std::string right;
};

class ClaimWriter {
 public:
  ClaimWriter(const std::vector<DrawnCall>& calls, const TxnHeads& heads)
      : calls_(calls), heads_(heads) {}

  // Of the text behind `assert`; nothing if it is left out.
  Result<std::optional<Claim>> write(std::string_view text, const TextOf& find) const;
  // The number of calls of pay(c = 1) | deposit(c = 1).
  Result<std::int64_t> count(std::string_view calls, const TextOf& find) const;

 private:
  struct Condition {
    std::size_t argument = 0;
    std::int64_t value = 0;
  };
  struct Selection {
    std::string_view txn;
    std::vector<Condition> conditions;
    bool has(const DrawnCall& call) const;
  };
  // What is said of each call that is selected.
  struct Saying {
    std::string_view text;
    std::vector<Selection> selections;
  };
  struct Side {
    std::string text;
    bool has_selections = false;
    bool has_calls = false;
  };

  Result<Side> side(std::string_view text, const TextOf& find) const;
  Result<void> add_terms(std::string_view item, const TextOf& find, Side& side,
                         std::vector<std::string>& terms) const;
  Result<void> add_round(std::string_view item, std::size_t split, const TextOf& find, Side& side,
                         std::vector<std::string>& terms) const;
  Result<std::vector<Selection>> selections(std::string_view calls, const TextOf& find) const;

  const std::vector<DrawnCall>& calls_;
  const TxnHeads& heads_;
};

}  // namespace isoscope
