"""``mqsel completion``: print what a shell reads to complete the commands, their options and their values.

All of it is read from the parsers of the commands.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import NamedTuple

from mqsel.cli.arguments import Commands, command
from mqsel.cli.output import print_exact
from mqsel.language.dialect import PRESETS

_EXAMPLES = """\
mqsel completion bash > ~/.local/share/bash-completion/completions/mqsel
mqsel completion zsh > "${fpath[1]}/_mqsel"
mqsel completion fish > ~/.config/fish/completions/mqsel.fish\
"""
_EXITS = ("Success", "", "An error")


class _Option(NamedTuple):
    """An option of a command.

    Attributes:
        words: how it is written.
        values: that it takes, if they are few and known.
        takes: whether it takes a value.
        text: what it does, in a few words.
    """

    words: tuple[str, ...]
    values: tuple[str, ...]
    takes: bool
    text: str


def add(commands: Commands) -> None:
    """Add the command."""
    text = "print the completion of commands and options for a shell"
    made = command(commands, "completion", lambda arguments: _completion(arguments, commands), text, _EXAMPLES, _EXITS)
    made.add_argument("shell", choices=tuple(_SHELLS), help="your shell: bash, zsh or fish")


def _completion(arguments: argparse.Namespace, commands: Commands) -> int:
    texts = {one.dest: one.help or "" for one in commands._choices_actions}  # noqa: SLF001 (argparse has no other way)
    known = {name: (texts[name], [*_options(one)]) for name, one in commands.choices.items()}
    print_exact(_SHELLS[arguments.shell](known))
    return 0


def _options(parser: argparse.ArgumentParser) -> Iterator[_Option]:
    for action in parser._actions:  # noqa: SLF001 (as above)
        if action.option_strings:
            values = tuple(PRESETS) if "--dialect" in action.option_strings else tuple(map(str, action.choices or ()))
            text = re.split(r"[;:,(]", (action.help or "").replace("%%", "%"))[0].strip()
            yield _Option(tuple(action.option_strings), values, action.nargs != 0, text)


_Known = dict[str, tuple[str, list[_Option]]]


def _bash(known: _Known) -> str:
    cases = []
    for name, (_, options) in known.items():
        taking = [
            f'      {"|".join(one.words)}) COMPREPLY=($(compgen -W "{" ".join(one.values)}" -- "$word")); return ;;'
            for one in options
            if one.values
        ]
        words = " ".join(word for one in options for word in one.words)
        cases += [f"    {name})", '      case "$before" in', *taking, "      esac", f'      options="{words}" ;;']
    return "\n".join(
        [
            "_mqsel() {",
            '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" options=""',
            "  if [ $COMP_CWORD -eq 1 ]; then",
            f'    COMPREPLY=($(compgen -W "{" ".join(known)} --help --version" -- "$word")); return',
            "  fi",
            '  case "${COMP_WORDS[1]}" in',
            *cases,
            "  esac",
            '  [[ $word == -* ]] && COMPREPLY=($(compgen -W "$options" -- "$word"))',
            "}",
            "complete -o default -F _mqsel mqsel",
        ]
    )


def _zsh(known: _Known) -> str:
    def plain(text: str) -> str:
        return re.sub(r"(['\[\]:\\])", lambda sign: "'\\''" if sign[0] == "'" else f"\\{sign[0]}", text)

    lines = ["#compdef mqsel", "_mqsel() {", "  local -a commands=("]
    lines += [f"    '{name}:{plain(text)}'" for name, (text, _) in known.items()]
    lines += ["  )", "  if (( CURRENT == 2 )); then _describe command commands; return; fi", "  case $words[2] in"]
    for name, (_, options) in known.items():
        lines.append(f"    {name}) shift words; (( CURRENT-- )); _arguments \\")
        for one in options:
            value = f":value:({' '.join(one.values)})" if one.values else ":value:_files" * one.takes
            lines += [f"      '{word}[{plain(one.text)}]{value}' \\" for word in one.words]
        lines.append("      '*:file:_files' ;;")
    return "\n".join(
        [*lines, "  esac", "}", 'if [ "$funcstack[1]" = _mqsel ]; then _mqsel "$@"; else compdef _mqsel mqsel; fi']
    )


def _fish(known: _Known) -> str:
    def plain(text: str) -> str:
        return re.sub(r"([\\'])", r"\\\1", text)

    lines = []
    for name, (text, options) in known.items():
        lines.append(f"complete -c mqsel -f -n __fish_use_subcommand -a {name} -d '{plain(text)}'")
        for one in options:
            words = " ".join(f"-l {word[2:]}" if word[:2] == "--" else f"-s {word[1:]}" for word in one.words)
            values = f" -x -a '{' '.join(one.values)}'" if one.values else " -r" * one.takes
            lines.append(
                f"complete -c mqsel -n '__fish_seen_subcommand_from {name}' {words}{values} -d '{plain(one.text)}'"
            )
    return "\n".join(lines)


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
