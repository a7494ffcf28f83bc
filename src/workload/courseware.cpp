// Courseware [BouajjaniEneaRoman-PLDI'23, section 7.2]: students enrol in courses that are open and
// have room.
//
// Claims. A course never has more students than it has room for; a course that is gone has none;
// one that is closed has those it had when it was closed.
#include "workload/kind.h"

namespace isoscope {

namespace courseware_parts {
namespace {

constexpr TableSize kSizes[] = {
    {.name = "courses", .help = "courses", .initially = 2},
    {.name = "students", .help = "students", .initially = 4},
    {.name = "capacity", .help = "students that a course has room for", .initially = 1},
};

Table course(const Setting& setting) {
  return {.name = "course",
          .dimensions = {{.name = "c", .size = setting.size("courses")}},
          .columns = {"course_open", "course_capacity", "course_final"},
          .rest = 1};
}
Table student(const Setting& setting) {
  return {.name = "student",
          .dimensions = {{.name = "s", .size = setting.size("students")}},
          .columns = {},
          .rest = 1};
}

void write_rows(const Setting& setting, ProgramText& text) {
  text.comment("enrolled[c, s]: student s is in course c.  course_final[c]: how many were in it");
  text.comment("when it was closed.");
  Rng rng = setting.rows();
  for (std::int64_t s = 1; s <= setting.size("students"); ++s)
    text.init(cell("student", std::vector{s}), 1);
  for (std::int64_t c = 1; c <= setting.size("courses"); ++c) {
    text.init(cell("course", std::vector{c}), 1);
    text.init(cell("course_open", std::vector{c}), c == 1 || rng.chance(0.75) ? 1 : 0);
    text.init(cell("course_capacity", std::vector{c}), setting.size("capacity"));
  }
}

class Writer {
 public:
  Writer(const Setting& setting, ProgramText& text, Statements& sql)
      : setting_(setting), text_(text), sql_(sql) {}

  void write() {
    sql_.begin_txn("enroll(s, c)");
    sql_.select(student(setting_), {"s"}, {{"known", ""}});
    text_.line("if (!known) { abort }");
    sql_.select(course(setting_), {"c"},
                {{"there", ""}, {"open", "course_open"}, {"room", "course_capacity"}});
    text_.line("if (!there || !open) { abort }");
    text_.open(fmt::format("for at_s in 1..{}", setting_.size("students")));
    text_.lines(
        {"one := read(enrolled[c, at_s])", "n := n + one", "if (at_s == s) { mine := one }"});
    text_.close();
    text_.lines({"if (mine || n >= room) { abort }", "write(enrolled[c, s], 1)"});
    sql_.end_txn();

    sql_.begin_txn("open_course(c)");
    find_course();
    text_.line("write(course_open[c], 1)");
    sql_.end_txn();

    sql_.begin_txn("close_course(c)");
    find_course();
    count();
    text_.lines({"write(course_open[c], 0)", "write(course_final[c], n)"});
    sql_.end_txn();

    sql_.begin_txn("delete_course(c)");
    find_course();
    text_.lines({"write(course[c], 0)", "write(course_open[c], 0)", "write(course_final[c], 0)"});
    text_.open(fmt::format("for at_s in 1..{}", setting_.size("students")));
    text_.lines({"one := read(enrolled[c, at_s])", "if (one) { write(enrolled[c, at_s], 0) }"});
    text_.close();
    sql_.end_txn();

    sql_.begin_txn("get_enrollments(c)");
    sql_.select(course(setting_), {"c"},
                {{"there", ""},
                 {"open", "course_open"},
                 {"room", "course_capacity"},
                 {"final", "course_final"}});
    count();
    text_.lines({"assert(n <= room)", "assert(there || n == 0)", "assert(open || n == final)"});
    sql_.end_txn();
  }

 private:
  void find_course() {
    sql_.select(course(setting_), {"c"}, {{"there", ""}});
    text_.line("if (!there) { abort }");
  }
  // n: students of the course.
  void count() {
    text_.open(fmt::format("for at_s in 1..{}", setting_.size("students")));
    text_.lines({"one := read(enrolled[c, at_s])", "n := n + one"});
    text_.close();
  }

  const Setting& setting_;
  ProgramText& text_;
  Statements& sql_;
};

void write_txns(const Setting& setting, ProgramText& text, Statements& sql) {
  Writer(setting, text, sql).write();
}

DrawnCall draw(const Setting& setting, Rng& rng, Client client) {
  DrawnCall call{.txn = pick(rng, {{"enroll", 50},
                                   {"get_enrollments", 25},
                                   {"open_course", 10},
                                   {"close_course", 10},
                                   {"delete_course", 5}}),
                 .arguments = {},
                 .client = client};
  const std::int64_t c = between(rng, 1, setting.size("courses"));
  const std::int64_t s = between(rng, 1, setting.size("students"));
  call.arguments = call.txn == "enroll" ? std::vector{s, c} : std::vector{c};
  return call;
}

void write_claims(const Setting& setting, const std::vector<DrawnCall>& calls, ProgramText& text) {
  text.comment("Nobody can leave a course but by its end, so at most its capacity ever enrols.");
  for (std::int64_t c = 1; c <= setting.size("courses"); ++c) {
    std::vector<std::string> enrolled;
    for (const DrawnCall& call : calls) {
      if (call.txn == "enroll" && call.arguments[1] == c) enrolled.push_back(call.committed());
    }
    if (!enrolled.empty())
      text.claim(sum_of(enrolled), "<=", std::to_string(setting.size("capacity")));
  }
}

}  // namespace
}  // namespace courseware_parts

WorkloadKind courseware() {
  using namespace courseware_parts;
  return {.info = {.name = "courseware",
                   .summary = "students enrol in courses that are open and have room",
                   .access = RowAccess::Point,
                   .sizes = kSizes},
          .write_rows = write_rows,
          .write_txns = write_txns,
          .draw = draw,
          .write_claims = write_claims};
}

}  // namespace isoscope
