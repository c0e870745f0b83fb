"""Completion for bash, zsh and fish from the pages that help.py read: verbs, options and the values that help names."""
import json
import re
import subprocess
from collections import namedtuple

from help import items_of

Option = namedtuple("Option", "name values text")  # values: list of words, "file", "directory", "command", "any" or None


def gpu_names(command):
    done = subprocess.run([command, "devices", "--json"], check=True, capture_output=True, text=True)
    return [device["name"] for device in json.loads(done.stdout)["devices"]]


def values_of(name, argument, text, gpus):
    if name == "--device":
        return gpus
    if not argument:
        return None
    if argument in ("FILE", "[FILE]", "OTHER"):
        return "file"
    if argument == "DIR":
        return "directory"
    if argument == "VALUE":
        return re.split(", | or ", text.rsplit(": ", 1)[-1])
    if name == "--format":
        return re.findall(r"\b(?:text|json|csv|html|perfetto|chrome)\b(?!:/)", text)
    return "any"


def options_of(page, gpus):
    options = []
    for item in items_of(page):
        found = re.fullmatch(r"(--?[a-z-]+)(?: (\S+))?", item.term)
        if found:
            name, argument = found.groups()
            options.append(Option(name, values_of(name, argument, item.text, gpus), item.text))
    return options + [Option("--help", None, "explains this")]


# What stands after the options of a verb: files, if not this.
OPERANDS = {"run": "command", "doctor": "command", "path": None, "devices": None, "model": None}


def operand_of(verb):
    return OPERANDS.get(verb, "file")


def key(page):
    return " ".join(page.words)


BASH = """\
# bash completion of warpwatch; made from its --help
_warpwatch()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} words= i
    COMPREPLY=()
    case $COMP_CWORD:$verb in
    1:*) mapfile -t COMPREPLY < <(compgen -W '@VERBS@ help --help --version' -- "$word"); return ;;
    2:help) mapfile -t COMPREPLY < <(compgen -W '@VERBS@' -- "$word"); return ;;
    2:model) mapfile -t COMPREPLY < <(compgen -W '@MODELS@ --help' -- "$word"); return ;;
    *:model) verb="model ${COMP_WORDS[2]}" ;;
    *:run) # after the program that is run: its own completion, where bash-completion is loaded
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            --) i=$((i + 1)) ;;
            -o | --format) i=$((i + 1)); continue ;;
            -*) continue ;;
            esac
            [ $i -lt $COMP_CWORD ] || break
            if declare -F _command_offset >/dev/null; then
                _command_offset $i
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
            fi
            return
        done
        ;;
    esac
    case $verb:$before in
@VALUES@
    esac
    case $verb in
@OPTIONS@
    esac
    case $word:$verb in
    -*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word") ;;
@OPERANDS@
    *) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word") ;;
    esac
}
complete -o filenames -F _warpwatch warpwatch
"""
BASH_KINDS = {"command": "compgen -c", "file": "compgen -f", "directory": "compgen -d", "any": None}


def bash_reply(values):
    generator = f"compgen -W '{' '.join(values)}'" if isinstance(values, list) else BASH_KINDS[values]
    return f'mapfile -t COMPREPLY < <({generator} -- "$word"); ' if generator else ""


def bash(pages, gpus):
    of_verbs = [(key(page), option) for page in pages[1:] for option in options_of(page, gpus)]
    values = [f"    '{verb}':{option.name}) {bash_reply(option.values)}return ;;"
              for verb, option in of_verbs if option.values is not None]
    options = [f"    '{key(page)}') words='{' '.join(option.name for option in options_of(page, gpus))}' ;;"
               for page in pages[1:]]
    verbs = [page.words[0] for page in pages if len(page.words) == 1]
    operands = [f"    *:{verb}) {bash_reply(operand_of(verb))};;" for verb in verbs if operand_of(verb)]
    text = BASH
    for name, lines in (("VALUES", values), ("OPTIONS", options), ("OPERANDS", operands)):
        text = text.replace(f"@{name}@", "\n".join(lines))
    models = [page.words[1] for page in pages if len(page.words) == 2]
    return text.replace("@VERBS@", " ".join(verbs)).replace("@MODELS@", " ".join(models))


