#!/usr/bin/env python3
"""bench/plot.py draws what it is given, as XML that holds names from outside as text.

    tests/report/plot_test.py
"""
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
import plot  # pylint: disable=wrong-import-position

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>&\""
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def drawn(path):
    return xml.parse(path).getroot()


def numbers_of(element, names):
    return [float(element.attrib[name]) for name in names]


def check_lines(folder):
    plot.lines(folder / "a.svg", HOSTILE, "txns", "s",
               {"si": [(10, 0.1), (100, 1), (1000, 10)], HOSTILE: [(10, 1), (100, None), (1000, 100)]},
               log_x=True, log_y=True)
    root = drawn(folder / "a.svg")
    marks = root.findall(f"{SVG}circle")
    expect(len(marks) == 3 + 1, f"three points and the legend: {len(marks)}")
    ys = [numbers_of(mark, ["cy"])[0] for mark in marks[1:]]
    expect(ys == sorted(ys, reverse=True), "more is higher")
    steps = {round(a - b) for a, b in zip(ys, ys[1:])}
    expect(len(steps) == 1, f"powers of ten are equally far apart: {ys}")
    texts = [t.text for t in root.iter(f"{SVG}text")]
    expect(HOSTILE in texts, "names are texts")
    expect(root.find(f".//{SVG}script") is None, "and never markup")


def check_bars(folder):
    plot.bars(folder / "b.svg", "outcomes", "histories", {"cc": {"x": 4, "y": 2}, "si": {"x": 1}})
    bars = [r for r in drawn(folder / "b.svg").findall(f"{SVG}rect") if "y" in r.attrib and
            float(r.attrib["width"]) > 10]
    expect(len(bars) == 3, f"a bar for each number: {len(bars)}")
    heights = [numbers_of(bar, ["height"])[0] for bar in bars]
    expect(abs(heights[0] - 4 * heights[1]) < 1 or abs(heights[0] - 2 * heights[2]) < 1, f"{heights}")
    plot.bars(folder / "zero.svg", "nothing", "n", {"a": {"x": 0}})
    drawn(folder / "zero.svg")


def check_histogram(folder):
    plot.histogram(folder / "c.svg", "times", "s", [1, 1, 2, 10], bins=9)
    bars = drawn(folder / "c.svg").findall(f"{SVG}rect")[1:]
    full = [bar for bar in bars if float(bar.attrib["height"]) > 0]
    expect(len(bars) == 9 and len(full) == 3, f"four numbers in three of nine bins: {len(full)}")


def check_tables(folder):
    script = folder / "table.py"
    script.write_text(f"import sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, {str(ROOT / 'bench')!r})\n"
                      "import plot\n\n\ndef main():\n    print('### growth\\n\\n| class | 3 txns | 5 txns |\\n|---|---|---|"
                      "\\n| SAT | 1.0 | 2.5 |\\n\\n| program | level | CPU s |\\n|---|---|---|\\n| a | si | 0.5 s |"
                      "\\n|  | ser | >3 |\\n\\n| words | only |\\n|---|---|\\n| a | b |')\n\n\nplot.beside(main)\n")
    done = subprocess.run([sys.executable, script, "--plot", folder / "plots"], text=True, capture_output=True,
                          check=False)
    expect(done.returncode == 0 and done.stdout.startswith("### growth"), done.stderr)
    names = sorted(p.name for p in (folder / "plots").glob("*.svg"))
    expect(names == ["table-1.svg", "table-2.svg"], f"a plot for each table with numbers: {names}")
    texts = [t.text for t in drawn(folder / "plots" / "table-2.svg").iter(f"{SVG}text")]
    expect("a si" in texts and "a ser" in texts, f"an empty cell repeats the one above: {texts}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_lines, check_bars, check_histogram, check_tables):
            check(pathlib.Path(folder))
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


main()
