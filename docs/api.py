"""Writes docs/api.md, the reference of all public names, from their signatures and docstrings: python docs/api.py.

Read by griffe from the source, so that no extra needs to be installed. The test tests/test_api_page.py fails when the
page is not what this would write.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import griffe

import abstain

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "api.md"
QUESTIONS = {
    "What one classifier said": ("outputs", "datasets", "collect", "shifts"),
    "Which score do I trust?": ("scores", "metrics", "evaluation", "evaluation.runs", "evaluation.sensitivity"),
    "Where is the threshold, and what does it guarantee?": ("selector", "thresholds"),
    "How do I ship it?": ("sklearn", "torch", "onnx"),
    "Is it still true?": ("monitor",),
    "What can go wrong": ("errors",),
    "Beyond memory": ("sketch", "scale"),
}
WITHOUT_ALL = {"evaluation.sensitivity": ("ScaleSensitivity", "scale_sensitivity"), "onnx": ("attach",)}
INTRODUCTION = """# Reference

Every public name, with its signature and docstring; the pages that explain how to use them are in
[the README](../README.md#documentation). `scripts/docs` writes this page, and the examples are run as tests, with
NumPy as `np` and the names of their package. Arguments before `/` go by position, those after `*` by name. What a
class has from its bases is described there: a score is a [`Score`](#scoresscore) and, once fitted, a
[`FittedScore`](#scoresfittedscore).
`abstain` itself has {top}.
"""


def page() -> str:
    """The whole page."""
    package = griffe.load("abstain", search_paths=[str(ROOT / "src")])
    lines = [INTRODUCTION.format(top=", ".join(f"`{name}`" for name in abstain.__all__))]
    lines += ["| | |", "|---|---|"]
    for question, modules in QUESTIONS.items():
        links = (f"[`abstain.{name}`](#{_anchor(f'abstain.{name}')})" for name in modules)
        lines.append(f"| {question} | {' · '.join(links)} |")
    for question, modules in QUESTIONS.items():
        lines += ["", f"## {question}"]
        for name in modules:
            lines += _module(package[name], name)
    return "\n".join(lines).rstrip() + "\n"


def _module(module: Any, name: str) -> Iterator[str]:
    public = {key: _found(module, key) for key in WITHOUT_ALL.get(name) or _exports(module)}
    ordered = sorted(public, key=lambda key: (_kind(public[key]), key.lower()))
    yield from ("", f"### abstain.{name}", "", _words(module), "", "| | |", "|---|---|")
    for key in ordered:
        yield f"| [`{key}`](#{_anchor(f'{name}.{key}')}) | {_cell(public[key])} |"
    for key in ordered:
        yield from _member(public[key], f"{name}.{key}")


def _member(found: Any, title: str) -> Iterator[str]:
    yield from ("", f"#### {title}", "", *_fenced(_signature(found, title.rpartition(".")[2])), "", _words(found))
    for name, member in (found.members if found.is_class else {}).items():
        inner = _target(member)
        if name.startswith("_") or inner.docstring is None:
            continue
        typed = _one_line(_signature(inner, name)) if inner.is_function else _typed(inner, name)
        if inner.is_function and any(each.callable_path.endswith(".cached_property") for each in inner.decorators):
            typed = f"{name}: {inner.returns}"
        yield from ("", f"- `.{typed}`", "", indent(_words(inner), "  "))


def _exports(module: Any) -> Iterator[str]:
    """The names in `__all__`, also those of a submodule's `__all__` that is added to it."""
    for each in module.exports:
        yield from [each] if isinstance(each, str) else _exports(module[each.parent.name])


def _found(module: Any, name: str) -> Any:
    """What a public name stands for: imported, of the module itself, or of a file that is imported when asked for."""
    if name in module.imports:
        return _target(module.package[module.imports[name].removeprefix("abstain.")])
    return _target(next(each for each in (module, *_modules(module)) if name in each.members)[name])


def _modules(module: Any) -> Iterator[Any]:
    for each in module.modules.values():
        yield from (each, *_modules(each))


def _target(found: Any) -> Any:
    return found.final_target if found.is_alias else found


def _kind(found: Any) -> int:
    return 0 if found.is_function else 1 if found.is_class else 2


def _signature(found: Any, name: str) -> str:
    """As one would write it: data before the slash, options after the star; nothing for a constant but its name."""
    if found.is_attribute:
        return _typed(found, name)
    shown, last = [], None
    for parameter in (each for each in found.parameters if each.name not in ("self", "cls")):
        kind = parameter.kind.value if parameter.kind else "positional or keyword"
        if last == "positional-only" and kind != last:
            shown.append("/")
        if kind == "keyword-only" and last not in (kind, "variadic positional"):
            shown.append("*")
        star = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        typed = f": {parameter.annotation}" if parameter.annotation else ""
        default = "" if parameter.default is None or star else f" = {parameter.default}"
        shown.append(f"{star}{parameter.name}{typed}{default}")
        last = kind
    shown += ["/"] if last == "positional-only" else []
    returns = f" -> {found.returns}" if found.is_function and found.returns else ""
    flat = f"{name}({', '.join(shown)}){returns}"
    return flat if len(flat) <= 100 else f"{name}(\n" + "".join(f"    {each},\n" for each in shown) + f"){returns}"


def _one_line(signature: str) -> str:
    return re.sub(r",\)", ")", re.sub(r"\(\s+", "(", " ".join(signature.split()).replace(", )", ")")))


def _typed(found: Any, name: str) -> str:
    return f"{name}: {found.annotation}" if found.annotation else name


def _fenced(code: str) -> tuple[str, ...]:
    return ("```python", code, "```")


def _words(found: Any) -> str:
    """The docstring in Markdown: examples fenced, roles of reST as GitHub writes them."""
    text = found.docstring.value if found.docstring else ""
    parts = re.split(r"((?:^>>>.*(?:\n(?!\n).+)*\n?\n?)+)", text, flags=re.MULTILINE)
    return "\n\n".join(
        "\n".join(_fenced(part.strip())) if part.startswith(">>>") else _prose(part.strip())
        for part in parts
        if part.strip()
    )


def _prose(text: str) -> str:
    text = re.sub(r":math:`([^`]*)`", r"$`\1`$", text)
    return re.sub(r"``([^`]*)``", r"`\1`", text)


def _cell(found: Any) -> str:
    first = found.docstring.value.split("\n\n")[0] if found.docstring else ""
    return _prose(" ".join(first.split())).replace(r"\|", r"\Vert ").replace("|", r"\|")


def _anchor(title: str) -> str:
    """GitHub's: lower case, letters, digits, dashes and underscores."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(page())
    print(PAGE.relative_to(ROOT))
