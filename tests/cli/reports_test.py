#!/usr/bin/env python3
"""What check, predict and audit write for continuous integration, and when there is nothing to draw.

    tests/cli/reports_test.py build/isoscope
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from json_schema import errors, keyword_errors

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


class Folder:
    def __init__(self, binary, path):
        self.binary, self.path = binary, pathlib.Path(path)

    def run(self, line, code):
        done = subprocess.run([self.binary, *line.split()], cwd=self.path, capture_output=True, text=True,
                              check=False)
        expect(done.returncode == code, f"isoscope {line}: exit code {done.returncode}: {done.stderr}")
        return done

    def text(self, name):
        file = self.path / name
        expect(file.exists(), f"{name} was not written")
        return file.read_text() if file.exists() else ""


SARIF = json.loads((pathlib.Path(__file__).parent / "sarif.schema.json").read_text())


def hold_sarif(text, what, has_baseline=False):
    """The schema, and the rules of the standard that a schema cannot say."""
    log = json.loads(text)
    for error in errors(log, SARIF, ""):
        expect(False, f"{what}: SARIF{error}")
    for run in log["runs"]:
        rules = run["tool"]["driver"]["rules"]
        expect(len({rule["id"] for rule in rules}) == len(rules), f"{what}: rules are distinct")
        for result in run["results"]:
            expect(rules[result["ruleIndex"]]["id"] == result["ruleId"], f"{what}: ruleIndex and ruleId agree")
            ids = [place["id"] for place in result.get("relatedLocations", [])]
            expect(len(set(ids)) == len(ids), f"{what}: ids of locations are distinct")
            expect(result["locations"], f"{what}: a place")
            expect(("baselineState" in result) == has_baseline, f"{what}: baselineState only with a baseline")
        prints = [result["partialFingerprints"]["isoscope/v1"] for result in run["results"]]
        expect(len(set(prints)) == len(prints), f"{what}: fingerprints are distinct: {prints}")
    return log


def hold_junit(text, what):
    """The shape that CI systems read: counts agree with cases, a case has at most one result."""
    suites = xml.fromstring(text)
    expect(suites.tag == "testsuites" and len(suites), f"{what}: testsuites")
    for suite in suites:
        expect(suite.tag == "testsuite" and suite.attrib["name"].startswith("isoscope "), f"{what}: testsuite")
        cases = list(suite)
        expect(cases and all(case.tag == "testcase" for case in cases), f"{what}: cases")
        for kind, tag in (("tests", None), ("failures", "failure"), ("errors", "error")):
            count = len(cases) if tag is None else sum(case.find(tag) is not None for case in cases)
            expect(int(suite.attrib[kind]) == count, f"{what}: {kind}")
        for case in cases:
            expect({"classname", "name", "time"} <= set(case.attrib) and len(case) <= 1, f"{what}: a case")
            float(case.attrib["time"])
    return suites


FINDINGS = [  # command line, exit code
    ("check examples/lost-update.hist --level cc,si,ser", 1),
    ("check examples/write-skew.hist --level ser --explain all", 1),
    ("check examples/long-fork.hist --level all", 1),
    ("check examples/long-fork.hist --level cc", 0),
    ("predict examples/predict/two-reports.hist --level cc --all 5", 1),
    ("predict examples/shop/run.jsonl --level pg-rc --sessions transaction", 1),
    ("audit examples/audit/on_call.sql --level si", 1),
    ("audit examples/audit/on_call.sql --level ser", 0),
    ("audit examples/audit/bank.sql --level cc --all", 1),
    ("audit examples/audit/shop.sql --level pg-rc --all", 1),
]


def check_all_findings(work):
    expect(not list(keyword_errors(SARIF, "sarif")), "the schema of SARIF uses known keywords")
    expect(list(errors({"version": "2.0", "runs": [{"tool": {"driver": {}}, "wrong": 1}]}, SARIF, "")),
           "the schema of SARIF refuses something")
    for number, (line, code) in enumerate(FINDINGS):
        work.run(f"{line} --sarif {number}.sarif --junit {number}.xml --annotate --quiet", code)
        log = hold_sarif(work.text(f"{number}.sarif"), line)
        hold_junit(work.text(f"{number}.xml"), line)
        expect(bool(log["runs"][0]["results"]) == (code == 1), f"{line}: findings")
        # The same question again has the same fingerprints.
        work.run(f"{line} --sarif again.sarif --quiet", code)
        expect(work.text(f"{number}.sarif") == work.text("again.sarif"), f"{line}: the same twice")
    # Names of files are references: blanks, percent signs and letters beyond ASCII are escaped.
    (work.path / "two words 100%ü.hist").write_text((ROOT / "examples/lost-update.hist").read_text())
    done = subprocess.run([work.binary, "check", "two words 100%ü.hist", "--level", "si", "--sarif", "b.sarif"],
                          cwd=work.path, capture_output=True, text=True, check=False)
    expect(done.returncode == 1, done.stderr)
    log = hold_sarif(work.text("b.sarif"), "a file with blanks")
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    expect(place["artifactLocation"]["uri"] == "two%20words%20100%25%C3%BC.hist", f"escaped: {place}")


def check_junit(work):
    work.run("check examples/lost-update.hist --level cc,si --junit junit.xml", 1)
    suite = xml.fromstring(work.text("junit.xml")).find("testsuite")
    expect(suite.attrib["tests"] == "2" and suite.attrib["failures"] == "1", "JUnit counts cases")
    cases = {case.attrib["name"]: case for case in suite.iter("testcase")}
    expect(cases["cc"].find("failure") is None, "cc passes")
    failure = cases["si"].find("failure")
    expect(failure is not None and "overwrites acct" in failure.attrib["message"], "si fails with its reason")
    expect(failure is not None and "--rw-->" in failure.text, "the failure has the cycle")
    work.run("check empty.hist --level si --junit junit.xml", 3)
    suite = xml.fromstring(work.text("junit.xml")).find("testsuite")
    expect(suite.attrib["errors"] == "1" and suite.attrib["failures"] == "0", "undecided is an error, no failure")


def check_sarif(work):
    work.run("audit examples/audit/on_call.sql --level si --sarif a.sarif --annotate", 1)
    sarif = json.loads(work.text("a.sarif"))
    expect(sarif["version"] == "2.1.0" and len(sarif["runs"]) == 1, "SARIF 2.1.0")
    run = sarif["runs"][0]
    result = run["results"][0]
    rules = run["tool"]["driver"]["rules"]
    expect(rules[result["ruleIndex"]]["id"] == result["ruleId"] == "write-skew", "the rule is the anomaly")
    expect(rules[0]["help"]["text"], "the rule has a help text")
    expect(re.fullmatch("[0-9a-f]{16}", result["partialFingerprints"]["isoscope/v1"]), "a fingerprint")
    place = result["locations"][0]["physicalLocation"]
    expect(place["artifactLocation"]["uri"] == "examples/audit/on_call.sql", "the file")
    lines = (ROOT / "examples/audit/on_call.sql").read_text().splitlines()
    related = [r["physicalLocation"]["region"]["startLine"] for r in result["relatedLocations"]]
    expect(len(related) == 4, f"both places of both edges: {related}")
    expect(all("doctor" in lines[line - 1] for line in related), f"statements on the table: {related}")
    expect(any("SELECT" in lines[line - 1] for line in related) and
           any("UPDATE" in lines[line - 1] for line in related), "the read and the write")
    work.run("predict examples/predict/two-reports.hist --level cc --sarif p.sarif", 1)
    predicted = json.loads(work.text("p.sarif"))["runs"][0]["results"]
    expect(predicted and predicted[0]["ruleId"] == "long-fork", "predictions are findings")
    # A comment of a recorded statement tells its place in the code.
    run = (ROOT / "examples/shop/run.jsonl").read_text()
    place = " /*file='shop.py',line='12',function='buy'*/"
    tagged = re.sub(r'("sql":"UPDATE product SET qty = [0-9](?:[^"\\\\]|\\\\.)*)"', lambda m: m[1] + place + '"', run)
    expect(tagged != run, "the recorded shop updates a quantity")
    (work.path / "tagged.jsonl").write_text(tagged)
    work.run("predict tagged.jsonl --level pg-rc --sessions transaction --sarif t.sarif", 1)
    lost = [r for r in json.loads(work.text("t.sarif"))["runs"][0]["results"] if r["ruleId"] == "lost-update"]
    places = [p["physicalLocation"] for r in lost for p in r["relatedLocations"]]
    expect(any(p["artifactLocation"]["uri"] == "shop.py" and p["region"]["startLine"] == 12
               for p in places if "region" in p), f"races have places in the code: {places}")


def check_annotations(work):
    done = work.run("audit examples/audit/on_call.sql --level si --annotate --quiet", 1)
    expect(re.match(r"::error file=examples/audit/on_call.sql,line=\d+,col=\d+,title=write-skew::write skew between 2 calls of go_home",
                    done.stderr), f"an annotation: {done.stderr}")


def check_baseline(work):
    sql = (ROOT / "examples/audit/on_call.sql").read_text()
    (work.path / "app.sql").write_text(sql)
    missing = work.run("audit app.sql --level si --baseline known.json", 2)
    expect("known.json" in missing.stderr, "a baseline that is not there is an error")
    work.run("audit app.sql --level si --baseline known.json --update-baseline", 0)
    work.run("audit app.sql --level si --baseline known.json --junit junit.xml --sarif known.sarif", 0)
    log = hold_sarif(work.text("known.sarif"), "with a baseline", has_baseline=True)
    expect(log["runs"][0]["results"][0]["baselineState"] == "unchanged", "what is known is unchanged")
    suite = xml.fromstring(work.text("junit.xml")).find("testsuite")
    expect(suite.attrib["failures"] == "0", "what is known does not fail")
    # Code that moves keeps its findings; another level is another finding.
    (work.path / "app.sql").write_text("\n\n-- further down now\n" + sql)
    work.run("audit app.sql --level si --baseline known.json", 0)
    work.run("audit app.sql --level cc --baseline known.json", 1)
    (work.path / "known.json").write_text("[]")
    done = work.run("audit app.sql --level si --baseline known.json", 2)
    expect("no baseline" in done.stderr, "another file is no baseline")
    # A limit is not made good by a baseline.
    work.run("check empty.hist --level si --baseline empty.json --update-baseline", 3)


def check_pictures(work):
    history = "init " + " ".join(f"k{i}=0" for i in range(50)) + "\n"
    history += "".join(f"s{i + 1}: [r(k{i},0) w(k{(i + 1) % 50},1)]\n" for i in range(50))
    (work.path / "large.hist").write_text(history)
    done = work.run("check large.hist --level ser --svg large.svg --html large.html --quiet", 1)
    expect("not drawn: 50 transactions" in done.stderr, f"what is too large is said: {done.stderr}")
    expect("--minimize" in work.text("large.svg") and "--minimize" in work.text("large.html"), "in the files, too")
    work.run("synth --allow si --forbid si --txns 2 --svg none.svg --html none.html --quiet", 0)
    expect("nothing to draw" in work.text("none.svg"), "no history, no picture")
    xml.fromstring(work.text("none.svg"))
    for number, line in enumerate(("check examples/lost-update.hist --level ser", "compare --matrix rc ra cc")):
        work.run(f"{line} --svg {number}.svg --dot {number}.dot --quiet", 1 if number == 0 else 0)
        xml.fromstring(work.text(f"{number}.svg"))
        expect(work.text(f"{number}.dot").startswith("digraph"), line)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "examples", pathlib.Path(folder) / "examples")
        work = Folder(str(pathlib.Path(sys.argv[1]).resolve()), folder)
        (work.path / "empty.hist").write_text("s1: [r(x,0)]!\n")
        for check in (check_all_findings, check_junit, check_sarif, check_annotations, check_baseline, check_pictures):
            check(work)
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


main()
