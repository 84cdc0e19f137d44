"""For a class, from the finished pages: the book on one page, chapters without solutions, slides, quizzes for Moodle.

The pages are read as the site has them, so numbers of figures, outputs and quizzes cannot go out of date. Written are
``handouts/CHAPTER.html``; for each session of the syllabi, whose tables of minutes it reads, ``slides/SESSION.html``;
and ``gift/QUIZ.txt``, in the format that Moodle imports. `make pdf` runs this file, which adds ``handouts/book.html``.
"""

from __future__ import annotations

import copy
import posixpath
import re
from functools import cache
from html import escape
from itertools import islice, takewhile
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

SYLLABI = "book/teaching/syllabi"
VOTES = "notebooks/teaching/predictions"
#: What paper and slides do without.
FURNITURE = {"headerlink", "outputs-note"}
REFERENCES = ("for", "aria-labelledby", "aria-describedby")

PAGE = """<!DOCTYPE html>
<html lang="en" data-content_root="../" data-theme="light">
<head><meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="robots" content="noindex" /><title>{title}</title>
{head}</head>
<body class="{kind}">{body}</body>
</html>
"""


def slug(text: str) -> str:
    """Return a text in small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def drop(whole: Tag, classes: set[str], name: str = "") -> None:
    """Take the elements of these classes, or of this name, out."""
    for tag in whole.find_all(lambda tag: tag.name == name or not classes.isdisjoint(tag.get("class", ()))):
        tag.extract()


class Site:
    """The finished pages of a site."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.read = cache(self.read)

    def read(self, page: str) -> BeautifulSoup:
        """Return a page without what only a screen needs; its addresses fit a folder beside the page's own."""
        whole = BeautifulSoup((self.folder / f"{page}.html").read_text("utf-8"), "html.parser")
        article = whole.select_one("article.bd-article")
        drop(article, FURNITURE)
        for tag in article.find_all(True):
            for key in {"href", "src"} & tag.attrs.keys():
                parts = urlsplit(tag[key])
                if not parts.scheme:
                    path = posixpath.join(posixpath.dirname(page), parts.path) if parts.path else f"{page}.html"
                    tag[key] = f"../{posixpath.normpath(path)}" + f"#{parts.fragment}" * bool(parts.fragment)
        return whole

    def article(self, page: str) -> Tag:
        """Return what a page holds."""
        return self.read(page).select_one("article.bd-article")

    def write(self, name: str, title: str, body: str, kind: str, extra: str = "") -> None:
        """Write a page in a folder of its own, with the styles and the formulas of a chapter."""
        head = self.read(VOTES).head.select("link[rel=stylesheet], script")
        kept = [str(tag) for tag in head if tag.name == "link" or "mathjax" in str(tag).lower()]
        kept = re.sub(r'"(?:\.\./)+_static', '"../_static', "\n".join(kept))
        path = self.folder / f"{name}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_text(PAGE.format(title=escape(title), head=kept + extra, body=body, kind=kind), encoding="utf-8")


# -- paper ---------------------------------------------------------------------------------


def within(article: Tag, page: str, pages: set[str]) -> Tag:
    """Make the links between pages lead to where these stand on the one page; ids are told apart by their page."""
    for tag in article.find_all(True):
        for key in {"id", *REFERENCES} & tag.attrs.keys():
            tag[key] = f"{slug(page)}--{tag[key]}"
        target, _, fragment = tag.get("href", "").removeprefix("../").partition("#")
        if (name := target.removesuffix(".html")) in pages:
            tag["href"] = f"#{slug(name)}" + f"--{fragment}" * bool(fragment)
    drop(article, {"quiz-check"})
    article["id"] = slug(page)
    return article


def write_book(folder: Path, source: Path) -> None:
    """Write the whole book on one page, with its contents."""
    site, pages = Site(folder), {page for _, chapters in parts(source) for page in chapters}
    title = site.read(SYLLABI).title.get_text().rpartition(" — ")[2]
    contents, body = [], []
    for caption, chapters in parts(source):
        items = "".join(
            f'<li><a href="#{slug(p)}">{escape(site.article(p).h1.get_text().strip())}</a></li>' for p in chapters
        )
        contents.append(f"<h3>{escape(caption)}</h3><ul>{items}</ul>" if caption else "")
        body += [str(within(site.article(page), page, pages)) for page in chapters]
    front = f'<article class="bd-article contents"><p class="title">{escape(title)}</p><h2>Contents</h2>'
    site.write("handouts/book", title, f"{front}{''.join(contents)}</article>{''.join(body)}", "paper")


