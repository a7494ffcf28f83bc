#include "audit/axioms.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "audit/server_levels.h"
#include "relational/mentions.h"
#include "spec/levels.h"
#include "sql/server/level.h"
#include "support/assert.h"

namespace isoscope::audit {

namespace {

bool mentions_variable(const NormalNode& node, int slot) {
  return std::binary_search(node.free.begin(), node.free.end(), slot);
}

const Axiom* find_axiom(const Level& level, const Axiom& axiom) {
  for (const Axiom& other : level.axioms) {
    if (other.formula == axiom.formula || (other.level == axiom.level && other.name == axiom.name))
      return &other;
  }
  return nullptr;
}

Result<void> check_level(const Level& level, bool is_mixed) {
  if (level.framework != Framework::VisAr) {
    return Error{.what = fmt::format("audit cannot use {}: it is not over vis, ar", level.name),
                 .hint = level.name == "rc"
                             ? "READ COMMITTED of PostgreSQL is pg-rc"
                             : "declare it `over vis, ar`, or take ec, cc, pc, ua, psi, si, ser, " +
                                   sql::server::pg_level_names()};
  }
  if (auto plain = require_plain(level, "audit"); !plain) return plain.error();
  for (const Axiom& axiom : level.axioms) {
    if (mentions_reads(*axiom.formula)) {
      return Error{.what = fmt::format("audit cannot use {}: axiom {} speaks of single reads",
                                       level.name, axiom.name),
                   .hint = "say it about transactions"};
    }
    if (is_mixed && !axiom.subject) {
      return Error{
          .what = fmt::format("{} cannot be mixed with other levels: axiom {} does not say whose "
                              "view it constrains",
                              level.name, axiom.name),
          .hint = "write it as `… implies vis(s, t)`"};
    }
  }
  return {};
}

}  // namespace

Result<void> check_levels(const Levels& levels) {
  if (auto ok = check_level(*levels.base, levels.is_mixed()); !ok) return ok;
  for (const Level* level : levels.own) {
    if (level == nullptr) continue;
    if (auto ok = check_level(*level, levels.is_mixed()); !ok) return ok;
    if (is_server_level(*level) != is_on_server(levels)) {
      return Error{.what = fmt::format("{} and {} cannot be mixed: one is what a server does, the "
                                       "other a definition",
                                       levels.base->name, level->name),
                   .hint = fmt::format("take {} for all functions, or for none",
                                       sql::server::pg_level_names("and"))};
    }
  }
  return {};
}

Axioms::Axioms(World& world, const Levels& levels)
    : Translator({world.symbols().smt()}, relations),
      world_(world),
      symbols_(world.symbols()),
      levels_(levels) {
  const auto add = [&](const Level& level) {
    for (const Axiom& axiom : level.axioms) {
      const bool is_known = std::ranges::any_of(axioms_, [&](const NormalAxiom& other) {
        return other.axiom->formula == axiom.formula ||
               (other.axiom->level == axiom.level && other.axiom->name == axiom.name);
      });
      if (!is_known) axioms_.push_back({&axiom, normalize(axiom)});
    }
  };
  add(*levels_.base);
  for (const Level* level : levels_.own) {
    if (level != nullptr) add(*level);
  }
}

std::vector<SmtTerm> Axioms::constraints(Cast cast) {
  cast_.assign(cast.begin(), cast.end());
  has_locations_ = false;
  forget_cells([](RelationId) { return true; });
  closures_.clear();
  std::vector<SmtTerm> out;
  for (const auto& [axiom, form] : axioms_) {
    binding_.assign(static_cast<std::size_t>(form.slots), kUnbound);
    for (const NormalNode& part : form.parts) {
      if (part.kind == NormalNode::Kind::Exists && part.negated) {
        ground(*axiom, part, 0, out);
      } else if (const SmtTerm term = truth(part); algebra_.known(term) != true) {
        out.push_back(term);
      }
    }
  }
  return out;
}

bool Axioms::applies(const Axiom& axiom) const {
  if (!axiom.subject) return true;
  const std::size_t subject = value(*axiom.subject);
  if (is_initial(subject)) return false;
  return find_axiom(levels_.of(world_.function(cast_[subject])), axiom) != nullptr;
}

void Axioms::ground(const Axiom& axiom, const NormalNode& part, std::size_t variable,
                    std::vector<SmtTerm>& out) {
  while (variable < part.variables.size() && part.variables[variable].sort == Sort::Key) ++variable;
  if (variable == part.variables.size()) {
    if (!applies(axiom)) return;
    const SmtTerm term = instance(part);
    if (algebra_.known(term) != true) out.push_back(term);
    return;
  }
  for (std::size_t t = 0; t < txn_count(); ++t) {
    binding_[static_cast<std::size_t>(part.variables[variable].slot)] = static_cast<Element>(t);
    ground(axiom, part, variable + 1, out);
  }
}

template <class F>
void Axioms::for_each_value(std::span<const isoscope::Variable> variables, const F& f) {
  if (variables.empty()) return f();
  const bool is_txn = variables.front().sort == Sort::Txn;
  const std::size_t count = is_txn ? txn_count() : locations().size();
  for (std::size_t i = 0; i < count; ++i) {
    binding_[static_cast<std::size_t>(variables.front().slot)] = static_cast<Element>(i);
    for_each_value(variables.subspan(1), f);
  }
}

SmtTerm Axioms::instance(const NormalNode& part) {
  std::vector<SmtTerm> premises;
  std::vector<isoscope::Variable> keys;  // that range over locations
  std::vector<bool> is_used(part.children.size(), false);
  for (const isoscope::Variable& variable : part.variables) {
    if (variable.sort != Sort::Key) continue;
    std::vector<std::size_t> used;
    bool is_conflict = true;
    for (std::size_t c = 0; c < part.children.size(); ++c) {
      const NormalNode& child = part.children[c];
      if (!mentions_variable(child, variable.slot)) continue;
      const bool is_write =
          child.kind == NormalNode::Kind::Atom && !child.negated && child.atom == FormulaOp::Writes;
      is_conflict = is_conflict && is_write;
      used.push_back(c);
    }
    if (is_conflict && (used.size() == 1 || used.size() == 2)) {
      premises.push_back(
          conflict(value(part.children[used.front()].a), value(part.children[used.back()].a)));
      for (const std::size_t c : used) is_used[c] = true;
    } else {
      keys.push_back(variable);
    }
  }
  for (std::size_t c = 0; c < part.children.size(); ++c) {
    const bool has_key = std::ranges::any_of(keys, [&](const isoscope::Variable& key) {
      return mentions_variable(part.children[c], key.slot);
    });
    if (is_used[c] || has_key) continue;
    premises.push_back(truth(part.children[c]));
    is_used[c] = true;
    if (algebra_.known(premises.back()) == false) return symbols_.yes();
  }
  const SmtTerm outer = algebra_.conj(premises);
  if (algebra_.known(outer) == false) return symbols_.yes();
  if (keys.empty()) return !outer;
  std::vector<SmtTerm> parts;
  for_each_value(keys, [&] {
    std::vector<SmtTerm> inner;
    for (std::size_t c = 0; c < part.children.size(); ++c) {
      if (!is_used[c]) inner.push_back(truth(part.children[c]));
    }
    parts.push_back(!algebra_.conj(inner));
  });
  return implies(outer, algebra_.conj(parts));
}

SmtTerm Axioms::vis(std::size_t a, std::size_t b) {
  if (is_initial(a)) return is_initial(b) ? symbols_.no() : symbols_.yes();
  if (is_initial(b) || a == b) return symbols_.no();
  return world_.vis(cast_[a], cast_[b]);
}

SmtTerm Axioms::ar(std::size_t a, std::size_t b) {
  if (is_initial(a)) return is_initial(b) ? symbols_.no() : symbols_.yes();
  if (is_initial(b) || a == b) return symbols_.no();
  return world_.ar(cast_[a], cast_[b]);
}

SmtTerm Axioms::conflict(std::size_t a, std::size_t b) {
  if (is_initial(a) && is_initial(b)) return symbols_.yes();
  if (is_initial(a)) return world_.writes_anything(cast_[b]);
  if (is_initial(b) || a == b) return world_.writes_anything(cast_[a]);
  return world_.conflict(cast_[a], cast_[b]);
}

const std::vector<Axioms::Location>& Axioms::locations() {
  if (has_locations_) return locations_;
  has_locations_ = true;
  locations_.clear();
  std::set<std::tuple<sql::TableId, Attribute, std::vector<std::uint32_t>>> known;
  for (const Member a : cast_) {
    for (const Access& access : world_.instance(a).accesses) {
      if (!access.row || access.kind == AccessKind::Lock) continue;
      std::vector<std::uint32_t> terms;
      for (const SmtTerm& term : *access.row) terms.push_back(term.index);
      if (known.emplace(access.table, access.attribute, std::move(terms)).second)
        locations_.push_back({access.table, access.attribute, *access.row});
    }
  }
  return locations_;
}

SmtTerm Axioms::writes(std::size_t a, std::size_t key) {
  if (is_initial(a)) return symbols_.yes();
  const Location& x = locations()[key];
  const SmtTerm wrote = world_.wrote(cast_[a], x.table, x.attribute, x.row);
  // Rounds that we do not look at may write it, too.
  return has_outside() ? wrote || symbols_.fresh_truth("other_round") : wrote;
}

SmtTerm Axioms::reads(std::size_t a, std::size_t key) {
  if (is_initial(a)) return symbols_.no();
  // An open world knows of reads that may happen, not of those that must.
  if (has_outside()) return symbols_.fresh_truth("reads");
  const Location& x = locations()[key];
  std::vector<SmtTerm> parts;
  for (const Access& access : world_.instance(cast_[a]).accesses) {
    if (access.kind == AccessKind::Read && access.table == x.table &&
        access.attribute == x.attribute)
      parts.push_back(world_.terms(cast_[a]).happens(access, x.row));
  }
  return symbols_.any(parts);
}

SmtTerm Axioms::atom(const NormalNode& node, Element a, Element b) {
  switch (node.atom) {
    case FormulaOp::Equal: {
      if (node.a.sort == Sort::Txn) return algebra_.constant(a == b);
      const Location& x = locations()[a];
      const Location& y = locations()[b];
      if (x.table != y.table || x.attribute != y.attribute) return symbols_.no();
      return symbols_.same_row(x.row, y.row);
    }
    case FormulaOp::Writes: return writes(a, b);
    case FormulaOp::Reads: return reads(a, b);
    default: ISO_ASSERT(false);  // check_level() refuses what is about single reads and locks
  }
}

// Something outside may be what an `exists` asks for.
SmtTerm Axioms::exists(const NormalNode& node) {
  std::vector<SmtTerm> some;
  for_each_value(node.variables, [&] {
    std::vector<SmtTerm> parts;
    for (const NormalNode& child : node.children) {
      parts.push_back(truth(child));
      if (algebra_.known(parts.back()) == false) return;
    }
    some.push_back(algebra_.conj(parts));
  });
  if (has_outside()) some.push_back(symbols_.fresh_truth("outside"));
  return algebra_.disj(some);
}

SmtTerm Axioms::depends(std::size_t a, std::size_t b, EdgeKind kind,
                        const std::optional<std::size_t>& key) {
  if (a == b || is_initial(b)) return symbols_.no();
  if (kind == EdgeKind::Ww) {
    if (key) return writes(a, *key) && writes(b, *key) && ar(a, b);
    SmtTerm both = conflict(a, b);
    // Rounds that we do not look at may conflict, too.
    if (has_outside()) both = both || symbols_.fresh_truth("other_round");
    return both && ar(a, b);
  }
  if (has_outside()) {
    // Who is read from depends on others: anything that the accesses allow.
    const SmtTerm free = symbols_.fresh_truth("reads_from");
    // What is overwritten with the same value is no dependency of ours, but one of the level's.
    if (is_initial(a) || kind == EdgeKind::Rw) return free;
    return free && world_.depends(cast_[a], cast_[b], kind);
  }
  // Exact, location by location.
  std::vector<SmtTerm> parts;
  for (std::size_t x = 0; x < locations().size(); ++x) {
    if (key && x != *key) continue;
    const std::size_t reader = kind == EdgeKind::Wr ? b : a;
    // The version that the reader sees is that of the last visible writer.
    for (std::size_t w = 0; w < txn_count(); ++w) {
      if (w == reader || (kind == EdgeKind::Wr && w != a)) continue;
      std::vector<SmtTerm> last = {reads(reader, x), writes(w, x), vis(w, reader)};
      for (std::size_t other = 0; other < txn_count(); ++other) {
        if (other != w && other != reader)
          last.push_back(implies(writes(other, x) && vis(other, reader), ar(other, w)));
      }
      if (kind == EdgeKind::Rw) last.push_back(writes(b, x) && ar(w, b));
      parts.push_back(symbols_.all(last));
    }
  }
  return symbols_.any(parts);
}

Axioms::Matrix Axioms::closed(RelationId r) {
  const std::size_t n = txn_count();
  Matrix m;
  for (Element a = 0; a < n; ++a) {
    for (Element b = 0; b < n; ++b) m.push_back(cell(r, a, b));
  }
  close(
      m, n, [](std::size_t, std::size_t) { return true; }, [] { return false; });
  return m;
}

SmtTerm Axioms::closure(RelationId plus, Element a, Element b) {
  auto known = closures_.find(plus);
  if (known == closures_.end()) {
    Matrix m = closed(table_[plus].left);
    if (has_outside()) {
      for (SmtTerm& cell : m) cell = cell || symbols_.fresh_truth("through_outside");
    }
    known = closures_.emplace(plus, std::move(m)).first;
  }
  return known->second[a * txn_count() + b];
}

SmtTerm Axioms::acyclic(RelationId r) {
  const Matrix m = closed(r);
  std::vector<SmtTerm> parts;
  for (std::size_t a = 0; a < txn_count(); ++a) parts.push_back(!m[a * txn_count() + a]);
  return algebra_.conj(parts);
}

SmtTerm Axioms::compose(const GroundRelation& r, Element a, Element b) {
  std::vector<SmtTerm> outside;
  if (has_outside()) outside.push_back(symbols_.fresh_truth("outside"));
  return composed(
      r, a, b,
      [&](const auto& f) {
        for (Element m = 0; m < txn_count(); ++m) f(m);
      },
      std::move(outside));
}

SmtTerm Axioms::is_in_set(const GroundRelation& r, std::size_t a) {
  switch (r.set) {
    case SetName::Writers:
      return r.key != GroundRelation::kNone ? writes(a, r.key) : conflict(a, a);
    case SetName::Readers: {
      const SmtTerm reads = is_initial(a) ? symbols_.no() : world_.reads_anything(cast_[a]);
      // A scan may have found nothing to read.
      return has_outside() ? reads && symbols_.fresh_truth("reads") : reads;
    }
    case SetName::Aborted: return symbols_.no();
  }
  ISO_ASSERT(false);
}

SmtTerm Axioms::leaf(const GroundRelation& r, Element a, Element b) {
  std::optional<std::size_t> key;
  if (r.key != GroundRelation::kNone) key = r.key;
  switch (r.op) {
    case RelationOp::Vis: return vis(a, b);
    case RelationOp::Co: return ar(a, b);
    case RelationOp::Wr: return depends(a, b, EdgeKind::Wr, key);
    case RelationOp::Ww: return depends(a, b, EdgeKind::Ww, key);
    case RelationOp::Rw: return depends(a, b, EdgeKind::Rw, key);
    case RelationOp::So:  // transactions have no sessions here; T0 comes before all
      return algebra_.constant(is_initial(a) && !is_initial(b));
    case RelationOp::IdentityOn: return a == b ? is_in_set(r, a) : symbols_.no();
    default: ISO_ASSERT(false);  // check_level() refuses them
  }
}

}  // namespace isoscope::audit
