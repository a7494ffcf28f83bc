// Wikipedia, as OLTP-Bench [DifallahPavloCurino-VLDB'13] runs it: pages, their revisions, and who
// watches them.
//
// Revisions are numbered by page, so that an edit based on a stale page shows. Nine calls of ten
// only read; one title of ten does not exist.
//
// Claims. A page's latest revision and its text are there; revisions of a page have no gap and no
// number twice, so no edit is lost; a user's number of edits counts them all.
#include "workload/kind.h"

namespace isoscope {

namespace wikipedia_parts {
namespace {

constexpr TableSize kSizes[] = {
    {.name = "pages", .help = "pages", .initially = 4},
    {.name = "users", .help = "users, and addresses of anonymous readers", .initially = 3},
};

struct Tables {
  explicit Tables(const Setting& setting) {
    const Dimension p{.name = "p", .size = setting.size("pages")};
    const Dimension u{.name = "u", .size = setting.size("users")};
    const Dimension r{.name = "r"};
    page = {.name = "page",
            .dimensions = {p},
            .columns = {"page_latest", "page_touched", "page_len"},
            .rest = 7};
    restriction = {.name = "page_restriction", .dimensions = {p}, .columns = {}, .rest = 0};
    block = {.name = "ip_block", .dimensions = {u}, .columns = {}, .rest = 0};
    user = {.name = "user",
            .dimensions = {u},
            .columns = {"user_editcount", "user_touched"},
            .rest = 12};
    group = {.name = "user_group", .dimensions = {u}, .columns = {}, .rest = 0};
    watchlist = {
        .name = "watchlist", .dimensions = {u, p}, .columns = {"watchlist_notified"}, .rest = 3};
    revision = {.name = "revision", .dimensions = {p, r}, .columns = {"rev_user"}, .rest = 10};
    text = {.name = "text", .dimensions = {p, r}, .columns = {"text_len"}, .rest = 2};
    const std::vector<Dimension> place = {{.name = "client"}, {.name = "number"}};
    changes = {.name = "recent_change", .dimensions = place, .columns = {"rc_page"}, .rest = 18};
    logging = {.name = "logging", .dimensions = place, .columns = {"log_page"}, .rest = 10};
  }
  Table page, restriction, block, user, group, watchlist, revision, text, changes, logging;
};

void write_rows(const Setting& setting, ProgramText& text) {
  text.comment("p: page, r: its revision, u: user.");
  Rng rng = setting.rows();
  for (std::int64_t p = 1; p <= setting.size("pages"); ++p) {
    text.init(cell("page", std::vector{p}), 1);
    text.init(cell("page_latest", std::vector{p}), 1);
    text.init(cell("page_len", std::vector{p}), between(rng, 10, 500));
    text.init(cell("revision", std::vector<std::int64_t>{p, 1}), 1);
    text.init(cell("text", std::vector<std::int64_t>{p, 1}), 1);
  }
  for (std::int64_t u = 1; u <= setting.size("users"); ++u) {
    text.init(cell("user", std::vector{u}), 1);
    text.init(cell("watchlist", std::vector{u, between(rng, 1, setting.size("pages"))}), 1);
  }
}

class Writer {
 public:
  Writer(const Setting& setting, ProgramText& text, Statements& sql)
      : setting_(setting), text_(text), sql_(sql), tables_(setting) {}

  void write() {
    sql_.begin_txn("get_page_anonymous(p, ip)");
    find_page();
    text_.comment("select from ip_block");
    sql_.select(tables_.block, {"ip"}, {{"blocked", ""}});
    text_.line("if (blocked) { abort }");
    read_page();
    sql_.end_txn();

    sql_.begin_txn("get_page_authenticated(p, u)");
    find_user();
    text_.comment("select from user_group");
    sql_.select(tables_.group, {"u"}, {{"group", ""}});
    find_page();
    read_page();
    sql_.end_txn();

    write_update();

    sql_.begin_txn("add_watch_list(p, u)");
    text_.line("watching := read(watchlist[u, p])");
    text_.open("if (!watching)");
    sql_.insert(tables_.watchlist, {"u", "p"}, {});
    text_.close();
    touch_user();
    sql_.end_txn();

    sql_.begin_txn("remove_watch_list(p, u)");
    text_.line("write(watchlist[u, p], 0)");
    touch_user();
    sql_.end_txn();
  }

 private:
  void find_page() {
    text_.comment("select from page, page_restriction");
    sql_.select(tables_.page, {"p"}, {{"found", ""}, {"latest", "page_latest"}});
    text_.line("if (!found) { abort }");
    sql_.select(tables_.restriction, {"p"}, {{"restricted", ""}});
    text_.line("if (restricted) { abort }");
  }