def write_handout(site: Site, page: str) -> None:
    """Write a chapter, or the questions to vote on, without solutions and without what is folded."""
    article = copy.copy(site.article(page))
    drop(article, {"solution", "dropdown"}, "details")
    site.write(f"handouts/{page.rpartition('/')[2]}", article.h1.get_text().strip(), str(article), "paper handout")


# -- slides --------------------------------------------------------------------------------


def sessions(article: Tag) -> list[tuple[str, Tag]]:
    """Return the name of each session of the syllabi, and its table of minutes."""
    found = []
    for table in article.select("table"):
        if not table.th or table.th.get_text().strip() != "minute":
            continue
        levels = [s for s in table.find_parents("section") if s.find(["h2", "h3"], recursive=False)]
        words = [s.find(["h2", "h3"]).get_text().strip() for s in reversed(levels)]
        before = table.parent.find_previous_sibling()
        if before is not None and (session := re.match(r"Session \d", before.get_text())):
            words.append(session[0].lower())
        found.append((", ".join(words), table))
    return found


def slide(head: str, content: str, minutes: str, notes: str = "") -> str:
    """Return one slide; the notes are for the speaker."""
    return (
        f'<section class="slide" data-minutes="{escape(minutes)}"><h2>{escape(head)}</h2>'
        f'<div class="content">{content}</div>'
        f'<aside class="notes"><b>Minutes {escape(minutes)}.</b> {notes}</aside></section>\n'
    )


def prose(siblings, kinds: tuple[str, ...] = ("p", "ul")) -> str:
    """Return the first three siblings as long as they are of these kinds: prose up to a heading, a figure or code."""
    taken = takewhile(lambda tag: tag.name in kinds or "math" in tag.get("class", ()), islice(siblings, 3))
    return "".join(map(str, taken))


def remarks(thing: Tag) -> str:
    """Return what the book remarks on a thing right after it."""
    while thing.parent.name != "section":
        thing = thing.parent
    return prose(thing.find_next_siblings())


def of_section(section: Tag) -> list[tuple[str, str]]:
    """Return what of a section can be shown, with notes: how it begins, definitions, figures, tables, exercises."""
    section = copy.copy(section)
    drop(section, {"solution"}, "details")
    start = prose(section.find(re.compile("^h[1-3]$")).find_next_siblings())
    shown = [(start, "")] if start else []
    for thing in section.select(".proof, .exercise, figure, table"):
        inside = thing.find_parent(["figure", "table"]) or thing.find_parent(class_=["proof", "exercise"])
        if not inside and (thing.name != "table" or len(thing.select("tr")) < 14):
            shown.append((str(thing), remarks(thing)))
    return shown


def vote(section: Tag) -> tuple[str, str, str, str]:
    """Return of a question to vote on: the question, its options, the table of values, and the reasoning."""
    question = next(p for p in section.find_all("p") if p.get_text().startswith("Question"))
    table = next(t for t in section.select("table") if "right" in [h.get_text().strip() for h in t.select("th")])
    for row in table.select("tbody tr"):
        if row.select("td")[-1].get_text().strip():
            row["data-right"] = ""
    reasons = "".join(str(tag) for tag in section.select(".dropdown p:not(.admonition-title), .dropdown li"))
    return str(question), str(question.find_next_sibling("ul")), str(table), reasons


ROUND = "Read aloud, everybody writes a letter down, neighbours talk, vote again; then the next slide."


def of_link(site: Site, link: Tag, minutes: str, what: str) -> str:
    """Return the slides of one entry in the last column of a table of minutes."""
    page, _, anchor = link["href"].removeprefix("../").partition(".html#")
    section = site.article(page).find(id=anchor) if anchor else None
    if section is None or section.name not in ("section", "figure"):
        return ""
    if section.name == "figure":
        return slide(what, str(section), minutes, remarks(section))
    head = section.find(re.compile("^h[1-3]$")).get_text().strip()
    if page == VOTES:
        question, options, table, reasons = vote(section)
        answer = slide(f"{head}: the answer", options + table, minutes, reasons)
        return slide(head, question + options, minutes, ROUND) + answer
    return "".join(slide(head, content, minutes, f"{what} {notes}") for content, notes in of_section(section))


def write_deck(site: Site, name: str, table: Tag) -> None:
    """Write the slides of one session: for each row of its table what is to be shown, in the order of the minutes."""
    aim = next((p for p in table.find_all_previous("p") if p.get_text().startswith("Aim.")), "")
    slides = [f'<section class="slide first"><h1>{escape(name)}</h1><div class="content">{aim}</div></section>\n']
    for row in table.select("tbody tr"):
        minutes, what, shown = (cell.get_text().strip() for cell in row.select("td"))
        made = "".join(of_link(site, link, minutes, what) for link in row.select("td")[2].select("a[href]"))
        slides.append(made or slide(what, f"<p>{escape(shown)}</p>", minutes))
    assets = '<link rel="stylesheet" href="../_static/slides.css" /><script defer src="../_static/slides.js"></script>'
    site.write(f"slides/{slug(name)}", name, "".join(slides), "deck", assets)


