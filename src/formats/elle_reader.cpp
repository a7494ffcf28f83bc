#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "formats/elle.h"
#include "formats/form_stream.h"
#include "formats/line_scanner.h"

namespace isoscope {

namespace {

constexpr std::string_view kValueHint =
    "an operation is [:r k v], [:w k v] or [:append k v]; a list is read as [:r k [v …]]";

// A write of an invocation, kept until the outcome is known.
struct OpenWrite {
  KeyId x;
  Value value;
  bool is_append;
  Place place;
};

// When an operation happened, as far as the file states it.
struct ElleMoment {
  std::optional<std::int64_t> index;
  std::optional<std::int64_t> time;
};

struct Invocation {
  std::vector<OpenWrite> writes;
  Place place;
  std::optional<SessionId> session;
  ElleMoment moment;
};

// The members of an operation that matter.
struct ElleOp {
  std::uint32_t type = 0;  // positions of forms; 0 is the map itself, so it means missing
  std::uint32_t process = 0;
  std::uint32_t f = 0;
  std::uint32_t value = 0;
  ElleMoment moment;
};

class ElleReader {
 public:
  explicit ElleReader(LineReader& in) : in_(in) {}

  Result<History> read() {
    auto done = visit_forms(
        in_, [this](const Forms& forms, std::uint32_t i) { return operation(forms, i); });
    if (!done) return done.error();
    if (auto good = check_input(in_); !good) return good.error();
    finish_open_invocations();
    enter_times();
    return std::move(b_).build_open(&in_.budget());
  }

 private:
  static Error error_at(const Form& form, std::string what, std::string_view hint = {}) {
    return Error{.where = form.place, .what = std::move(what), .hint = std::string(hint)};
  }

  static bool is_missing(const Forms& forms, std::uint32_t member) {
    return member == 0 || forms[member].kind == Form::Kind::Nil;
  }

  Result<void> operation(const Forms& forms, std::uint32_t i) {
    if (forms[i].kind != Form::Kind::Map)
      return error_at(forms[i],
                      fmt::format("expected an operation, a map, instead of {}", forms.show(i)),
                      "{:type :ok, :process 0, :value [[:w :x 1]]}");
    ElleOp op;
    for (std::uint32_t key = forms.first_child(i); key < forms.next(i);) {
      const std::uint32_t value = forms.next(key);
      if (forms[key].is_word("type")) op.type = value;
      if (forms[key].is_word("process")) op.process = value;
      if (forms[key].is_word("f")) op.f = value;
      if (forms[key].is_word("value")) op.value = value;
      if (forms[value].kind == Form::Kind::Int) {
        if (forms[key].is_word("index")) op.moment.index = forms[value].number;
        if (forms[key].is_word("time")) op.moment.time = forms[value].number;
      }
      key = forms.next(value);
    }
    const bool has_process = !is_missing(forms, op.process);
    if (!is_missing(forms, op.f) && !forms[op.f].is_word("txn")) {
      if (has_process && forms[op.process].kind != Form::Kind::Int) return {};
      return error_at(forms[op.f], fmt::format("{} is no transaction", forms.show(op.f)),
                      "only :f :txn can be read; other operations may come from processes like "
                      ":nemesis");
    }
    if (has_process && forms[op.process].kind != Form::Kind::Int && !forms[op.process].is_word())
      return error_at(forms[op.process],
                      fmt::format("{} cannot be a process", forms.show(op.process)));
    if (op.type == 0 || !forms[op.type].is_word())
      return error_at(forms[i], "this operation has no :type",
                      ":type is :invoke, :ok, :fail or :info");
    if (op.value == 0 || forms[op.value].kind != Form::Kind::Sequence)
      return error_at(op.value == 0 ? forms[i] : forms[op.value],
                      "expected a :value that is a vector of operations", kValueHint);
    const Form& type = forms[op.type];
    all_have_index_ = all_have_index_ && op.moment.index.has_value();
    all_have_time_ = all_have_time_ && op.moment.time.has_value();
    if (type.text == "invoke") return invoke(forms, i, op);
    if (type.text == "ok") return complete(forms, i, op, TxnStatus::Committed);
    if (type.text == "fail") return complete(forms, i, op, TxnStatus::Aborted);
    if (type.text == "info") return complete(forms, i, op, TxnStatus::Unknown);
    return error_at(type, fmt::format("unknown :type {}", forms.show(op.type)),
                    ":type is :invoke, :ok, :fail or :info");
  }

  std::optional<SessionId> session_of(const Forms& forms, const ElleOp& op) {
    if (is_missing(forms, op.process)) return {};
    const Form& process = forms[op.process];
    return process.kind == Form::Kind::Int ? b_.session(process.number) : b_.session(process.text);
  }

