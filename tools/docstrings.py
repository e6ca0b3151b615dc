"""Turns signatures and docstrings into Markdown, for the generated pages of docs/reference."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Iterator
from enum import Enum
from types import ModuleType

import msgspec

from webtable import Scan
from webtable.result_base import Value

__all__ = ["alias", "members", "sections", "short_signature", "value"]

_WIDTH = 96
_HEADS = ("Args:", "Attributes:", "Raises:", "Returns:")
# Methods by which the code that fills a report does so.
_OWN = ("add", "log", "took")
# Calls that take the fields of a request as keywords.
_KEYWORDS: dict[str, type[msgspec.Struct]] = {"ScanOptions": Scan}


def sections(doc: str) -> str:
    """Returns a docstring with its sections as lists."""
    lines: list[str] = []
    is_section = False
    for line in doc.splitlines():
        if line in _HEADS:
            lines += [f"*{line[:-1]}*", ""]
            is_section = True
        elif is_section and line.startswith("    ") and not line.startswith("     "):
            name, _, rest = line.strip().partition(": ")
            lines.append(f"- `{name}`: {rest}")
        else:
            lines.append(line[2:] if is_section and line.startswith("     ") else line)
    return "\n".join(lines)


def short_signature(name: str, method: Callable[..., object]) -> str:
    """Returns a call as its caller sees it, on one line."""
    signature = str(inspect.signature(method)).replace("(self, ", "(").replace("(self)", "()")
    return name + signature.replace("'", "")


def members(kind: type, shown: str) -> Iterator[str]:
    """Yields what a class offers: its properties, then a part of the page for each method.

    Args:
        shown: what an object of the class is called in examples, such as `web.links`.
    """
    found = [(name, each) for name, each in vars(kind).items() if not name.startswith("_")]
    properties = [(name, each) for name, each in found if isinstance(each, property)]
    if properties:
        lines = [f"- `{shown}.{name}`: {_text(each)}" for name, each in properties]
        yield "*Properties*\n\n" + "\n".join(lines)
    called = vars(kind).get("__call__")
    if inspect.isfunction(called):
        yield _method(shown, shown, called)
    for name, each in found:
        if isinstance(each, classmethod):
            title = f"{kind.__name__}.{name}"
            yield _method(title, title, each.__func__).replace("-> Self", f"-> {kind.__name__}")
        elif inspect.isfunction(each):
            yield _method(f"{kind.__name__}.{name}", f"{shown}.{name}", each)


def _method(title: str, call: str, method: Callable[..., object]) -> str:
    doc = sections(inspect.getdoc(method) or "")
    return f"### {title}\n\n```text\n{signature(call, method)}\n```\n\n{doc}"


def signature(call: str, method: Callable[..., object]) -> str:
    """Returns a call with its arguments; one to a line where they do not fit on one."""
    given = inspect.signature(method)
    parameters = list(given.parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    words: list[str] = []
    is_keyword = False
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            is_keyword = True
        elif parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD) and not is_keyword:
            words.append("*")
            is_keyword = True
        words += _parameter(parameter)
    returned = _type(given.return_annotation)
    end = "" if returned == "None" else f" -> {returned}"
    line = f"{call}({', '.join(words)}){end}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([f"{call}(", *(f"    {word}," for word in words), f"){end}"])


def _parameter(parameter: inspect.Parameter) -> list[str]:
    kind = _type(parameter.annotation)
    if parameter.kind is parameter.VAR_KEYWORD and (found := re.match(r"Unpack\[(\w+)\]", kind)):
        request = _KEYWORDS[found[1]]
        types = request.__annotations__
        return [
            f"{field.name}: {_type(types[field.name])} = {_default(field.default)}"
            for field in msgspec.structs.fields(request)
        ]
    star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    text = f"{star}{parameter.name}: {kind}"
    return [
        text if parameter.default is parameter.empty else f"{text} = {_default(parameter.default)}"
    ]


def _default(given: object) -> str:
    if isinstance(given, Enum):
        return str(given)
    return repr(given).replace("'", '"')


def _type(annotation: object) -> str:
    annotation = getattr(annotation, "__forward_arg__", annotation)
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return str(text or annotation).replace("os.PathLike[str]", "PathLike")


def _text(each: object) -> str:
    return " ".join((inspect.getdoc(each) or "").split())


def value(kind: type) -> str:
    """Returns a part of the page about a type of results: its fields, then its methods."""
    doc = inspect.getdoc(kind) or ""
    before, _, rest = doc.partition("Attributes:\n")
    listed, _, after = rest.partition("\n\n")
    meanings = {**_attributes(listed), **_below_fields(kind)}
    parts = [f"### {kind.__name__}", before.rstrip()]
    if after.strip():
        parts.append(sections(after.rstrip()))
    rows = [
        f"| `{name}` | {_field(kind, name, each)} | {meanings.get(name, '')} |"
        for name, each in kind.__annotations__.items()
        if not name.startswith("_")
    ]
    if rows:
        parts.append("\n".join(["| field | type | meaning |", "|---|---|---|", *rows]))
    for name, each in vars(kind).items():
        if name.startswith("_") or name in _OWN:
            continue
        if isinstance(each, property):
            parts.append(f"- `.{name}`: {_text(each)}")
        elif inspect.isfunction(each):
            parts.append(f"```text\n{signature(name, each)}\n```\n\n{sections(_doc(each))}")
    return "\n\n".join(parts)


def _field(kind: type, name: str, annotation: object) -> str:
    """Returns the type of a field, with the default of what a program makes itself."""
    text = _type(annotation)
    if issubclass(kind, msgspec.Struct) and not issubclass(kind, Value):
        given = {field.name: field.default for field in msgspec.structs.fields(kind)}[name]
        text += "" if given is msgspec.NODEFAULT else f" = {_default(given)}"
    return f"`{text}`".replace("|", chr(92) + "|")


def _doc(each: object) -> str:
    return inspect.getdoc(each) or ""


def _attributes(listed: str) -> dict[str, str]:
    """Returns what the section `Attributes:` of a docstring says about each name."""
    meanings: dict[str, str] = {}
    for item in re.split(r"\n(?=    \S)", listed):
        names, colon, text = item.strip().partition(": ")
        if colon:
            meanings.update(dict.fromkeys(names.split(", "), " ".join(text.split())))
    return meanings


def _below_fields(kind: type) -> dict[str, str]:
    """Returns the texts that stand below the fields of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)
    return _texts_below(body.body)


def alias(module: ModuleType, name: str) -> str:
    """Returns the line about a name for a type: what it stands for, and the text below it."""
    meaning = _texts_below(ast.parse(inspect.getsource(module)).body)[name]
    shown = str(getattr(module, name)).replace("typing.", "").replace("datetime.", "")
    shown = re.sub(r"<class '(\w+)'>", r"\1", shown).replace("collections.abc.", "")
    return f"- `{name}` = `{shown}`: {meaning}"


def _texts_below(body: list[ast.stmt]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for statement, below in itertools.pairwise(body):
        if isinstance(statement, ast.AnnAssign):
            target: ast.expr = statement.target
        elif isinstance(statement, ast.Assign):
            target = statement.targets[0]
        else:
            continue
        if (
            isinstance(target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            texts[target.id] = " ".join(str(below.value.value).split())
    return texts
