#include "audit/axioms.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/server_levels.h"
#include "spec/levels.h"
#include "support/assert.h"

namespace isoscope::audit {

namespace {

bool mentions_reads(const RelationExpr* r) {
  if (r == nullptr) return false;
  if (r->op == RelationOp::Po || r->from == Sort::Read || r->to == Sort::Read) return true;
  return mentions_reads(r->left.get()) || mentions_reads(r->right.get());
}

bool mentions_reads(const Formula* f) {
  if (f == nullptr) return false;
  for (const isoscope::Variable& variable : f->variables) {
    if (variable.sort == Sort::Read) return true;
  }
  return mentions_reads(f->relation.get()) || mentions_reads(f->other.get()) ||
         mentions_reads(f->left.get()) || mentions_reads(f->right.get());
}

bool mentions_key(const RelationExpr* r, int slot) {
  if (r == nullptr) return false;
  if (r->key && r->key->slot == slot) return true;
  return mentions_key(r->left.get(), slot) || mentions_key(r->right.get(), slot);
}

bool mentions_key(const Formula* f, int slot) {
  if (f == nullptr) return false;
  if ((f->a && f->a->slot == slot) || (f->b && f->b->slot == slot)) return true;
  return mentions_key(f->relation.get(), slot) || mentions_key(f->other.get(), slot) ||
         mentions_key(f->left.get(), slot) || mentions_key(f->right.get(), slot);
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
    return Error{
        .what = fmt::format("audit cannot use {}: it is not over vis, ar", level.name),
        .hint = level.name == "rc"
                    ? "READ COMMITTED of PostgreSQL is pg-rc"
                    : "declare it `over vis, ar`, or take ec, cc, pc, ua, psi, si, ser, pg-rc, "
                      "pg-rr or pg-ser"};
  }
  if (auto plain = require_plain(level, "audit"); !plain) return plain.error();
  for (const Axiom& axiom : level.axioms) {
    if (mentions_reads(axiom.formula.get())) {
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

bool Levels::is_mixed() const {
  return std::ranges::any_of(own,
                             [&](const Level* level) { return level != nullptr && level != base; });
}

Result<void> check_levels(const Levels& levels) {
  if (auto ok = check_level(*levels.base, levels.is_mixed()); !ok) return ok;
  for (const Level* level : levels.own) {
    if (level == nullptr) continue;
    if (auto ok = check_level(*level, levels.is_mixed()); !ok) return ok;
    if (is_server_level(*level) != is_on_server(levels)) {
      return Error{.what = fmt::format("{} and {} cannot be mixed: one is what a server does, the "
                                       "other a definition",
                                       levels.base->name, level->name),
                   .hint = "take pg-rc, pg-rr and pg-ser for all functions, or for none"};
    }
  }
  return {};
}

Axioms::Axioms(World& world, const Levels& levels)
    : world_(world), symbols_(world.symbols()), levels_(levels) {
  const auto add = [&](const Level& level) {
    for (const Axiom& axiom : level.axioms) {
      const bool is_known = std::ranges::any_of(axioms_, [&](const Axiom* other) {
        return other->formula == axiom.formula ||
               (other->level == axiom.level && other->name == axiom.name);
      });
      if (!is_known) axioms_.push_back(&axiom);
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
  std::vector<SmtTerm> out;
  for (const Axiom* axiom : axioms_) ground(*axiom, out);
  return out;
}

bool Axioms::applies(const Axiom& axiom, const Binding& binding) const {
  if (!axiom.subject) return true;
  const std::size_t subject = binding.txns[static_cast<std::size_t>(axiom.subject->slot)];
  if (is_initial(subject)) return false;
  return find_axiom(levels_.of(world_.function(cast_[subject])), axiom) != nullptr;
}

void Axioms::ground(const Axiom& axiom, std::vector<SmtTerm>& out) {
  Binding binding;
  binding.txns.assign(static_cast<std::size_t>(axiom.slots), 0);
  binding.keys.assign(static_cast<std::size_t>(axiom.slots), 0);
  ground(axiom, rule_of(*axiom.formula), 0, binding, out);
}

void Axioms::ground(const Axiom& axiom, const Rule& rule, std::size_t variable, Binding& binding,
                    std::vector<SmtTerm>& out) {
  while (variable < rule.variables.size() && rule.variables[variable].sort == Sort::Key) ++variable;
  if (variable == rule.variables.size()) {
    if (!applies(axiom, binding)) return;
    const SmtTerm term = instance(rule, binding);
    if (symbols_.smt().known_truth(term) != true) out.push_back(term);
    return;
  }
  for (std::size_t t = 0; t < txn_count(); ++t) {
    binding.txns[static_cast<std::size_t>(rule.variables[variable].slot)] = t;
    ground(axiom, rule, variable + 1, binding, out);
  }
}

SmtTerm Axioms::instance(const Rule& rule, Binding& binding) {
  std::vector<SmtTerm> premises;
  std::vector<const isoscope::Variable*> keys;  // that range over locations
  std::vector<bool> is_used(rule.premises.size(), false);
  for (const isoscope::Variable& variable : rule.variables) {
    if (variable.sort != Sort::Key) continue;
    std::vector<std::size_t> writers;
    bool is_conflict = rule.conclusion == nullptr || !mentions_key(rule.conclusion, variable.slot);
    std::vector<std::size_t> used;
    for (std::size_t p = 0; p < rule.premises.size(); ++p) {
      if (!mentions_key(rule.premises[p], variable.slot)) continue;
      if (rule.premises[p]->op == FormulaOp::Writes && rule.premises[p]->b->slot == variable.slot) {
        writers.push_back(binding.txns[static_cast<std::size_t>(rule.premises[p]->a->slot)]);
        used.push_back(p);
      } else {
        is_conflict = false;
      }
    }
    if (is_conflict && (writers.size() == 1 || writers.size() == 2)) {
      premises.push_back(conflict(writers.front(), writers.back()));
      for (const std::size_t p : used) is_used[p] = true;
    } else {
      keys.push_back(&variable);
    }
  }
  for (std::size_t p = 0; p < rule.premises.size(); ++p) {
    if (is_used[p]) continue;
    const bool has_key = std::ranges::any_of(keys, [&](const isoscope::Variable* key) {
      return mentions_key(rule.premises[p], key->slot);
    });
    if (has_key) continue;
    premises.push_back(formula(*rule.premises[p], binding));
    is_used[p] = true;
    if (symbols_.smt().known_truth(premises.back()) == false) return symbols_.yes();
  }
  const SmtTerm outer = symbols_.all(premises);
  if (symbols_.smt().known_truth(outer) == false) return symbols_.yes();
  if (keys.empty()) {
    return implies(outer,
                   rule.conclusion != nullptr ? formula(*rule.conclusion, binding) : symbols_.no());
  }
  // For all locations, one variable after the other.
  std::vector<SmtTerm> parts;
  const auto choose_keys = [&](auto&& self, std::size_t k) -> void {
    if (k == keys.size()) {
      std::vector<SmtTerm> inner;
      for (std::size_t p = 0; p < rule.premises.size(); ++p) {
        if (!is_used[p]) inner.push_back(formula(*rule.premises[p], binding));
      }
      const SmtTerm conclusion =
          rule.conclusion != nullptr ? formula(*rule.conclusion, binding) : symbols_.no();
      parts.push_back(implies(symbols_.all(inner), conclusion));
      return;
    }
    for (std::size_t location = 0; location < locations().size(); ++location) {
      binding.keys[static_cast<std::size_t>(keys[k]->slot)] = location;
      self(self, k + 1);
    }
  };
  choose_keys(choose_keys, 0);
  return implies(outer, symbols_.all(parts));
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
  std::set<std::vector<std::uint32_t>> known;
  for (const Member a : cast_) {
    for (const Access& access : world_.instance(a).accesses) {
      if (!access.row || access.kind == AccessKind::Lock) continue;
      std::vector<std::uint32_t> id = {access.table.index, access.column};
      for (const SmtTerm& term : *access.row) id.push_back(term.index);
      if (known.insert(std::move(id)).second)
        locations_.push_back({access.table, access.column, *access.row});
    }
  }
  return locations_;
}

SmtTerm Axioms::writes(std::size_t a, std::size_t key) {
  if (is_initial(a)) return symbols_.yes();
  const Location& x = locations()[key];
  const SmtTerm wrote = world_.wrote(cast_[a], x.table, x.column, x.row);
  // Rounds that we do not look at may write it, too.
  return world_.scope() == Scope::Open ? wrote || symbols_.fresh_truth("other_round") : wrote;
}

SmtTerm Axioms::reads(std::size_t a, std::size_t key) {
  if (is_initial(a)) return symbols_.no();
  // An open world knows of reads that may happen, not of those that must.
  if (world_.scope() == Scope::Open) return symbols_.fresh_truth("reads");
  const Location& x = locations()[key];
  std::vector<SmtTerm> parts;
  for (const Access& access : world_.instance(cast_[a]).accesses) {
    if (access.kind == AccessKind::Read && access.table == x.table && access.column == x.column)
      parts.push_back(happens(symbols_, access, x.row));
  }
  return symbols_.any(parts);
}

SmtTerm Axioms::formula(const Formula& f, Binding& binding) {
  const auto txn = [&](const isoscope::Variable& variable) {
    return binding.txns[static_cast<std::size_t>(variable.slot)];
  };
  const auto key = [&](const isoscope::Variable& variable) {
    return binding.keys[static_cast<std::size_t>(variable.slot)];
  };
  switch (f.op) {
    case FormulaOp::Forall:
    case FormulaOp::Exists:
      return quantified(f, 0, binding);
    case FormulaOp::Not:
      return !formula(*f.left, binding);
    case FormulaOp::And:
      return formula(*f.left, binding) && formula(*f.right, binding);
    case FormulaOp::Or:
      return formula(*f.left, binding) || formula(*f.right, binding);
    case FormulaOp::Implies:
      return implies(formula(*f.left, binding), formula(*f.right, binding));
    case FormulaOp::Iff:
      return iff(formula(*f.left, binding), formula(*f.right, binding));
    case FormulaOp::Equal:
      if (f.a->sort == Sort::Txn) return symbols_.smt().truth(txn(*f.a) == txn(*f.b));
      {
        const Location& x = locations()[key(*f.a)];
        const Location& y = locations()[key(*f.b)];
        if (x.table != y.table || x.column != y.column) return symbols_.no();
        return symbols_.same_row(x.row, y.row);
      }
    case FormulaOp::Writes:
      return writes(txn(*f.a), key(*f.b));
    case FormulaOp::Reads:
      return reads(txn(*f.a), key(*f.b));
    case FormulaOp::Member:
      if (f.relation->op == RelationOp::Vis) return vis(txn(*f.a), txn(*f.b));
      if (f.relation->op == RelationOp::Ar) return ar(txn(*f.a), txn(*f.b));
      return relation(*f.relation, binding)[txn(*f.a)][txn(*f.b)];
    default:
      break;
  }
  const Matrix r = relation(*f.relation, binding);
  const std::size_t n = txn_count();
  std::vector<SmtTerm> parts;
  if (f.op == FormulaOp::Subset) {
    const Matrix other = relation(*f.other, binding);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) parts.push_back(implies(r[a][b], other[a][b]));
    }
    return symbols_.all(parts);
  }
  Matrix closed = r;
  if (f.op == FormulaOp::Acyclic) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b)
          closed[a][b] = closed[a][b] || (closed[a][k] && closed[k][b]);
      }
    }
  }
  for (std::size_t a = 0; a < n; ++a) {
    if (f.op == FormulaOp::Acyclic || f.op == FormulaOp::Irreflexive)
      parts.push_back(!closed[a][a]);
    for (std::size_t b = 0; b < n; ++b) {
      if (f.op == FormulaOp::Empty) parts.push_back(!r[a][b]);
      if (f.op == FormulaOp::Total && a != b) parts.push_back(r[a][b] || r[b][a]);
      if (f.op != FormulaOp::Transitive) continue;
      for (std::size_t c = 0; c < n; ++c) parts.push_back(implies(r[a][b] && r[b][c], r[a][c]));
    }
  }
  return symbols_.all(parts);
}

