// Expressions, with names and types.
#include <gmock/gmock.h>

#include "sql/front_end.h"

namespace isoscope::sql {
namespace {

// Of "v := …" over integers, "s := …" over texts, "b := …" over booleans.
std::string value_of(std::string_view target, std::string_view expression) {
  const std::string text =
      outline_of_statements(std::string(target) + " := " + std::string(expression) + ";");
  const std::string head = std::string(target) + " := ";
  return text.starts_with(head) ? text.substr(head.size(), text.size() - head.size() - 1) : text;
}

TEST(Expressions, Compute) {
  EXPECT_EQ(value_of("v", "p + 2 * -w - 7 / 2 % 3"), "((p + (2 * -w)) - ((7 / 2) % 3))");
  EXPECT_EQ(value_of("v", "-5"), "-5");
  EXPECT_EQ(value_of("v", "9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(value_of("v", "abs(p) + mod(p, 3)"), "(abs(p) + (p % 3))");
  EXPECT_EQ(value_of("s", "q || 'a' || p"), "((q || 'a') || p)");
}

TEST(Expressions, CompareAndDecide) {
  EXPECT_EQ(value_of("b", "p <> 1 AND NOT (q = 'a' OR p != 2)"),
            "((p <> 1) and not ((q = 'a') or (p <> 2)))");
  EXPECT_EQ(value_of("b", "p BETWEEN 1 AND v"), "((p >= 1) and (p <= v))");
  EXPECT_EQ(value_of("b", "p NOT BETWEEN 1 AND 2"), "not ((p >= 1) and (p <= 2))");
  EXPECT_EQ(value_of("b", "p IN (1, 2)"), "((p = 1) or (p = 2))");
  EXPECT_EQ(value_of("b", "q NOT IN ('a')"), "not (q = 'a')");
  EXPECT_EQ(value_of("b", "p = ANY (ps)"), "(p in ps)");
  EXPECT_EQ(value_of("b", "p <> ALL (ARRAY[1, 2])"), "not (p in array(1, 2))");
  EXPECT_EQ(value_of("b", "(p, q) = (1, 'a')"), "((p = 1) and (q = 'a'))");
}

TEST(Expressions, KnowNull) {
  EXPECT_EQ(value_of("b", "p IS NULL"), "isnull(p)");
  EXPECT_EQ(value_of("b", "p IS NOT NULL"), "not isnull(p)");
  EXPECT_EQ(value_of("b", "b IS NOT TRUE"), "if(b, false, true)");
  EXPECT_EQ(value_of("b", "b IS UNKNOWN"), "if(isnull(b), true, false)");
  EXPECT_EQ(value_of("b", "p IS NOT DISTINCT FROM v"),
            "if((isnull(p) or isnull(v)), (isnull(p) and isnull(v)), (p = v))");
  EXPECT_EQ(value_of("v", "coalesce(NULL, p, 0)"), "coalesce(NULL, p, 0)");
  EXPECT_EQ(value_of("v", "nullif(p, 0)"), "if((p = 0), NULL, p)");
}

TEST(Expressions, Choose) {
  EXPECT_EQ(value_of("v", "CASE WHEN b THEN 1 WHEN p = 2 THEN 2 END"),
            "if(b, 1, if((p = 2), 2, NULL))");
  EXPECT_EQ(value_of("s", "CASE p WHEN 1 THEN 'one' ELSE q END"), "if((p = 1), 'one', q)");
  EXPECT_EQ(value_of("v", "least(p, 1) + greatest(2, v, w)"), "(least(p, 1) + greatest(2, v, w))");
}

TEST(Expressions, UseArrays) {
  EXPECT_EQ(value_of("v", "ps[p] + cardinality(ps)"), "(ps[p] + size(ps))");
  EXPECT_EQ(value_of("v", "array_length(ps, 1)"), "if((size(ps) = 0), NULL, size(ps))");
}

TEST(Expressions, ConvertConstants) {
  EXPECT_EQ(value_of("b", "p = '5'"), "(p = 5)");
  EXPECT_EQ(value_of("b", "'t'"), "true");
  EXPECT_EQ(value_of("v", "'7'::integer"), "7");
  EXPECT_EQ(value_of("v", "p::bigint"), "p");
  EXPECT_EQ(value_of("s", "p::text"), "?text(p)");
  EXPECT_EQ(value_of("v", "CAST(q AS integer)"), "?integer(q)");
}

TEST(Expressions, TakeUnknownFunctionsAsSomeFunction) {
  const Application app = application_of(in_plpgsql("p integer",
                                                    "DECLARE v integer; s text; BEGIN\n"
                                                    "v := frobnicate(p, 1); s := lower('A'); END"));
  EXPECT_EQ(Outline(app, app.functions[0]).of(app.functions[0].body),
            "v := ?frobnicate(p, 1)\ns := ?lower('A')\n");
  ASSERT_EQ(app.notes.size(), 1U);
  EXPECT_EQ(app.notes[0].where, (Place{5, 6}));
  EXPECT_EQ(app.notes[0].function, "f");
  EXPECT_THAT(app.notes[0].what, testing::HasSubstr("frobnicate"));
}

TEST(Expressions, NoteWhatIsRough) {
  const Application app = application_of(
      in_plpgsql("p integer", "DECLARE v real; BEGIN v := now(); v := p / 1.5; END"));
  std::vector<std::string> notes;
  for (const Note& note : app.notes) notes.push_back(note.what);
  EXPECT_THAT(notes, testing::ElementsAre("float4 values are treated as whole numbers",
                                          "now() is an unknown value at each call",
                                          "what this gives depends on how many digits a numeric "
                                          "shows"));
}

}  // namespace
}  // namespace isoscope::sql
