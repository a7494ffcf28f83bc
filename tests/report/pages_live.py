#!/usr/bin/env python3
"""Opens the pages of the examples in a real browser and looks at what is drawn.

    tests/report/pages_live.py build/isoscope [--screenshots FOLDER]

The browser is Chromium without a window, spoken to over a pipe (the DevTools protocol), with no
package but Python's own. For every page: nothing is loaded and nothing fails; the picture has its
lanes, boxes and edges; the player steps by buttons and by keys and ends with the values of the run;
everything can be reached by Tab; texts have contrast, in light and in dark; a phone needs no
sideways scrolling; and names that look like markup stay texts. Exits with 1 and says what is wrong.
"""
import base64
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOSTILE = "</script></title><img src=x onerror=window.hacked=1>\"'><svg onload=window.hacked=1>"

# Names in double quotes may hold anything but these, and SQL anything but a closing brace.
HOSTILE_SPEC = """setup { CREATE TABLE hostile (id int PRIMARY KEY, v text); INSERT INTO hostile VALUES (1, '<b>'); }
teardown { DROP TABLE hostile; }
session "<img src=x onerror=window.hacked=1>"
step "</script><svg onload=window.hacked=1>" { UPDATE hostile SET v = '<script>window.hacked=1</script>' WHERE id = 1; }
session s2
step r2 { SELECT v, '</title><img src=x onerror=window.hacked=1>' FROM hostile; }
"""
# Identifiers in double quotes and texts, through a page of statements.
HOSTILE_SQL = """CREATE TABLE "<img src=x onerror=window.hacked=1>" (id int PRIMARY KEY, v text NOT NULL);
CREATE FUNCTION "<svg onload=window.hacked=1>"(p text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  seen text;
BEGIN
  SELECT v INTO seen FROM "<img src=x onerror=window.hacked=1>" WHERE id = 1;
  UPDATE "<img src=x onerror=window.hacked=1>" SET v = p WHERE id = 1;
  RETURN seen;
END $$;
INSERT INTO "<img src=x onerror=window.hacked=1>" VALUES (1, '</script><b>');
-- session a: "<svg onload=window.hacked=1>"('<script>window.hacked=1</script>')
-- session b: "<svg onload=window.hacked=1>"('</title><img src=x onerror=window.hacked=1>')
-- assert SELECT count(*) = 0 FROM "<img src=x onerror=window.hacked=1>"
"""