SmtTerm Axioms::quantified(const Formula& f, std::size_t variable, Binding& binding) {
  if (variable == f.variables.size()) return formula(*f.left, binding);
  const isoscope::Variable& v = f.variables[variable];
  const bool is_txn = v.sort == Sort::Txn;
  std::vector<SmtTerm> parts;
  const std::size_t count = is_txn ? txn_count() : locations().size();
  for (std::size_t i = 0; i < count; ++i) {
    (is_txn ? binding.txns : binding.keys)[static_cast<std::size_t>(v.slot)] = i;
    parts.push_back(quantified(f, variable + 1, binding));
  }
  // Something outside may be what an `exists` asks for, or what a nested `forall` fails on.
  const bool has_outside = world_.scope() == Scope::Open;
  if (f.op == FormulaOp::Exists) {
    if (has_outside) parts.push_back(symbols_.fresh_truth("outside"));
    return symbols_.any(parts);
  }
  if (has_outside) parts.push_back(symbols_.fresh_truth("outside"));
  return symbols_.all(parts);
}

SmtTerm Axioms::depends(std::size_t a, std::size_t b, EdgeKind kind,
                        const std::optional<std::size_t>& key) {
  if (a == b || is_initial(b)) return symbols_.no();
  if (kind == EdgeKind::Ww) {
    if (key) return writes(a, *key) && writes(b, *key) && ar(a, b);
    SmtTerm both = conflict(a, b);
    // Rounds that we do not look at may conflict, too.
    if (world_.scope() == Scope::Open) both = both || symbols_.fresh_truth("other_round");
    return both && ar(a, b);
  }
  if (world_.scope() == Scope::Open) {
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

void Axioms::close(Matrix& matrix) {
  const std::size_t n = matrix.size();
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b)
        matrix[a][b] = matrix[a][b] || (matrix[a][k] && matrix[k][b]);
    }
  }
  if (world_.scope() == Scope::Closed) return;
  for (auto& row : matrix) {
    for (SmtTerm& cell : row) cell = cell || symbols_.fresh_truth("through_outside");
  }
}