  void read_page() {
    text_.comment("select from page, revision where r = page_latest; from text");
    sql_.select_again(tables_.page, {"p"}, {{"latest", "page_latest"}});
    sql_.fetch(tables_.revision, {"p", "latest"}, {{"there", ""}, {"author", "rev_user"}});
    text_.line("assert(there)");
    sql_.fetch(tables_.text, {"p", "latest"}, {{"there", ""}, {"length", "text_len"}});
    text_.line("assert(there)");
  }

  void find_user() {
    text_.comment("select from user");
    sql_.select(tables_.user, {"u"}, {{"found", ""}, {"edits", "user_editcount"}});
    text_.line("if (!found) { abort }");
    text_.line("found := 0");
  }

  void touch_user() {
    text_.comment("update user");
    sql_.select(tables_.user, {"u"}, {{"touched", "user_touched"}});
    text_.line("write(user_touched[u], touched + 1)");
  }

  void write_update() {
    text_.comment("client and number tell the change from all others.");
    sql_.begin_txn("update_page(p, u, length, client, number)");
    find_user();
    find_page();
    read_page();
    text_.line("r := latest + 1");
    text_.comment("insert into text, revision; update page");
    sql_.insert(tables_.text, {"p", "r"}, {{"text_len", "length"}});
    sql_.insert(tables_.revision, {"p", "r"}, {{"rev_user", "u"}});
    text_.lines(
        {"write(page_latest[p], r)", "write(page_touched[p], r)", "write(page_len[p], length)"});
    text_.comment("insert into recent_change; tell who watches the page");
    sql_.insert(tables_.changes, {"client", "number"}, {{"rc_page", "p"}});
    text_.open(fmt::format("for at_u in 1..{}", setting_.size("users")));
    text_.lines({"watching := read(watchlist[at_u, p])", "if (watching && at_u != u) {",
                 "write(watchlist_notified[at_u, p], r)", "}"});
    text_.close();
    text_.comment("insert into logging; update user");
    sql_.insert(tables_.logging, {"client", "number"}, {{"log_page", "p"}});
    text_.lines(
        {"edits := edits + 1", "write(user_editcount[u], edits)", "write(user_touched[u], edits)"});
    sql_.end_txn();
  }

  const Setting& setting_;
  ProgramText& text_;
  Statements& sql_;
  Tables tables_;
};

void write_txns(const Setting& setting, ProgramText& text, Statements& sql) {
  Writer(setting, text, sql).write();
}

DrawnCall draw(const Setting& setting, Rng& rng, Client client) {
  DrawnCall call{.txn = pick(rng, {{"get_page_anonymous", 88},
                                   {"get_page_authenticated", 1},
                                   {"update_page", 9},
                                   {"add_watch_list", 1},
                                   {"remove_watch_list", 1}}),
                 .arguments = {},
                 .client = client};
  const std::int64_t pages = setting.size("pages");
  const bool reads = call.txn.starts_with("get");
  const std::int64_t p = between(rng, 1, pages);
  const bool is_missing = rng.chance(0.1);
  call.arguments = {reads && is_missing ? pages + 1 : p, between(rng, 1, setting.size("users"))};
  if (call.txn == "update_page")
    call.arguments.insert(call.arguments.end(),
                          {between(rng, 10, 500), client.session, client.number});
  return call;
}

// The largest of what committed edits of a page (or by a user) counted is their number.
void claim_count(const std::vector<DrawnCall>& calls, std::size_t argument, std::int64_t value,
                 std::string_view local, std::int64_t start, std::string_view comment,
                 ProgramText& text) {
  std::vector<std::string> counted = {std::to_string(start)};
  std::vector<std::string> edits = {std::to_string(start)};
  for (const DrawnCall& call : calls) {
    if (call.txn != "update_page" || call.arguments[argument] != value) continue;
    counted.push_back(call.if_committed(local));
    edits.push_back(call.committed());
  }
  if (edits.size() == 1) return;
  text.comment(comment);
  text.claim(max_of(counted), "==", sum_of(edits));
}

void write_claims(const Setting& setting, const std::vector<DrawnCall>& calls, ProgramText& text) {
  for (std::int64_t p = 1; p <= setting.size("pages"); ++p)
    claim_count(calls, 0, p, "r", 1, fmt::format("Page {} has a revision for every edit.", p),
                text);
  for (std::int64_t u = 1; u <= setting.size("users"); ++u)
    claim_count(calls, 1, u, "edits", 0, fmt::format("All edits of user {} are counted.", u), text);
}

}  // namespace
}  // namespace wikipedia_parts

WorkloadKind wikipedia() {
  using namespace wikipedia_parts;
  return {.info = {.name = "wikipedia",
                   .summary = "pages, their revisions and who watches them (OLTP-Bench)",
                   .access = RowAccess::Scan,
                   .sizes = kSizes},
          .write_rows = write_rows,
          .write_txns = write_txns,
          .draw = draw,
          .write_claims = write_claims};
}

}  // namespace isoscope
