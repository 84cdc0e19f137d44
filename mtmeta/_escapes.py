"""Names and texts as they are shown: a name is not a command, a link or a formula."""

import re

_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"}
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "'": r"\textquotesingle{}", "`": r"\textasciigrave{}"}
_LATEX |= {'"': r"\symbol{34}"} | {c: f"\\{c}" for c in "&%$#_{}"}  # \textquotedbl is not in every encoding
_LATEX |= {c: f"{{{c}}}" for c in "[]*"}  # after the end of a row these would be its options
_MARKDOWN = str.maketrans({c: f"\\{c}" for c in r"\`*_[]{}<>|&~$#@"})
#: What makes a link of an address that stands without any mark.
_ADDRESS = re.compile(r"(?<=www)\.|\.(?=[^\W\d_])|:(?=//)", re.IGNORECASE)


def visible(text: object) -> str:
    """Return ``text`` on one line, with control characters spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def latex(text: str) -> str:
    """Return ``text`` as LaTeX sets it character by character, without ligatures."""
    return re.sub(r"([-,])(?=\1)", r"\1{}", "".join(_LATEX.get(c, c) for c in text))


def markdown(text: str) -> str:
    """Return ``text`` as Markdown shows it, with addresses that are not links."""
    return _ADDRESS.sub(r"\\\g<0>", text.translate(_MARKDOWN))


def file_name(name: str) -> str:
    """Return ``name`` with what a file may not be called replaced by hyphens."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name).lstrip(".") or "scores"