class Browser:
    """One tab of a headless Chromium."""

    def __init__(self, home):
        program = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
                        if p), None)
        if not program:
            sys.exit("chromium is not installed: scripts/install-deps.sh live")
        to_read, self.out = os.pipe()
        self.inp, to_write = os.pipe()

        def take_pipes():
            # Chromium expects them as 3 and 4, whatever numbers they have here.
            reads, writes = os.dup(to_read), os.dup(to_write)
            os.dup2(reads, 3)
            os.dup2(writes, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-sync", f"--user-data-dir={home}",
             "--window-size=1280,900", "about:blank"],
            close_fds=False, preexec_fn=take_pipes, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer = b""
        self.number = 0
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.inp, 1 << 20)
            if not piece:
                sys.exit("the browser is gone")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url=path.as_uri())
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive())

    def ask(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{script}\n{answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key):
        codes = {"Tab": 9, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=codes[key])

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=mobile)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": name}])

    def screenshot(self, path, whole=False):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(picture["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)


# Name, arguments, exit code, and what the page has: scenes, lanes and edges of the first one's cycle.
PAGES = [
    ("lost-update", "check examples/lost-update.hist --level cc,si,ser", 1, (3, 3, 2)),
    ("write-skew", "check examples/write-skew.hist --level ser --explain all", 1, (2, 2, 2)),
    ("long-fork", "check examples/long-fork.hist --level si", 1, (1, 4, 4)),
    ("consistent", "check examples/long-fork.hist --level cc", 0, (1, 4, 0)),
    ("predict", "predict examples/predict/two-reports.hist --level cc", 1, (1, None, None)),
    ("races", "predict examples/shop/run.jsonl --level pg-rc --sessions transaction", 1, (2, 2, 2)),
    ("audit", "audit examples/audit/on_call.sql --level si --advise", 1, (1, 2, 2)),
    ("bank-audit", "audit examples/audit/bank.sql --level cc --all", 1, (None, None, None)),
    ("explore", "explore examples/programs/bank.txn --level cc --outcomes", 1, (None, 2, None)),
    ("weakest", "explore examples/programs/bank.txn --weakest", None, (0, 0, 0)),
    ("synth", "synth --allow cc --forbid pc", 1, (1, None, None)),
    ("compare", "compare si ser", 0, (1, None, None)),
    ("matrix", "compare --matrix rc ra cc pc psi si ser", 0, (None, None, None)),
    ("run", "run examples/programs/bank.txn --store weak --level cc --runs 50", 1, (1, 2, None)),
    ("serial", "run examples/programs/bank.txn --store serial --seed 1", 0, (1, 2, 0)),
    # Statement schedules, as PostgreSQL executes them.
    ("server-explore", "explore examples/sql/oversell.sql --level pg-rc --outcomes", 1, (None, 2, None)),
    ("server-run", "run examples/sql/oversell.sql --store weak --level pg-rc --runs 40", 1, (1, 2, None)),
    ("server-audit", "audit examples/audit/shop.sql --level pg-rc --advise", 1, (None, 2, 2)),
]
# The same, asked of a server; {dsn} names it.
LIVE_PAGES = [
    ("force", "force examples/force/lost-update.spec --dsn {dsn}", 1, (None, 2, None)),
    ("force-app", "force examples/sql/oversell.sql --dsn {dsn}", None, (None, None, None)),
    ("probe", "probe --dsn {dsn} --only P4,G2-item,G1b --junit probe.xml", 0, (None, 2, None)),
    ("stress", "stress --dsn {dsn} --isolation READ_COMMITTED --level si --workload register --txns 300 --junit stress.xml",
     None, (None, None, None)),
]


class Postgres:
    """A private server on loopback in a temporary folder."""

    def __init__(self):
        # A folder of its own: the server runs as another user.
        self.folder = folder = pathlib.Path(tempfile.mkdtemp())
        self.bin = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.prefix = []
        if os.getuid() == 0:
            self.prefix = ["setpriv", "--reuid", "nobody", "--clear-groups"]
            shutil.chown(folder, "nobody")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.dsn = f"postgresql://pages:secret-word@127.0.0.1:{self.port}/postgres"
        data = str(folder / "data")
        subprocess.run([*self.prefix, self.bin / "initdb", "-D", data, "-U", "pages", "-A", "trust", "--no-sync"],
                       check=True, stdout=subprocess.DEVNULL, cwd=folder)
        self.process = subprocess.Popen(
            [*self.prefix, self.bin / "postgres", "-D", data, "-p", str(self.port), "-c",
             "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        for _ in range(600):
            if subprocess.run([self.bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)],
                              check=False).returncode == 0:
                return
            time.sleep(0.1)
        sys.exit("the server does not start")

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)

FACTS = """(() => {
  const scenes = [...document.querySelectorAll('section.scene')];
  const first = scenes[0];
  const outside = [...document.querySelectorAll('figure svg')].filter((svg) => {
    const frame = svg.viewBox.baseVal;
    return [...svg.querySelectorAll('.frame, .pill, .node')].some((part) => {
      const b = part.getBBox();
      return b.x < -1 || b.y < -1 || b.x + b.width > frame.width + 1 || b.y + b.height > frame.height + 1;
    });
  }).length;
  // Texts that stick out of their boxes.
  const wide = [];
  for (const box of document.querySelectorAll('g.box')) {
    const frame = box.querySelector('.frame').getBBox();
    for (const text of box.querySelectorAll('text'))
      if (text.getBBox().x + text.getBBox().width > frame.x + frame.width + 2) wide.push(text.textContent);
  }
  return {
    scenes: scenes.length,
    lanes: first ? first.querySelectorAll('rect.lane').length : 0,
    cycle: first ? first.querySelectorAll('g.edge.cycle').length : 0,
    initial: document.querySelectorAll('g.box.initial').length,
    legends: document.querySelectorAll('text.legend').length,
    players: window.isoscope.players.length,
    heading: document.querySelector('h1').textContent,
    command: document.getElementById('command').textContent,
    outside, wide,
    hacked: window.hacked === 1,
    scripts: document.querySelectorAll('script:not([type])').length,
    images: document.querySelectorAll('img, iframe, object, link').length,
  };
})()"""

# The smallest contrast of a text with what is behind it, by the formula of WCAG 2.
CONTRAST = """(() => {
  const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = (c) => {
    const [r, g, b] = parse(c).slice(0, 3).map((v) => {
      const s = v / 255;
      return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let n = node; n && n.nodeType === 1; n = n.parentElement) {
      const c = getComputedStyle(n).backgroundColor;
      const parts = parse(c);
      if (parts.length && (parts.length < 4 || parts[3] > 0.5)) return c;
    }
    return 'rgb(255, 255, 255)';
  };
  let worst = [21, ''];
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !node.getClientRects().length || node.closest('title, script, style')) continue;
    if (node.disabled) continue;
    const style = getComputedStyle(node);
    const isSvg = node.closest('svg');
    const a = light(isSvg ? style.fill : style.color);
    const b = light(ground(isSvg ? node.closest('figure') : node));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, node.textContent.slice(0, 60)];
  }
  return worst;
})()"""


class Checks:
    def __init__(self):
        self.failures = []
        self.count = 0

    def expect(self, holds, what):
        self.count += 1
        if not holds:
            self.failures.append(what)
            print(f"FAILED  {what}")


def make(binary, work, name, arguments, code, checks):
    page = work / f"{name}.html"
    words = [word.replace("READ_COMMITTED", "READ COMMITTED") for word in arguments.split()]
    words = [str(binary), *words, "--html", page.name, "--svg", f"{name}.svg", "--quiet"]
    done = subprocess.run(words, cwd=work, capture_output=True, text=True, check=False)
    checks.expect(code is None or done.returncode == code,
                  f"{name}: exit code {done.returncode}: {done.stderr}")
    checks.expect(page.exists(), f"{name}: no page: {done.stderr}")
    xml.parse(work / f"{name}.svg")
    checks.expect("secret-word" not in page.read_text(), f"{name}: a password is not passed on")
    return page


def play(browser, name, checks):
    """Steps through the first player of the page, by button and by key."""
    total = browser.ask("isoscope.players[0].run.steps.length")
    checks.expect(total > 1, f"{name}: {total} steps")
    browser.ask("isoscope.players[0].next.click()")
    checks.expect(browser.ask("document.querySelectorAll('.box.now').length") == 1,
                  f"{name}: the first step marks a box")
    checks.expect(browser.ask("document.querySelector('.status').textContent").startswith("step 1 of"),
                  f"{name}: the player tells the step")
    browser.ask("isoscope.players[0].next.focus()")
    browser.press("ArrowRight")
    checks.expect(browser.ask("isoscope.players[0].at") == 2, f"{name}: ArrowRight steps on")
    browser.press("ArrowLeft")
    checks.expect(browser.ask("isoscope.players[0].at") == 1, f"{name}: ArrowLeft steps back")
    browser.press("End")
    checks.expect(browser.ask("isoscope.players[0].at") == total, f"{name}: End goes to the end")
    values = browser.ask("[...isoscope.players[0].values(isoscope.players[0].run.steps.length)"
                         ".values()].map((row) => row[1] + ' from ' + row[2])")
    shown = browser.ask("[...isoscope.players[0].scene.querySelectorAll('.state tbody tr')]"
                        ".map((row) => row.cells[2].textContent)")
    knows_rows = browser.ask("!isoscope.players[0].scene.querySelector('.state').hidden")
    checks.expect(values == shown and bool(shown) == knows_rows, f"{name}: the table shows the values: {shown}")
    checks.expect(knows_rows or name.startswith("force") or name == "probe", f"{name}: rows before and after each step")
    checks.expect(browser.ask("document.querySelector('.steps li[aria-current]') === "
                              "isoscope.players[0].lines.at(-1)"), f"{name}: the last line is marked")


def look(browser, page, name, expected, checks, shots):
    browser.size(1280, 900)
    browser.scheme("light")
    browser.open(page)
    facts = browser.ask(FACTS)
    requests = [e["params"]["request"]["url"] for e in browser.events
                if e.get("method") == "Network.requestWillBeSent"]
    checks.expect(requests == [page.as_uri()], f"{name}: loads only itself: {requests}")
    trouble = [e for e in browser.events
               if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
    checks.expect(not trouble, f"{name}: no error in the page: {trouble}")
    for what, wanted in zip(("scenes", "lanes", "cycle"), expected):
        checks.expect(wanted is None or facts[what] == wanted, f"{name}: {what}: {facts[what]}")
    checks.expect(facts["heading"], f"{name}: has a sentence on top")
    checks.expect(facts["command"].startswith("isoscope "), f"{name}: names its command")
    checks.expect(facts["outside"] == 0, f"{name}: everything is inside its picture")
    checks.expect(not facts["wide"], f"{name}: texts fit their boxes: {facts['wide']}")
    checks.expect(not facts["hacked"] and facts["scripts"] == 1 and facts["images"] == 0,
                  f"{name}: no text became markup")
    checks.expect(page.stat().st_size < 400_000, f"{name}: {page.stat().st_size} bytes")
    if shots:
        browser.screenshot(shots / f"{name}.png", whole=True)
    if facts["players"]:
        # What force and stress do not know is not drawn: the rows at the start.
        checks.expect(facts["initial"] > 0 or name.startswith("force"), f"{name}: draws T0")
        checks.expect(facts["legends"] > 0, f"{name}: has a legend")
        play(browser, name, checks)
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        worst = browser.ask(CONTRAST)
        checks.expect(worst[0] >= 4.5, f"{name}, {scheme}: contrast {worst}")
    if shots:
        browser.screenshot(shots / f"{name}-dark.png", whole=True)
    browser.ask("document.getElementById('theme').click()")
    checks.expect(browser.ask("document.documentElement.dataset.theme") == "light",
                  f"{name}: the button switches the scheme")
    # On a phone, wide pictures and tables scroll by themselves, never the page.
    browser.size(390, 800, mobile=True)
    browser.open(page)
    width = browser.ask("document.documentElement.scrollWidth")
    checks.expect(width <= 392, f"{name}: {width} pixels wide on a phone")
    if shots:
        browser.screenshot(shots / f"{name}-phone.png")


def reach(browser, page, name, checks):
    """Tab reaches the boxes and the edges, and the line below the picture tells about each."""
    browser.size(1280, 900)
    browser.open(page)
    told = {}
    for _ in range(120):
        browser.press("Tab")
        at, words = browser.ask("""(() => {
            const here = document.activeElement;
            const all = [...document.querySelectorAll('figure g[tabindex]')];
            const figure = here.closest('figure');
            return [all.indexOf(here), figure ? figure.nextElementSibling.textContent : ''];
        })()""")
        if at >= 0:
            told[at] = words
    wanted = browser.ask("document.querySelectorAll('figure g[tabindex]').length")
    checks.expect(wanted > 0 and len(told) == wanted, f"{name}: Tab reaches {len(told)} of {wanted}")
    checks.expect("" not in told.values(), f"{name}: each has something to tell")


def schedule(browser, page, name, checks):
    """Statements with their SQL in the order of their answers, waiting, and what serial runs give."""
    browser.size(1280, 900)
    browser.open(page)
    boxes = browser.ask("""[...document.querySelector('section.scene').querySelectorAll('g.box:not(.initial)')]
        .map((box) => box.textContent)""")
    checks.expect(any("SELECT" in box for box in boxes) and any("UPDATE" in box for box in boxes),
                  f"{name}: SQL in the boxes: {boxes}")
    numbers = [box.split("\n")[1].split(".")[0] for box in boxes if "\n" in box]
    checks.expect(len(boxes) > 3, f"{name}: {numbers}")
    checks.expect(browser.ask("document.querySelectorAll('table.serial tbody tr').length") > 0,
                  f"{name}: what a serial run gives")
    left = browser.ask("""[...document.querySelector('section.scene').querySelectorAll('g.box:not(.initial) .frame')]
        .map((frame) => frame.getBBox().x)""")
    checks.expect(left == sorted(left), f"{name}: time goes from left to right: {left}")


def click_lattice(browser, page, checks):
    browser.size(1280, 900)
    browser.open(page)
    arrows = browser.ask("document.querySelectorAll('g.lattice[data-scene]').length")
    checks.expect(arrows >= 6, f"matrix: {arrows} arrows lead to histories")
    browser.ask("document.querySelector('g.lattice[data-scene]').focus()")
    browser.press("Enter")
    checks.expect(browser.ask("document.activeElement.tagName") == "H2",
                  "matrix: Enter on an arrow goes to its history")


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    shots = None
    if "--screenshots" in sys.argv:
        shots = pathlib.Path(sys.argv[sys.argv.index("--screenshots") + 1]).resolve()
        shots.mkdir(parents=True, exist_ok=True)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        os.symlink(ROOT / "examples", work / "examples")
        browser = Browser(work / "profile")
        try:
            for name, arguments, code, expected in PAGES:
                page = make(binary, work, name, arguments, code, checks)
                look(browser, page, name, expected, checks, shots)
                if name in ("lost-update", "audit", "server-run"):
                    reach(browser, page, name, checks)
                if name.startswith("server"):
                    schedule(browser, page, name, checks)
                if name == "matrix":
                    click_lattice(browser, page, checks)
            (work / "hostile.sql").write_text(HOSTILE_SQL)
            for name in ("explore", "audit"):
                page = make(binary, work, f"hostile-{name}", f"{name} hostile.sql --level pg-rc", None, checks)
                look(browser, page, f"hostile-{name}", (None, None, None), checks, shots)
                checks.expect(browser.ask("document.body.textContent").count("onerror=window.hacked") > 3,
                              f"hostile-{name}: the names are there, as texts")
            server = Postgres()
            try:
                for name, arguments, code, expected in LIVE_PAGES:
                    page = make(binary, work, name, arguments.format(dsn=server.dsn), code, checks)
                    look(browser, page, name, expected, checks, shots)
                (work / "hostile.spec").write_text(HOSTILE_SPEC)
                page = make(binary, work, "force-hostile", f"force hostile.spec --dsn {server.dsn}", None, checks)
                look(browser, page, "force-hostile", (None, 2, None), checks, shots)
            finally:
                server.close()
            for name in ("probe", "stress"):
                suite = xml.parse(work / f"{name}.xml").getroot().find("testsuite")
                checks.expect(suite.attrib["name"] == f"isoscope {name}" and len(suite) > 0, f"{name}: JUnit")
            (work / "hostile.jsonl").write_text(
                json.dumps({"format": "isoscope-history/1"}) + "\n" +
                "".join(json.dumps({"session": HOSTILE + str(i), "id": HOSTILE + "t" + str(i), "status": "committed", "ops": [["r", HOSTILE, 0], ["w", HOSTILE, i]]})
                        + "\n" for i in (1, 2)))
            page = make(binary, work, "hostile", "check hostile.jsonl --level ser", 1, checks)
            look(browser, page, "hostile", (1, 2, None), checks, shots)
            checks.expect(browser.ask("document.body.textContent").count("onerror=window.hacked") > 3,
                          "hostile: the names are there, as texts")
        finally:
            browser.close()
    print(f"{checks.count} checks, {len(checks.failures)} failures")
    sys.exit(1 if checks.failures else 0)


main()
