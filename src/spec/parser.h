#pragma once
// Reads the text of levels as far as the grammar goes; names and sorts are the resolver's.
//
//     level   := "level" LEVEL "over" orders [ "without" "so" ]
//                [ "extends" LEVEL { "," LEVEL } ] { let | axiom }
//     orders  := "co" [ "," "wr" "free" ] | "vis" "," "ar" | "co" "," "snap"
//     LEVEL   := NAME { ( "-" | "+" | "." ) NAME } [ "+" ]
//     let     := "let" NAME [ "(" NAME { "," NAME } ")" ] "=" phrase
//     axiom   := "axiom" NAME ":" phrase
//     phrase  := ( "forall" | "exists" ) binder { "," binder } "." phrase
//              | "not" phrase | phrase OPERATOR phrase
//              | phrase ( "+" | "*" | "?" | "^-1" ) | phrase "(" phrase { "," phrase } ")"
//              | NAME [ "[" NAME "]" ] | "[" phrase "]" | "(" phrase ")"
//     binder  := NAME { "," NAME } ":" NAME
//
// A LEVEL is written without blanks, and digits may lead its parts.
//
// Operators from the tightest: postfix + * ? ^-1 and application, then ; & \ | then subset = !=
// then not, and, or, implies (to the right), iff. A quantifier reaches as far as it can.
//
// Cost  Linear. Nesting deeper than kMaxDepth is an Error, so no input exhausts the stack.
#include <string_view>
#include <vector>

#include "spec/syntax.h"

namespace isoscope {

inline constexpr int kMaxDepth = 200;

// The levels that `text` declares, in order. Errors have a place, mostly a hint, and no file.
Result<std::vector<LevelSyntax>> parse_levels(std::string_view text);

}  // namespace isoscope