  Result<void> invoke(const Forms& forms, std::uint32_t i, const ElleOp& op) {
    Invocation invocation{.writes = {},
                          .place = forms[i].place,
                          .session = session_of(forms, op),
                          .moment = op.moment};
    if (auto done = writes_of(forms, op.value, invocation.writes); !done) return done;
    if (!invocation.session) {
      auto& open = open_by_shape_[shape_of(forms, op.value)];
      open.push_back(std::move(invocation));
      return {};
    }
    const SessionId session = *invocation.session;
    const auto [entry, fresh] = open_by_session_.try_emplace(session, std::move(invocation));
    if (!fresh)
      return error_at(forms[op.process],
                      fmt::format("process {} invokes a transaction while that of line {} is open",
                                  forms.show(op.process), entry->second.place.line),
                      "a process completes a transaction before it invokes the next");
    return {};
  }

  Result<void> complete(const Forms& forms, std::uint32_t i, const ElleOp& op, TxnStatus status) {
    const auto session = session_of(forms, op);
    std::optional<Invocation> invocation = take_invocation(forms, op, session);
    const TxnId t = b_.begin(session ? *session : b_.unnamed_session(), status, forms[i].place);
    // Of a completion without its invocation it is not known when it began.
    if (invocation) note_interval(t, invocation->moment, op.moment, status);
    if (status == TxnStatus::Committed) return enter_all(forms, op.value, t);
    if (!invocation) {
      invocation.emplace();
      if (auto done = writes_of(forms, op.value, invocation->writes); !done) return done;
    }
    enter_writes(*invocation, t);
    return {};
  }

  std::optional<Invocation> take_invocation(const Forms& forms, const ElleOp& op,
                                            std::optional<SessionId> session) {
    std::optional<Invocation> invocation;
    if (session) {
      const auto open = open_by_session_.find(*session);
      if (open == open_by_session_.end()) return {};
      invocation = std::move(open->second);
      open_by_session_.erase(open);
    } else {
      const auto open = open_by_shape_.find(shape_of(forms, op.value));
      if (open == open_by_shape_.end()) return {};
      invocation = std::move(open->second.front());
      open->second.pop_front();
      if (open->second.empty()) open_by_shape_.erase(open);
    }
    return invocation;
  }

  void finish_open_invocations() {
    std::vector<Invocation> open;
    for (auto& [session, invocation] : open_by_session_) open.push_back(std::move(invocation));
    for (auto& [shape, invocations] : open_by_shape_) {
      for (Invocation& invocation : invocations) open.push_back(std::move(invocation));
    }
    std::sort(open.begin(), open.end(),
              [](const Invocation& a, const Invocation& b) { return a.place < b.place; });
    for (const Invocation& invocation : open) {
      const SessionId s = invocation.session ? *invocation.session : b_.unnamed_session();
      const TxnId t = b_.begin(s, TxnStatus::Unknown, invocation.place);
      note_interval(t, invocation.moment, {}, TxnStatus::Unknown);
      enter_writes(invocation, t);
    }
  }

  // From the invocation to the completion; what ended as :info, or not at all, may have taken
  // effect at any time after its invocation.
  void note_interval(TxnId t, const ElleMoment& start, const ElleMoment& end, TxnStatus status) {
    const bool is_open = status == TxnStatus::Unknown;
    intervals_.push_back({t, start, is_open ? ElleMoment{} : end});
  }

  // Indices are the order in which things were observed, finer than the clock.
  void enter_times() {
    if (!all_have_index_ && !all_have_time_) return;
    for (const Interval& interval : intervals_) {
      const auto of = [&](const ElleMoment& m) { return all_have_index_ ? m.index : m.time; };
      b_.set_times(interval.t, {.start = *of(interval.start),
                                .end = of(interval.end).value_or(TxnTimes::kOpen)});
    }
  }

  void enter_writes(const Invocation& invocation, TxnId t) {
    for (const OpenWrite& write : invocation.writes) {
      if (write.is_append) {
        b_.append(t, write.x, write.value, write.place);
      } else {
        b_.write(t, write.x, write.value, write.place);
      }
    }
  }

  // One operation of a transaction: [:r k v] and so on.
  struct Mop {
    enum class Kind : std::uint8_t { Read, Write, Append };
    Kind kind = Kind::Read;
    std::uint32_t key = 0;
    std::uint32_t value = 0;
  };

  static Result<Mop> mop_at(const Forms& forms, std::uint32_t i) {
    if (forms[i].kind != Form::Kind::Sequence || forms.count_children(i) != 3)
      return error_at(
          forms[i],
          fmt::format("expected an operation of three parts instead of {}", forms.show(i)),
          kValueHint);
    const std::uint32_t f = forms.first_child(i);
    Mop mop{.kind = Mop::Kind::Read, .key = forms.next(f), .value = forms.next(forms.next(f))};
    if (forms[f].is_word("w")) {
      mop.kind = Mop::Kind::Write;
    } else if (forms[f].is_word("append")) {
      mop.kind = Mop::Kind::Append;
    } else if (!forms[f].is_word("r")) {
      return error_at(forms[f], fmt::format("unknown operation {}", forms.show(f)), kValueHint);
    }
    return mop;
  }

