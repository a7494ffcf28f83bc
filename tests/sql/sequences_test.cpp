// nextval, currval and lastval: what the front end makes of them.
#include "sql/front_end.h"

namespace isoscope::sql {
namespace {

constexpr std::string_view kSchema =
    "CREATE SEQUENCE s START 7 INCREMENT BY 3;\n"
    "CREATE TABLE t (id bigint PRIMARY KEY DEFAULT nextval('s'), v bigint);\n"
    "CREATE TABLE u (id serial PRIMARY KEY, v bigint);\n";

Application app_of_body(std::string_view body) {
  return *parse_application(std::string(kSchema) +
                            "CREATE FUNCTION f(p integer) RETURNS void LANGUAGE plpgsql AS $$\n"
                            "DECLARE v bigint; BEGIN " +
                            std::string(body) + " END $$");
}
// Or why there is none.
std::string outline_of_body(std::string_view body) {
  const Application app = app_of_body(body);
  EXPECT_EQ(find_flaw(app), "");
  if (app.functions.empty()) return app.problems.front().what;
  return Outline(app, app.functions[0]).of(app.functions[0].body);
}

TEST(Sequences, DrawBeforeTheStatement) {
  EXPECT_EQ(outline_of_body("v := nextval('s'); INSERT INTO u (v) VALUES (v + nextval('s'));"),
            "draw s -> (drawn 1)\nv := (drawn 1)\n"
            "draw s -> (drawn 2)\ninsert u v = (v + (drawn 2))\n");
}

TEST(Sequences, KnowWhereTheyStart) {
  const Application app = app_of_body("v := nextval('s');");
  ASSERT_EQ(app.sequences.size(), 2U);
  EXPECT_EQ(app.sequences[0].name, "s");
  EXPECT_EQ(app.sequences[0].start, 7);
  EXPECT_EQ(app.sequences[0].increment, 3);
  EXPECT_EQ(app.sequences[1].name, "u_id_seq");
  EXPECT_EQ(app.tables[0].columns[ColumnId{0}].drawn_from, SequenceId{0});
  EXPECT_EQ(app.tables[1].columns[ColumnId{0}].drawn_from, SequenceId{1});
}

TEST(Sequences, GiveTheCurrentValueOfWhatTheFunctionHasDrawn) {
  EXPECT_EQ(outline_of_body("INSERT INTO u (v) VALUES (p); v := currval('u_id_seq');"),
            "draw u_id_seq -> (drawn 1)\n(current 1) := (drawn 1)\n"
            "insert u v = p id = (drawn 1)\n(current 2) := (current 1)\nv := (current 2)\n");
}

TEST(Sequences, RefuseWhatTheSessionMayHaveDrawnBefore) {
  const std::string refused = "currval or lastval where the function may not have drawn before";
  for (const std::string_view body : {
           "v := currval('s');",
           "v := lastval();",
           "v := nextval('s'); v := currval('u_id_seq');",
           "IF p > 1 THEN v := nextval('s'); END IF; v := currval('s');",
           "FOR i IN 1..p LOOP v := nextval('s'); END LOOP; v := currval('s');",
           "BEGIN INSERT INTO t VALUES (1); v := nextval('s'); EXCEPTION WHEN OTHERS THEN v := 1; "
           "END; v := currval('s');",
       })
    EXPECT_EQ(outline_of_body(body), refused) << body;
  EXPECT_NE(outline_of_body("IF p > 1 THEN v := nextval('s'); ELSE v := nextval('s'); END IF; "
                            "v := currval('s');"),
            refused);
  EXPECT_NE(
      outline_of_body("IF p > 1 THEN RETURN; ELSE v := nextval('s'); END IF; v := lastval();"),
      refused);
}

TEST(Sequences, RefuseDrawsThatMayNotHappenOnce) {
  EXPECT_EQ(outline_of_body("v := CASE WHEN p > 1 THEN nextval('s') ELSE 0 END;"),
            "whether nextval is called here is not known");
  EXPECT_EQ(outline_of_body("UPDATE u SET v = nextval('s');"),
            "nextval is called for each row here");
  EXPECT_EQ(outline_of_body("v := nextval('s' || p);"), "nextval of a sequence that is computed");
}

TEST(Sequences, AreToldApartFromTheOneThatFillsTheColumn) {
  EXPECT_EQ(outline_of_body("INSERT INTO u VALUES (nextval('u_id_seq'), p);"), "insert u v = p\n");
  EXPECT_EQ(outline_of_body("INSERT INTO u VALUES (nextval('s'), p);"),
            "draw s -> (drawn 1)\ninsert u id = (drawn 1) v = p\n");
}

TEST(Sequences, KeepTheOrderInWhichAnInsertDraws) {
  EXPECT_EQ(outline_of_body("INSERT INTO u VALUES (nextval('u_id_seq'), nextval('u_id_seq') + 1);"),
            "draw u_id_seq -> (drawn 1)\ndraw u_id_seq -> (drawn 2)\n"
            "insert u id = (drawn 1) v = ((drawn 2) + 1)\n");
  const Application app = app_of_body("INSERT INTO t (v) VALUES (nextval('s') + 1);");
  ASSERT_EQ(app.notes.size(), 1U);
  EXPECT_EQ(app.notes[0].what, "the server may draw the values of this INSERT in another order");
  EXPECT_EQ(app.notes[0].kind, NoteKind::Free);
}

TEST(Sequences, NoteWhatTheyDoOtherwise) {
  const auto notes_of = [](const std::string& sequence) {
    std::string notes;
    for (const Note& note : application_of(sequence + "; CREATE TABLE t (id int);").notes)
      notes += std::string(name_of(note.kind)) + ": " + note.what + "\n";
    return notes;
  };
  EXPECT_EQ(notes_of("CREATE SEQUENCE s CYCLE"),
            "gap: the sequence may begin again (CYCLE), which is not modelled\n");
  EXPECT_EQ(notes_of("CREATE SEQUENCE s MAXVALUE 9"),
            "free: the sequence goes on beyond its last value\n");
  EXPECT_EQ(notes_of("CREATE SEQUENCE s NO MINVALUE NO MAXVALUE CACHE 1"), "");
  EXPECT_EQ(notes_of("CREATE SEQUENCE a.s; CREATE SEQUENCE b.s"),
            "gap: sequences 's' of two schemas are treated as one\n");
  EXPECT_EQ(notes_of("CREATE SEQUENCE u_id_seq; CREATE TABLE u (id serial)"),
            "gap: the sequence of 'id' and 'u_id_seq' are treated as one\n");
}

}  // namespace
}  // namespace isoscope::sql
