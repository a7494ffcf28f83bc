#!/usr/bin/env python3
"""Makes man pages and shell completions of what `isoscope --help` says.

    scripts/make-man.py build/isoscope FOLDER [--date 2026-01-31]

Writes FOLDER/man1/isoscope.1, isoscope-check.1, … and FOLDER/completions/isoscope.bash, _isoscope
(zsh) and isoscope.fish. The commands and their options come from the program, so that a new one is
in all of them.
"""
import pathlib
import re
import subprocess
import sys


def help_of(binary, *words):
    return subprocess.run([binary, *words, "--help"], capture_output=True, text=True, check=True).stdout


class Command:
    """What a help text says."""

    def __init__(self, binary, name, summary):
        self.name = name
        self.text = help_of(binary, *name.split())
        self.summary = summary
        lines = self.text.splitlines()
        self.usage = next((l[7:] for l in lines if l.startswith("Usage: ")), f"isoscope {name}")
        self.groups = []  # title, [(names, type, explanation)]
        self.tail = []
        group = None
        for line in lines[2:]:
            title = re.match(r"^([A-Z][A-Za-z ]*):$", line)
            if title and title[1] != "Examples":
                group = (title[1], [])
                self.groups.append(group)
            elif title or (line and not line.startswith("  ")) or group is None:
                if title or line or self.tail:
                    group = None
                    self.tail.append(line)
            elif line.startswith("   "):
                if group[1]:
                    group[1][-1][1] += " " + line.strip()
            elif line:
                parts = re.split(r"\s{2,}", line.strip(), maxsplit=1)
                if len(parts) == 1:
                    # A long name: its explanation is on the next line.
                    parts = re.match(r"(\S+(?: [A-Z.]+)*)\s*(.*)", line.strip()).groups()
                group[1].append([parts[0], parts[1]])

    def options(self):
        """(long and short names, takes a value?, values it may have, explanation)"""
        for title, rows in self.groups:
            if title in ("Subcommands", "Positionals"):
                continue
            for left, explanation in rows:
                words = left.split(" ")
                names = [n for n in words[0].split(",") if n.startswith("-")]
                names = [re.sub(r"[{\[].*", "", n) for n in names]
                value = " ".join(words[1:]).replace("REQUIRED", "").replace("...", "").strip()
                value = value.split("=")[0]
                choices = value.split("|") if "|" in value else []
                if names:
                    yield names, bool(value), choices, explanation


def escaped(text):
    return text.replace("\\", "\\\\").replace("-", "\\-").replace("\n.", "\n\\&.").replace("'", "\\(aq")


def man_page(command, version, date, all_commands):
    title = "isoscope" + ("-" + command.name.replace(" ", "-") if command.name else "")
    out = [f'.TH {title.upper()} 1 "{date}" "isoscope {version}" "User Commands"', ".SH NAME",
           f"{escaped(title)} \\- {escaped(command.summary)}", ".SH SYNOPSIS", ".B " + escaped(command.usage)]
    for group, rows in command.groups:
        out.append(".SH " + ("COMMANDS" if group == "Subcommands" else f'"{group.upper()}"'))
        for left, explanation in rows:
            out += [".TP", ".B " + escaped(left), escaped(explanation)]
    examples = False
    for line in command.tail:
        if line == "Examples:":
            out += [".SH EXAMPLES", ".nf"]
            examples = True
        elif line.startswith("Exit codes: "):
            out += [".fi"] if examples else []
            examples = False
            out += [".SH EXIT STATUS", escaped(line[12:])]
        elif line:
            out.append(escaped(line.strip() if not examples else line))
    if examples:
        out.append(".fi")
    others = [c for c in all_commands if c.name != command.name and " " not in c.name]
    out += [".SH SEE ALSO", ", ".join("\\fBisoscope" + ("\\-" + c.name if c.name else "") + "\\fR(1)" for c in others)]
    return "\n".join(out) + "\n"


