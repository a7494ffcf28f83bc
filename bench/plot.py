"""Plots as SVG, with nothing but the standard library: lines, bars and histograms.

    from plot import lines, bars
    lines("growth.svg", "check at ser", "transactions", "CPU seconds",
          {"si": [(1000, 0.01), (10000, 0.11)]}, log_x=True, log_y=True)
    bars("outcomes.svg", "outcomes", "histories", {"cc": {"x=1": 4, "x=2": 2}})
    histogram("times.svg", "times of 46 problems", "milliseconds", [0.2, 0.3, 4.1], log_x=True)

Series differ by colour and by mark, so that a plot can be read without colour; it follows the light
or dark scheme of whoever looks at it.

Scripts that print tables in Markdown get their plots by plot.beside(main): with --plot FOLDER, each
table becomes FOLDER/SCRIPT-1.svg, -2.svg, …. Columns that are called by numbers ("3 txns", "10,000")
make a line for each row, other columns of numbers make bars.
"""
import contextlib
import html
import io
import math
import pathlib
import re
import sys

COLOURS = [("#0550ae", "#79c0ff"), ("#b3141f", "#ff9492"), ("#116329", "#56d364"),
           ("#7d4e00", "#e3b341"), ("#6639ba", "#d2a8ff"), ("#59636e", "#9da7b3")]
WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 84, 24, 44, 62


def style():
    light = "".join(f".c{i} {{ fill: {c[0]}; stroke: {c[0]}; }}" for i, c in enumerate(COLOURS))
    dark = "".join(f".c{i} {{ fill: {c[1]}; stroke: {c[1]}; }}" for i, c in enumerate(COLOURS))
    return ("<style>text { font: 12px ui-sans-serif, system-ui, Arial, sans-serif; fill: #1f2328; }"
            ".title { font-size: 15px; font-weight: 600; } .axis { stroke: #57606a; } "
            ".grid { stroke: #d8dee4; } .paper { fill: #fff; } .line { fill: none; stroke-width: 2; }"
            f"{light} text[class] {{ stroke: none; }}"
            "@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .axis { stroke: #7d8590; } "
            f".grid {{ stroke: #30363d; }} .paper {{ fill: #0d1117; }} {dark} "
            "text[class] { fill: #e6edf3; } }</style>")


def shown(number):
    """A number as people write it: 1,000, 0.25, 1e-06."""
    if number == 0:
        return "0"
    if abs(number) >= 1:
        return f"{number:,.0f}" if number == int(number) or abs(number) >= 100 else f"{number:,.3g}"
    return f"{number:.3g}"


class Axis:
    """From values to pixels. A logarithmic axis has no place for numbers below 1/1000 of its end."""

    def __init__(self, values, begin, end, log):
        values = [v for v in values if v is not None]
        self.log = log and any(v > 0 for v in values)
        self.begin, self.end = begin, end
        if self.log:
            positive = [v for v in values if v > 0]
            self.low = math.floor(math.log10(min(positive)))
            self.high = max(math.ceil(math.log10(max(positive))), self.low + 1)
        else:
            self.low, self.high = 0, max(values, default=1) or 1
            step = 10 ** math.floor(math.log10(self.high))
            self.step = next(s * step for s in (0.1, 0.2, 0.5, 1, 2)
                             if self.high / (s * step) <= 6)
            self.high = self.step * math.ceil(self.high / self.step - 1e-9)

    def __call__(self, value):
        if self.log:
            value = math.log10(max(value, 10 ** self.low))
        return self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self):
        if self.log:
            every = max(1, math.ceil((self.high - self.low) / 8))
            return [10.0 ** e for e in range(self.low, self.high + 1, every)]
        return [i * self.step for i in range(round(self.high / self.step) + 1)]