# -- Moodle --------------------------------------------------------------------------------


def gift(html: str) -> str:
    """Return HTML as GIFT takes it: on one line, without attributes, its own signs escaped."""
    plain = re.sub(r"<(/?\w+)[^>]*>", lambda tag: "" if tag[1].strip("/") in ("a", "span") else f"<{tag[1]}>", html)
    return re.sub(r"([~=#{}:])", r"\\\1", " ".join(plain.split()))


def gift_question(name: str, text: str, options: list[tuple[bool, str, str]]) -> str:
    """Return a question in GIFT; options are (is right, text, explanation)."""
    right = sum(is_right for is_right, *_ in options)
    share = {True: f"~%{100 / max(right, 1):.5g}%", False: f"~%-{100 / max(len(options) - right, 1):.5g}%"}
    mark = share if right > 1 else {True: "=", False: "~"}
    lines = [f"{mark[is_right]}{gift(option)}#{gift(why)}" for is_right, option, why in options]
    return "\n".join([f"::{name}::[html]{gift(text)} {{", *lines, "}\n"])


def of_quiz(article: Tag) -> list[str]:
    """Return the questions of a quiz page in GIFT."""
    found = []
    for box in article.select(".quiz-question"):
        asked = box.legend.decode_contents().partition('<span class="quiz-how-many"')[0]
        given = "".join(
            map(str, box.fieldset.legend.find_next_siblings(lambda t: "quiz-option" not in t.get("class", [])))
        )
        said = [label.decode_contents().partition("</b>")[2] for label in box.select("label")]
        why = box.select(".quiz-answer")
        options = [
            (answer["data-verdict"] == "right", text, "".join(map(str, answer.find_all(recursive=False)[1:])))
            for text, answer in zip(said, why, strict=True)
        ]
        found.append(gift_question(box["id"], f"<p>{asked}</p>{''.join(map(str, given))}", options))
    return found


def of_votes(article: Tag) -> list[str]:
    """Return the questions to vote on in GIFT; the explanation is the reasoning behind an option, and its value."""
    found = []
    for section in article.select("section section"):
        if any(p.get_text().startswith("Question") for p in section.find_all("p")):
            question, options, table, _ = vote(section)
            texts = [re.sub(r"^\s*<p><strong>.\.</strong>|</p>\s*$", "", li.decode_contents())
                     for li in BeautifulSoup(options, "html.parser").select("li")]  # fmt: skip
            rows = [[cell.get_text().strip() for cell in row.select("td")]
                    for row in BeautifulSoup(table, "html.parser").select("tbody tr")]  # fmt: skip
            rated = [(right == "*", text, f"{escape(reason)}: {value}")
                     for text, (reason, value, right) in zip(texts, rows, strict=True)]  # fmt: skip
            found.append(gift_question(section["id"], question, rated))
    return found


def write(app, exception) -> None:
    """Write everything, where the site has the pages on teaching."""
    folder = Path(app.outdir)
    if exception or app.builder.name != "html" or not (folder / f"{SYLLABI}.html").exists():
        return
    site, pages = Site(folder), [page for _, chapters in parts(Path(app.srcdir)) for page in chapters]
    for page in pages:
        if re.match(r"notebooks/\d\d_", page) or page == VOTES:
            write_handout(site, page)
    for name, table in sessions(site.article(SYLLABI)):
        write_deck(site, name, table)
    (folder / "gift").mkdir(exist_ok=True)
    for page in [page for page in pages if page.startswith("book/quiz/") or page == VOTES]:
        questions = (of_votes if page == VOTES else of_quiz)(site.article(page))
        (folder / "gift" / f"{page.rpartition('/')[2]}.txt").write_text("\n".join(questions), encoding="utf-8")


def parts(source: Path) -> list[tuple[str, list[str]]]:
    """Return the captions of the book's parts with their pages, in the order of the contents."""
    toc = yaml.safe_load((source / "_toc.yml").read_text("utf-8"))
    return [("", [toc["root"]]), *((part["caption"], list(files(part["chapters"]))) for part in toc["parts"])]


def files(chapters: list[dict]):
    """Yield the pages of a part, each before those below it."""
    for chapter in chapters:
        yield chapter["file"]
        yield from files(chapter.get("sections", []))


def setup(app) -> dict:
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    write_book(Path("_build/html"), Path())