  Result<KeyId> key_at(const Forms& forms, std::uint32_t i) {
    const Form& form = forms[i];
    if (form.kind == Form::Kind::Int) return b_.key(form.number);
    if (form.is_word()) return b_.key(form.text);
    return error_at(form, fmt::format("{} cannot be a key", forms.show(i)),
                    "keys are keywords, strings and 64-bit integers");
  }

  Result<Value> value_at(const Forms& forms, std::uint32_t i) {
    const Form& form = forms[i];
    if (form.kind == Form::Kind::Int) return Value::of(form.number);
    if (form.is_word()) return b_.text(form.text);
    if (form.kind == Form::Kind::Nil) return Value::nil();
    return error_at(form, fmt::format("{} cannot be a value", forms.show(i)),
                    "values are nil, keywords, strings and 64-bit integers");
  }

  Result<Value> element_at(const Forms& forms, std::uint32_t i) {
    if (forms[i].kind == Form::Kind::Nil) return error_at(forms[i], "a list cannot hold nil");
    return value_at(forms, i);
  }

  Result<void> writes_of(const Forms& forms, std::uint32_t value, std::vector<OpenWrite>& writes) {
    for (std::uint32_t i = forms.first_child(value); i < forms.next(value); i = forms.next(i)) {
      const auto mop = mop_at(forms, i);
      if (!mop) return mop.error();
      if (mop->kind == Mop::Kind::Read) continue;
      const bool is_append = mop->kind == Mop::Kind::Append;
      const auto x = key_at(forms, mop->key);
      if (!x) return x.error();
      const auto v = is_append ? element_at(forms, mop->value) : value_at(forms, mop->value);
      if (!v) return v.error();
      writes.push_back({*x, *v, is_append, forms[i].place});
    }
    return {};
  }

  Result<void> enter_all(const Forms& forms, std::uint32_t value, TxnId t) {
    for (std::uint32_t i = forms.first_child(value); i < forms.next(value); i = forms.next(i)) {
      const auto mop = mop_at(forms, i);
      if (!mop) return mop.error();
      const auto x = key_at(forms, mop->key);
      if (!x) return x.error();
      const Place place = forms[i].place;
      if (mop->kind == Mop::Kind::Read && forms[mop->value].kind == Form::Kind::Sequence) {
        elements_.clear();
        const std::uint32_t end = forms.next(mop->value);
        for (std::uint32_t e = forms.first_child(mop->value); e < end; e = forms.next(e)) {
          const auto v = element_at(forms, e);
          if (!v) return v.error();
          elements_.push_back(*v);
        }
        b_.read_list(t, *x, elements_, place);
        continue;
      }
      const auto v = mop->kind == Mop::Kind::Append ? element_at(forms, mop->value)
                                                    : value_at(forms, mop->value);
      if (!v) return v.error();
      if (mop->kind == Mop::Kind::Read) b_.read(t, *x, *v, place);
      if (mop->kind == Mop::Kind::Write) b_.write(t, *x, *v, place);
      if (mop->kind == Mop::Kind::Append) b_.append(t, *x, *v, place);
    }
    return {};
  }

  // What is the same in an invocation and its completion: all but the values that are read.
  static std::string shape_of(const Forms& forms, std::uint32_t value) {
    std::string shape;
    for (std::uint32_t i = forms.first_child(value); i < forms.next(value); i = forms.next(i)) {
      const auto mop = mop_at(forms, i);
      if (!mop) continue;  // reported when its events are entered
      constexpr auto kWhole = std::string_view::npos;
      shape += fmt::format("{} {}", static_cast<int>(mop->kind), forms.show(mop->key, kWhole));
      if (mop->kind != Mop::Kind::Read) shape += " " + forms.show(mop->value, kWhole);
      shape += ";";
    }
    return shape;
  }

  LineReader& in_;
  HistoryBuilder b_{InitialValues::Nil};
  std::unordered_map<SessionId, Invocation> open_by_session_;
  std::unordered_map<std::string, std::deque<Invocation>> open_by_shape_;
  std::vector<Value> elements_;
  struct Interval {
    TxnId t;
    ElleMoment start;
    ElleMoment end;
  };
  std::vector<Interval> intervals_;
  bool all_have_index_ = true;
  bool all_have_time_ = true;
};

}  // namespace

Result<History> read_elle(LineReader& in) { return ElleReader(in).read(); }

}  // namespace isoscope