class Picture:
    def __init__(self, title, x_title, y_title, legend):
        self.parts = []
        self.top = TOP + 18 * len(legend)
        self.add(f'<rect class="paper" width="{WIDTH}" height="{HEIGHT + 18 * len(legend)}"/>')
        self.text(16, 26, title, 'class="title"')
        for i, name in enumerate(legend):
            self.mark(LEFT + 6, TOP + 18 * i, i)
            self.text(LEFT + 20, TOP + 4 + 18 * i, name)
        self.bottom = HEIGHT + 18 * len(legend) - BOTTOM
        self.height = HEIGHT + 18 * len(legend)
        self.name = title
        self.text((LEFT + WIDTH - RIGHT) / 2, self.height - 12, x_title, 'text-anchor="middle"')
        self.text(16, self.top + 2, y_title)

    def add(self, part):
        self.parts.append(part)

    def text(self, x, y, words, more=""):
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" {more}>{html.escape(str(words))}</text>')

    def mark(self, x, y, series):
        css = f'class="c{series % len(COLOURS)}"'
        shape = series % 4
        if shape == 0:
            self.add(f'<circle {css} cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
        elif shape == 1:
            self.add(f'<rect {css} x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>')
        elif shape == 2:
            self.add(f'<path {css} d="M{x:.1f} {y - 5:.1f} l5 9 h-10z"/>')
        else:
            self.add(f'<path {css} d="M{x:.1f} {y - 6:.1f} l5 6 l-5 6 l-5 -6z"/>')

    def y_axis(self, axis):
        for tick in axis.ticks():
            y = axis(tick)
            self.add(f'<path class="grid" d="M{LEFT} {y:.1f} H{WIDTH - RIGHT}"/>')
            self.text(LEFT - 8, y + 4, shown(tick), 'text-anchor="end"')
        self.add(f'<path class="axis" fill="none" d="M{LEFT} {self.top + 10} V{self.bottom} H{WIDTH - RIGHT}"/>')

    def write(self, path):
        with open(path, "w", encoding="utf-8") as out:
            out.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
                      f'width="{WIDTH}" height="{self.height}" role="img" '
                      f'aria-label="{html.escape(self.name)}">\n<title>{html.escape(self.name)}</title>\n'
                      + style() + "\n" + "\n".join(self.parts) + "\n</svg>\n")


def lines(path, title, x_title, y_title, series, log_x=False, log_y=False):
    """`series`: by name, points (x, y) in the order of x; a y of None is left out."""
    picture = Picture(title, x_title, y_title, list(series))
    points = [p for row in series.values() for p in row if p[1] is not None]
    x_axis = Axis([p[0] for p in points], LEFT, WIDTH - RIGHT - 8, log_x)
    y_axis = Axis([p[1] for p in points], picture.bottom, picture.top + 16, log_y)
    picture.y_axis(y_axis)
    for tick in x_axis.ticks():
        picture.text(x_axis(tick), picture.bottom + 18, shown(tick), 'text-anchor="middle"')
    for number, row in enumerate(series.values()):
        drawn = [(x_axis(x), y_axis(y)) for x, y in row if y is not None]
        way = " L".join(f"{x:.1f} {y:.1f}" for x, y in drawn)
        picture.add(f'<path class="line c{number % len(COLOURS)}" style="fill: none" d="M{way}"/>')
        for x, y in drawn:
            picture.mark(x, y, number)
    picture.write(path)


def bars(path, title, y_title, series, log_y=False):
    """`series`: by name, numbers by group. Groups stand side by side, a bar for each series."""
    picture = Picture(title, "", y_title, list(series) if len(series) > 1 else [])
    groups = list(dict.fromkeys(group for row in series.values() for group in row))
    numbers = [n for row in series.values() for n in row.values() if n is not None]
    axis = Axis(numbers, picture.bottom, picture.top + 16, log_y)
    picture.y_axis(axis)
    room = (WIDTH - RIGHT - LEFT) / max(1, len(groups))
    width = min(46, room * 0.8 / max(1, len(series)))
    for g, group in enumerate(groups):
        middle = LEFT + room * (g + 0.5)
        letters = max(3, int(room / 6.2))
        words = group if len(group) <= letters else group[:letters - 1] + "…"
        picture.text(middle, picture.bottom + 18, words, 'text-anchor="middle"')
        for i, row in enumerate(series.values()):
            if row.get(group) is None:
                continue
            x = middle + (i - len(series) / 2) * width
            y = axis(row[group])
            picture.add(f'<rect class="c{i % len(COLOURS)}" x="{x + 1:.1f}" y="{y:.1f}" '
                        f'width="{width - 2:.1f}" height="{max(0.5, picture.bottom - y):.1f}"/>')
            picture.text(x + width / 2, y - 4, shown(row[group]), 'text-anchor="middle"')
    picture.write(path)


