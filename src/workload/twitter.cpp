// Twitter [BouajjaniEneaRoman-PLDI'23, section 7.2]: users publish and follow each other.
//
// Claims. Tweets of a user are numbered without gap or double; as many tweets are there as the
// user's counter says; follows and followers are two sides of one thing, and a user's number of
// followers counts them.
#include "workload/kind.h"

namespace isoscope {

namespace twitter_parts {
namespace {

constexpr TableSize kSizes[] = {
    {.name = "users", .help = "users", .initially = 3, .least = 2, .most = 300},
};

Table user(const Setting& setting) {
  return {.name = "user",
          .dimensions = {{.name = "u", .size = setting.size("users")}},
          .columns = {"tweets", "num_followers"},
          .rest = 5};
}

void write_rows(const Setting& setting, ProgramText& text) {
  text.comment("follows[a, b] and followers[b, a]: a follows b.  tweets[u]: how many u published.");
  Rng rng = setting.rows();
  for (std::int64_t u = 1; u <= setting.size("users"); ++u) {
    text.init(cell("user", std::vector{u}), 1);
    std::int64_t followers = 0;
    for (std::int64_t a = 1; a <= setting.size("users"); ++a) {
      if (a == u || !rng.chance(0.25)) continue;
      text.init(cell("follows", std::vector{a, u}), 1);
      text.init(cell("followers", std::vector{u, a}), 1);
      ++followers;
    }
    if (followers > 0) text.init(cell("num_followers", std::vector{u}), followers);
  }
}

void write_txns(const Setting& setting, ProgramText& text, Statements& sql) {
  const std::string each_user = fmt::format("for a in 1..{} {{", setting.size("users"));
  sql.begin_txn("publish_tweet(u)");
  sql.select(user(setting), {"u"}, {{"n", "tweets"}});
  text.lines({"n := n + 1", "write(tweet[u, n], 1)", "write(tweets[u], n)"});
  sql.end_txn();

  sql.begin_txn("follow(u, b)");
  text.lines({"already := read(follows[u, b])", "if (already) { abort }", "write(follows[u, b], 1)",
              "write(followers[b, u], 1)"});
  sql.select(user(setting), {"b"}, {{"count", "num_followers"}});
  text.line("write(num_followers[b], count + 1)");
  sql.end_txn();

  sql.begin_txn("get_timeline(u)");
  sql.select(user(setting), {"u"}, {{"n", "tweets"}});
  text.lines({"for at in max(1, n - 9)..n {", "there := read(tweet[u, at])", "assert(there)", "}"});
  sql.end_txn();

  sql.begin_txn("get_followers(u)");
  sql.select(user(setting), {"u"}, {{"count", "num_followers"}});
  text.lines({each_user, "follower := read(followers[u, a])", "follows := read(follows[a, u])",
              "assert(follower == follows)", "n := n + follower", "}", "assert(n == count)"});
  sql.end_txn();

  text.comment("The last three tweets of everyone whom u follows.");
  sql.begin_txn("get_newsfeed(u)");
  text.lines({each_user, "follows := read(follows[u, a])", "if (follows) {", "n := read(tweets[a])",
              "for at in max(1, n - 2)..n {", "there := read(tweet[a, at])", "assert(there)", "}",
              "}", "}"});
  sql.end_txn();
}

DrawnCall draw(const Setting& setting, Rng& rng, Client client) {
  DrawnCall call{.txn = pick(rng, {{"publish_tweet", 25},
                                   {"follow", 25},
                                   {"get_timeline", 20},
                                   {"get_followers", 15},
                                   {"get_newsfeed", 15}}),
                 .arguments = {},
                 .client = client};
  const std::int64_t users = setting.size("users");
  const std::int64_t u = between(rng, 1, users);
  call.arguments = {u};
  if (call.txn == "follow")
    call.arguments.push_back((u - 1 + between(rng, 1, users - 1)) % users + 1);
  return call;
}

void write_claims(const Setting& setting, const std::vector<DrawnCall>& calls, ProgramText& text) {
  text.comment("Every tweet of a user has a number of its own: none is lost.");
  for (std::int64_t u = 1; u <= setting.size("users"); ++u) {
    std::vector<std::string> numbers;
    std::vector<std::string> published;
    for (const DrawnCall& call : calls) {
      if (call.txn != "publish_tweet" || call.arguments[0] != u) continue;
      numbers.push_back(call.local("n"));
      published.push_back(call.committed());
    }
    if (!published.empty()) text.claim(max_of(numbers), "==", sum_of(published));
  }
}

}  // namespace
}  // namespace twitter_parts

WorkloadKind twitter() {
  using namespace twitter_parts;
  return {.info = {.name = "twitter",
                   .summary = "users publish, follow and read each other",
                   .access = RowAccess::Point,
                   .sizes = kSizes},
          .write_rows = write_rows,
          .write_txns = write_txns,
          .draw = draw,
          .write_claims = write_claims};
}

}  // namespace isoscope