Axioms::Matrix Axioms::relation(const RelationExpr& r, Binding& binding) {
  const std::size_t n = txn_count();
  Matrix matrix(n, std::vector<SmtTerm>(n, symbols_.no()));
  std::optional<std::size_t> key;
  if (r.key) key = binding.keys[static_cast<std::size_t>(r.key->slot)];
  Matrix left;
  Matrix right;
  if (r.left) left = relation(*r.left, binding);
  if (r.right) right = relation(*r.right, binding);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      SmtTerm& cell = matrix[a][b];
      switch (r.op) {
        case RelationOp::Vis:
          cell = vis(a, b);
          break;
        case RelationOp::Ar:
        case RelationOp::Co:
          cell = ar(a, b);
          break;
        case RelationOp::Wr:
          cell = depends(a, b, EdgeKind::Wr, key);
          break;
        case RelationOp::Ww:
          cell = depends(a, b, EdgeKind::Ww, key);
          break;
        case RelationOp::Rw:
          cell = depends(a, b, EdgeKind::Rw, key);
          break;
        case RelationOp::So:  // transactions have no sessions here; T0 comes before all
          cell = symbols_.smt().truth(is_initial(a) && !is_initial(b));
          break;
        case RelationOp::IdentityOn:
          if (a == b) {
            switch (r.set) {
              case SetName::Writers:
                cell = key ? writes(a, *key) : conflict(a, a);
                break;
              case SetName::Readers:
                cell = is_initial(a) ? symbols_.no() : world_.reads_anything(cast_[a]);
                // A scan may have found nothing to read.
                if (world_.scope() == Scope::Open) cell = cell && symbols_.fresh_truth("reads");
                break;
              case SetName::Aborted:
                break;
            }
          }
          break;
        case RelationOp::Snap:  // check_level() refuses these
        case RelationOp::Of:
        case RelationOp::Same:
        case RelationOp::Waited:
        case RelationOp::Maybe:
          break;
        case RelationOp::Union:
          cell = left[a][b] || right[a][b];
          break;
        case RelationOp::Intersection:
          cell = left[a][b] && right[a][b];
          break;
        case RelationOp::Difference:
          cell = left[a][b] && !right[a][b];
          break;
        case RelationOp::Inverse:
          cell = left[b][a];
          break;
        case RelationOp::Compose: {
          std::vector<SmtTerm> parts;
          for (std::size_t k = 0; k < n; ++k) parts.push_back(left[a][k] && right[k][b]);
          if (world_.scope() == Scope::Open) parts.push_back(symbols_.fresh_truth("outside"));
          cell = symbols_.any(parts);
          break;
        }
        case RelationOp::Plus:
        case RelationOp::Star:
          cell = left[a][b];
          break;
        case RelationOp::Po:
        case RelationOp::Rt:  // refused before
          break;
      }
    }
  }
  if (r.op == RelationOp::Plus || r.op == RelationOp::Star) close(matrix);
  if (r.op == RelationOp::Star) {
    for (std::size_t a = 0; a < n; ++a) matrix[a][a] = symbols_.yes();
  }
  return matrix;
}

}  // namespace isoscope::audit