def bash(commands):
    cases = []
    for c in commands:
        if c.name:
            flags = " ".join(n for names, *_ in c.options() for n in names)
            values = "".join(
                f"      {'|'.join(names)}) COMPREPLY=($(compgen -W '{' '.join(choices)}' -- \"$cur\")); return ;;\n"
                for names, _, choices, _ in c.options() if choices)
            name = c.name.split()[-1]
            cases.append(f"  {name})\n" + (f"    case $prev in\n{values}    esac\n" if values else "")
                         + f"    words='{flags}' ;;\n")
    names = " ".join(c.name for c in commands if c.name and " " not in c.name)
    return f"""# bash completion of isoscope, made by scripts/make-man.py.
_isoscope() {{
  local cur prev command words i
  cur=${{COMP_WORDS[COMP_CWORD]}}
  prev=${{COMP_WORDS[COMP_CWORD - 1]}}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      -*) break ;;
      *) [[ $i -le 2 ]] && case " {' '.join(c.name.split()[-1] for c in commands if c.name)} " in
        *" ${{COMP_WORDS[i]}} "*) command=${{COMP_WORDS[i]}} ;;
      esac ;;
    esac
  done
  words='{names} help version --help --version'
  case $command in
{''.join(cases)}  esac
  if [[ $cur == -* || -z $command ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}}
complete -o filenames -F _isoscope isoscope
"""


def quoted(text):
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh(commands):
    out = ["#compdef isoscope", "# zsh completion of isoscope, made by scripts/make-man.py.", "_isoscope() {",
           "  local -a commands", "  commands=("]
    top = [c for c in commands if c.name and " " not in c.name]
    out += [f"    '{c.name}:{quoted(c.summary)}'" for c in top]
    out += ["  )", "  if (( CURRENT == 2 )); then", "    _describe command commands", "    return", "  fi",
            "  case $words[2] in"]
    for c in top:
        out.append(f"  {c.name})")
        out.append("    _arguments \\")
        for names, takes, choices, explanation in c.options():
            for name in names:
                value = f":value:({' '.join(choices)})" if choices else ":value:_files" if takes else ""
                out.append(f"      '*{name}[{quoted(explanation)}]{value}' \\")
        out.append("      '*:file:_files' ;;")
    return "\n".join(out + ["  esac", "}", '_isoscope "$@"', ""])


def fish(commands):
    out = ["# fish completion of isoscope, made by scripts/make-man.py."]
    for c in commands:
        if not c.name or " " in c.name:
            continue
        summary = c.summary.replace("'", "\\'")
        out.append(f"complete -c isoscope -n __fish_use_subcommand -a {c.name} -d '{summary}'")
        for names, takes, choices, explanation in c.options():
            words = [f"complete -c isoscope -n '__fish_seen_subcommand_from {c.name}'"]
            words += [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in names]
            if takes:
                words.append(f"-x -a '{' '.join(choices)}'" if choices else "-r")
            out.append(" ".join(words) + " -d '" + explanation.replace("\\", "\\\\").replace("'", "\\'") + "'")
    return "\n".join(out) + "\n"


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    folder = pathlib.Path(sys.argv[2])
    date = sys.argv[sys.argv.index("--date") + 1] if "--date" in sys.argv else ""
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    commands = [Command(binary, "", "what weak transaction isolation can do to your data")]
    for title, rows in commands[0].groups:
        if title == "Subcommands":
            commands += [Command(binary, left, explanation) for left, explanation in rows]
    for command in list(commands[1:]):
        for title, rows in command.groups:
            if title == "Subcommands":
                commands += [Command(binary, f"{command.name} {left}", explanation) for left, explanation in rows]
    (folder / "man1").mkdir(parents=True, exist_ok=True)
    (folder / "completions").mkdir(parents=True, exist_ok=True)
    for command in commands:
        name = "isoscope" + ("-" + command.name.replace(" ", "-") if command.name else "")
        (folder / "man1" / f"{name}.1").write_text(man_page(command, version, date, commands))
    (folder / "completions/isoscope.bash").write_text(bash(commands))
    (folder / "completions/_isoscope").write_text(zsh(commands))
    (folder / "completions/isoscope.fish").write_text(fish(commands))


main()