def histogram(path, title, x_title, numbers, bins=20, log_x=False):
    """How many of the numbers fall into each of `bins` equal steps of the axis."""
    scale = math.log10 if log_x else float
    values = [scale(n) for n in numbers if not log_x or n > 0]
    low, high = min(values, default=0), max(values, default=1)
    step = (high - low) / bins or 1
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int((value - low) / step))] += 1
    picture = Picture(title, x_title, "count", [])
    axis = Axis(counts, picture.bottom, picture.top + 16, False)
    picture.y_axis(axis)
    room = (WIDTH - RIGHT - LEFT) / bins
    for i, count in enumerate(counts):
        picture.add(f'<rect class="c0" x="{LEFT + room * i + 1:.1f}" y="{axis(count):.1f}" '
                    f'width="{room - 2:.1f}" height="{picture.bottom - axis(count):.1f}"/>')
    for i in range(0, bins + 1, max(1, bins // 5)):
        value = low + step * i
        picture.text(LEFT + room * i, picture.bottom + 18, shown(10 ** value if log_x else value),
                     'text-anchor="middle"')
    picture.write(path)


def number_of(cell):
    """The number at the beginning of a cell of a table, if there is one: in its own unit."""
    found = re.match(r"[>~*` ]*(-?[\d,]*\.?\d+(?:e-?\d+)?)", cell)
    return float(found[1].replace(",", "")) if found else None


def tables_in(text):
    """(heading above it, its rows) of each table in Markdown; the first row names the columns."""
    heading, rows = "", []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
            continue
        if len(rows) > 2:
            yield heading, [rows[0]] + [row for row in rows[2:] if len(row) == len(rows[0])]
        rows = []
        if line.startswith("#"):
            heading = line.lstrip("# ")


def plot_table(path, heading, rows):
    """Lines if the columns are called by numbers, else bars. False: there are no numbers."""
    head, body = rows[0], rows[1:]
    title = heading or head[0]
    sizes = [number_of(name) for name in head[1:]]
    if len(sizes) > 1 and None not in sizes:
        series = {row[0]: [p for p in zip(sizes, map(number_of, row[1:])) if p[1] is not None] for row in body}
        series = {name: points for name, points in series.items() if points}
        numbers = [y for points in series.values() for _, y in points]
        if numbers:
            lines(path, title, re.sub(r"^[\d,. ]*", "", head[1]), head[0], series,
                  log_x=max(sizes) > 50 * min(sizes) > 0, log_y=is_wide(numbers))
        return bool(numbers)
    # Words at the beginning of a row say what it is about; an empty cell repeats the one above.
    words = 1
    while words < len(head) and not any(number_of(row[words]) is not None for row in body):
        words += 1
    groups, above = [], [""] * words
    for row in body:
        above = [cell or old for cell, old in zip(row[:words], above)]
        groups.append(" ".join(above))
    series = {}
    for i in range(words, len(head)):
        numbers = dict(zip(groups, (number_of(row[i]) for row in body)))
        if any(n is not None for n in numbers.values()):
            # Two columns of one name are told apart by the last column of words before each.
            name = head[i]
            if name in series:
                before = [head[j] for j in range(1, i) if number_of(body[0][j]) is None]
                name = f"{name} ({before[-1] if before else i})"
            series[name] = numbers
    series = dict(list(series.items())[:len(COLOURS)])
    if not series:
        return False
    bars(path, title, "", series, log_y=is_wide([n for row in series.values() for n in row.values()]))
    return True


def is_wide(numbers):
    positive = [n for n in numbers if n]
    return bool(positive) and max(positive) > 50 * min(positive)


def beside(main):
    """Runs main(); with --plot FOLDER its tables become plots, too. Returns what it returns."""
    if "--plot" not in sys.argv:
        return main()
    at = sys.argv.index("--plot")
    folder = pathlib.Path(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    folder.mkdir(parents=True, exist_ok=True)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            return main()
    finally:
        print(printed.getvalue(), end="")
        name = pathlib.Path(sys.argv[0]).stem
        number = 0
        for heading, rows in tables_in(printed.getvalue()):
            number += plot_table(folder / f"{name}-{number + 1}.svg", heading, rows)