def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_option(option):
    action = {"file": ":file:_files", "directory": ":directory:_files -/", "any": ":value: "}.get(
        option.values if isinstance(option.values, str) else "", "")
    if isinstance(option.values, list):
        action = f":value:({' '.join(option.values)})"
    return f"'{option.name}[{zsh_text(option.text)}]{action}'"


ZSH_OPERANDS = {"command": ["'(-)1:program:_command_names -e'", "'*::arguments:_normal'"], "file": ["'*:file:_files'"]}


def zsh_case(page, gpus, indent):
    operand = ZSH_OPERANDS.get(operand_of(page.words[0]), [])
    specs = [zsh_option(option) for option in options_of(page, gpus)] + operand
    return [f"{indent}{page.words[-1]})", f"{indent}    _arguments -S \\"] + \
           [f"{indent}        {spec} \\" for spec in specs[:-1]] + [f"{indent}        {specs[-1]}", f"{indent}    ;;"]


def zsh(pages, gpus):
    describe = lambda pages: [f"'{page.words[-1]}:{zsh_text(page.summary)}'" for page in pages]
    verbs = [page for page in pages if len(page.words) == 1]
    models = [page for page in pages if len(page.words) == 2]
    lines = ["#compdef warpwatch", "# zsh completion of warpwatch; made from its --help",
             "local -a verbs models", f"verbs=({' '.join(describe(verbs))})", f"models=({' '.join(describe(models))})",
             "if ((CURRENT == 2)); then", "    _describe verb verbs", "    return", "fi",
             "shift words", "((CURRENT--))", "case $words[1] in", "help) _describe verb verbs ;;", "model)",
             "    if ((CURRENT == 2)); then", "        _describe model models", "        return", "    fi",
             "    shift words", "    ((CURRENT--))", "    case $words[1] in"]
    for page in models:
        lines += zsh_case(page, gpus, "    ")
    lines += ["    esac", "    ;;"]
    for page in verbs:
        lines += zsh_case(page, gpus, "") if page.words != ["model"] else []
    return "\n".join(lines + ["esac"]) + "\n"


def fish_text(text):
    return text.replace("\\", "\\\\").replace("'", "\\'")


def fish_option(page, option):
    seen = " and ".join(f"__fish_seen_subcommand_from {word}" for word in page.words).replace(" and ", "; and ")
    name = f"-l {option.name[2:]}" if option.name.startswith("--") else f"-s {option.name[1:]}"
    values = {"file": " -r -F", "directory": " -x -a '(__fish_complete_directories)'", "any": " -x"}.get(
        option.values if isinstance(option.values, str) else "", "")
    if isinstance(option.values, list):
        values = f" -x -a '{' '.join(option.values)}'"
    return f"complete -c warpwatch -n '{seen}' {name}{values} -d '{fish_text(option.text)}'"


def fish(pages, gpus):
    lines = ["# fish completion of warpwatch; made from its --help"]
    for page in pages:
        if len(page.words) == 1:
            lines.append(f"complete -c warpwatch -n __fish_use_subcommand -f -a {page.words[0]} -d '{fish_text(page.summary)}'")
        elif page.words:
            lines.append(f"complete -c warpwatch -n '__fish_seen_subcommand_from model' -f -a {page.words[1]} "
                         f"-d '{fish_text(page.summary)}'")
        lines += [fish_option(page, option) for option in options_of(page, gpus)] if page.words else []
    lines.append("complete -c warpwatch -n '__fish_seen_subcommand_from run' -x -a '(__fish_complete_subcommand)'")
    return "\n".join(lines) + "\n"


def write(command, pages, directory):
    gpus = gpu_names(command)
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in (("warpwatch", bash), ("_warpwatch", zsh), ("warpwatch.fish", fish)):
        (directory / name).write_text(text(pages, gpus))
