#pragma once
// One name for the closures of relations that differ only in their spelling.
//
//     (so | wr)+    (wr | so | wr)+    ((so | wr)+)+    (wr | so+)+       have one name
//
// Unions and intersections are associative, commutative and idempotent, compositions are
// associative, and in a closure a closure may be left out: (r | s+)+ is (r | s)+. `let` has been
// resolved by the parser. Relations with different names may still be equal; then proofs have to
// show it.
#include <string>
#include <vector>

#include "synth/proof_translate.h"

namespace isoscope {

// Of r+. Keys are numbered by their place in `keys`, and witnesses are named as `vis` says.
std::string canonical_name(const RelationTable& table, RelationId r,
                           const std::vector<std::uint32_t>& keys, const Visibility& vis);

}  // namespace isoscope
