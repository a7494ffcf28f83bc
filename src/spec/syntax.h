#pragma once
// What the grammar alone can decide: the tree that the parser hands to the resolver.
//
// Formulas, relations and variables are all phrases here: `(so | wr)(t2, t3)` opens like the
// formula `(a and b)`, and only names distinguish them. The resolver knows the names.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "history/execution.h"
#include "spec/token.h"

namespace isoscope {

struct Phrase;
using PhrasePtr = std::unique_ptr<const Phrase>;

enum class PhraseKind : std::uint8_t {
  Name,        // t1, so, hb
  Index,       // parts[0] [ parts[1] ]
  Set,         // [ parts[0] ]
  Apply,       // parts[0] ( parts[1], … )
  Postfix,     // parts[0] + * ? ^-1
  Not,         // not parts[0]
  Binary,      // parts[0] sign parts[1]
  Quantified,  // forall or exists binders . parts[0]
};

// Variables of one sort: t1, t2, t3: txn
struct Binder {
  std::vector<Token> names;
  Token sort;
};

struct Phrase {
  PhraseKind kind = PhraseKind::Name;
  Token token;  // the name, or the sign that makes the phrase
  Place begin;  // where the whole phrase begins
  std::vector<PhrasePtr> parts;
  std::vector<Binder> binders;
  int depth = 1;  // of the tree, so that recursion over it is bounded
};

struct Declaration {
  Token keyword;  // let or axiom
  Token name;
  std::vector<Token> parameters;  // of a let: relations that each use gives
  PhrasePtr body;
  std::string text;  // as written
};

// A level's name as written, and where.
struct NameOfLevel {
  std::string name;  // in lower case: names compare without regard to case
  Place place;
};

struct LevelSyntax {
  NameOfLevel name;
  Framework framework = Framework::Co;
  std::optional<Place> without_so;
  std::optional<Place> wr_free;
  std::vector<NameOfLevel> bases;  // after `extends`
  std::vector<Declaration> declarations;
  std::string summary;
  std::string text;
};

}  // namespace isoscope
