"""Print what makes a shell complete this command: commands, options and their choices, else file names."""

from __future__ import annotations

import argparse

EXAMPLES = """\
examples:
  trueness completion bash > trueness.bash && source trueness.bash
  trueness completion fish
"""

SHELLS = ("bash", "zsh", "fish")

_BASH = """\
_trueness() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="" word
  [ "$COMP_CWORD" -gt 0 ] && before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in {names}) command="$word"; break;; esac
  done
  case "$command:$before" in
{choices}
  esac
  if [ "${{current#-}}" != "$current" ] || [ -z "$command" ]; then
    case "$command" in
{options}
    esac
    return
  fi
  COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _trueness trueness
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.add_argument("shell", choices=SHELLS, help="put the output where this shell looks for completions")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    options = _options()
    if arguments.shell == "fish":
        print(_fish(options))
    else:
        start = "autoload -U +X bashcompinit && bashcompinit\n" if arguments.shell == "zsh" else ""
        print(start + _bash(options), end="")
    return 0


def _options() -> dict[str, dict[str, list[str]]]:
    """For each command its options, and for each option the values it may have (none: anything)."""
    from trueness.cli import COMMANDS, command

    found = {}
    for name in COMMANDS:
        parser = argparse.ArgumentParser(prog=name)
        parser.add_argument("--debug", action="store_true")
        command(name).add_arguments(parser)
        found[name] = {
            option: [str(choice) for choice in action.choices or ()]
            for action in parser._actions  # the one place where argparse tells what it holds
            for option in action.option_strings or ([""] if action.choices else [])
        }
    return found


def _bash(options: dict[str, dict[str, list[str]]]) -> str:
    choices = [
        f'    {name}:{option or name}) COMPREPLY=($(compgen -W "{" ".join(values)}" -- "$current")); return;;'
        for name, of_command in options.items()
        for option, values in of_command.items()
        if values
    ]
    words = {name: " ".join(filter(None, of_command)) for name, of_command in options.items()}
    words[""] = " ".join(["--help", "--version", *options])
    cases = [
        f'      "{name}") COMPREPLY=($(compgen -W "{listed}" -- "$current"));;'
        for name, listed in words.items()
    ]
    return _BASH.format(names="|".join(options), choices="\n".join(choices), options="\n".join(cases))


def _quoted(text: str) -> str:
    r"""Inside of fish's single quotes.

    >>> print(_quoted("a model's"))
    a model\'s
    """
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _fish(options: dict[str, dict[str, list[str]]]) -> str:
    from trueness.cli import COMMANDS

    lines = [
        f"complete -c trueness -n __fish_use_subcommand -a {name} -d '{_quoted(COMMANDS[name])}'"
        for name in options
    ]
    for name, of_command in options.items():
        for option, values in of_command.items():
            spelled = (
                f" -l {option[2:]}" if option.startswith("--") else f" -s {option[1:]}" if option else ""
            )
            listed = f" -x -a '{' '.join(values)}'" if values else ""
            lines.append(f"complete -c trueness -n '__fish_seen_subcommand_from {name}'{spelled}{listed}")
    return "\n".join(lines)
