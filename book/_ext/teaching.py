"""For a class, from the finished pages: the book on one page, chapters without solutions, slides, quizzes for Moodle.

The pages are read as the site has them, so numbers of figures, outputs and quizzes cannot go out of date. Written are
``handouts/CHAPTER.html``; for each session of the syllabi, whose tables of minutes it reads, ``slides/SESSION.html``;
and ``gift/PAGE.txt``, a file for each quiz and each chapter, in the format that Moodle imports. `make pdf` runs this
file, which adds ``handouts/book.html``.

The page of notes for the lecturer has an entry for each section, exercise and activity of the syllabi that needs one.
Its first paragraph begins with *For* and links them; its parts begin with one of `PARTS`. What is *on the board* takes
the place of the section on slides and in the handout, and the *answer* is on the next slide.
"""

from __future__ import annotations

import copy
import posixpath
import re
from collections.abc import Iterable
from functools import cache, cached_property
from html import escape
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

Slide = tuple[str, str, str]
SYLLABI = "book/teaching/syllabi"
VOTES = "notebooks/teaching/predictions"
NOTES = "book/teaching/notes"
#: How the parts of an entry in the notes begin.
PARTS = ("On the board.", "Answer.", "Expect.", "On paper.")
CLOSING = "what-to-take-away"
ANSWER = ": the answer"
#: What paper and slides do without.
FURNITURE = {"headerlink", "outputs-note", "for-a-class"}
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


def without(html: str, words: Iterable[str]) -> str:
    """Return HTML without the paragraphs, items and tables that have one of the words."""
    if not (words := [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in words]):
        return html
    whole = BeautifulSoup(html, "html.parser")
    for tag in whole.select("p:not(.admonition-title), li, table"):
        if any(word.search(tag.get_text()) for word in words):
            tag.extract()
    return str(whole)


def once(html: str) -> str:
    """Return HTML in which each id stands once: where a figure is shown again it has none."""
    seen = set()

    def kept(match: re.Match) -> str:
        again = match[2] in seen
        seen.add(match[2])
        return match[1] if again else match[0]

    return re.sub(r'(<\w[^>]*?) id="([^"]+)"', kept, html)


class Site:
    """The finished pages of a site."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.read = cache(self.read)
        #: The decks with something of a page: their names and files.
        self.decks: dict[str, list[tuple[str, str]]] = {}

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

    @cached_property
    def notes(self) -> dict[str, dict[str, str]]:
        """Return the entries of the notes for the lecturer by what they are for: their parts, by how these begin."""
        found = {}
        for section in self.article(NOTES).select("section:has(> h3)"):
            start = section.find("p")
            keys = [a["href"].removeprefix("../") for a in start.select("a")] if start.get_text()[:3] == "For" else []
            keys.append(f"{NOTES}.html#{section['id']}")
            parts, name = {}, ""
            for tag in start.find_next_siblings() if len(keys) > 1 else section.h3.find_next_siblings():
                label = tag.find("strong")
                if tag.name == "p" and label is not None and label.get_text() in PARTS:
                    name = label.extract().get_text()
                parts[name] = parts.get(name, "") + str(tag)
            found |= dict.fromkeys(keys, parts)
        return found

    def giveaways(self, target: str) -> list[str]:
        """Return the words that give the answer to an exercise away, as its entry in the notes lists them."""
        paper = self.notes.get(target, {}).get("On paper.", "")
        return [code.get_text() for code in BeautifulSoup(paper, "html.parser").select("code")]

    def write(self, name: str, title: str, body: str, kind: str, extra: str = "") -> None:
        """Write a page in a folder of its own, with the styles and the formulas of a chapter."""
        head = self.read(VOTES).head.select("link[rel=stylesheet], script")
        kept = [str(tag) for tag in head if tag.name == "link" or "mathjax" in str(tag).lower()]
        kept = re.sub(r'"(?:\.\./)+_static', '"../_static', "\n".join(kept))
        path = self.folder / f"{name}.html"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            PAGE.format(title=escape(title), head=kept + extra, body=once(body), kind=kind), encoding="utf-8"
        )


BLANK = (
    "<p>Write the sentence of the beginning as it should read, and the numbers that it needs:</p>" + "<p><br/></p>" * 6
)


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
    """Write a chapter, or the questions to vote on, without solutions, without what is folded, and without answers.

    A problem that the notes put on the board stands as it is there, and what gives an exercise away is left out.
    """
    article = copy.copy(site.article(page))
    drop(article, {"solution", "dropdown"}, "details")
    words = {word for tag in article.select(".exercise") for word in site.giveaways(f"{page}.html#{tag['id']}")}
    for section in article.select("section[id]"):
        entry = site.notes.get(f"{page}.html#{section['id']}", {})
        given = BLANK if section["id"] == CLOSING else entry.get("On the board.") if page != NOTES else None
        if given:
            for tag in section.find(re.compile("^h")).find_next_siblings():
                if tag.name != "section":
                    tag.extract()
            section.find(re.compile("^h")).insert_after(BeautifulSoup(given, "html.parser"))
    title = article.h1.get_text().strip()
    site.write(f"handouts/{page.rpartition('/')[2]}", title, without(str(article), words), "paper handout")


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
    """Return what the book says right before a thing and right after it, for whoever shows it."""
    while thing.parent.name != "section":
        thing = thing.parent
    before = next((tag for tag in thing.find_previous_siblings() if tag.name not in CODE), None)
    after = prose(dropwhile(lambda tag: tag.name in CODE, thing.find_next_siblings()))
    asked = f"<p><b>Before it is shown:</b></p>{before}" if before is not None and before.name == "p" else ""
    return asked + (f"<p><b>After it:</b></p>{after}" if after else "")


def of_section(section: Tag, whole: bool) -> list[Slide]:
    """Return what of a section, without those in it, can be shown: definitions, figures; if whole, begin and tables."""
    head, section = title_of(section), copy.copy(section)
    drop(section, {"solution"}, "details")
    for inner in section.select("section:has(> h3, > h4)"):
        inner.extract()
    start = prose(section.find(re.compile("^h[1-4]$")).find_next_siblings()) if whole else ""
    shown = [(head, start, "")] if start else []
    for thing in section.select(".proof, figure, table" if whole else ".proof, figure"):
        if not thing.find_parent(["figure", "table"]) and (thing.name != "table" or len(thing.select("tr")) < 14):
            shown.append((head, str(thing), remarks(thing)))
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


#: What may stand between a thing and what the book says about it: cells, and where links lead.
CODE = ("div", "span")
ROUND = (
    "Read it aloud. Everybody decides alone and writes a letter down (1 minute); count the hands. Neighbours who "
    "disagree convince each other (2 minutes). Count again, then the next slide. Which reasoning is behind each option:"
)
ANSWERED = (
    "Ask for the reasoning of a wrong answer as if it were right, then compare what it gives with what is shown here."
)
GUESS = (
    "Let somebody read it aloud, and collect guesses before the next slide. Its notes have what the book says about it."
)
PAIRS = "<p>In pairs: first a guess in one sentence, then pencil or laptop, then the check. What the book answers:</p>"
SENTENCE = "Two minutes: everybody corrects the sentence. Two read theirs out; then the next slide."
CORRECTED = "Compare it with the sentences that were read out: which number, limit or baseline did they lack?"


def replies(expect: str) -> str:
    """Return the wrong answers of an entry and the replies to them."""
    return "".join(map(str, BeautifulSoup(expect, "html.parser").select("ul")))


def title_of(section: Tag) -> str:
    """Return the heading of a section."""
    return section.find(re.compile("^h[1-4]$")).get_text().strip()


def bare(tag: Tag) -> str:
    """Return a solution without its code and without what the check says."""
    tag = copy.copy(tag)
    drop(tag, {"cell_input", "admonition-title"}, "details")
    for output in tag.select(".cell_output"):
        if re.search(r"ex-[\w-]+: ", output.get_text()):
            output.extract()
    return tag.decode_contents()


def of_vote(section: Tag) -> list[Slide]:
    """Return a question to vote on, then its answer."""
    question, options, table, reasons = vote(section)
    head = title_of(section)
    return [(head, question + options, ROUND + reasons), (head + ANSWER, options + table, ANSWERED + reasons)]


def of_exercise(exercise: Tag, entry: dict[str, str]) -> list[Slide]:
    """Return an exercise, then its answer: that of the notes, and that of the chapter."""
    head, shown = exercise.p.get_text().strip(), copy.copy(exercise)
    shown.p.extract()
    solution = entry.get("Answer.", "") + bare(exercise.find_next_sibling(class_="solution"))
    expect = entry.get("Expect.") or PAIRS + solution
    return [(head, str(shown), expect), (head + ANSWER, solution, replies(entry.get("Expect.", "")) or ANSWERED)]


def of_closing(section: Tag) -> list[Slide]:
    """Return the sentence to check, where a chapter has one, then what it should be and what else remains."""
    head, asked = title_of(section), section.find_previous("blockquote")
    after = prose(section.find(re.compile("^h")).find_next_siblings(), ("p", "ul", "blockquote"))
    first = [(f"{head}: correct this sentence", str(asked), SENTENCE)] if asked is not None else []
    return [*first, (head, after, CORRECTED if first else "Which of these would you not have believed an hour ago?")]


def of_link(site: Site, link: Tag, what: str) -> list[Slide]:
    """Return the slides of one entry in the last column of a table of minutes: head, content, notes."""
    page, _, anchor = link["href"].removeprefix("../").partition(".html#")
    target = site.article(page).find(id=anchor) if anchor else None
    if target is None:
        return []
    entry = site.notes.get(f"{page}.html#{anchor}", {})
    expect = entry.get("Expect.", "")
    if target.name == "figure":
        return [(what, str(target), remarks(target))]
    if "exercise" in target.get("class", ()):
        return of_exercise(target, entry)
    if page == VOTES:
        return of_vote(target)
    if anchor == CLOSING:
        return of_closing(target)
    shown = []
    if "On the board." in entry:
        shown.append((title_of(target), entry["On the board."], expect))
        if "Answer." in entry:
            shown.append((title_of(target) + ANSWER, entry["Answer."], replies(expect)))
    if page != NOTES:
        shown += of_section(target, not shown)
        head, content, notes = shown[0]
        shown[0] = head, content, notes if notes == expect else expect + notes
        shown = [(head, content, notes or replies(expect) or GUESS) for head, content, notes in shown]
    return shown


def spread(minutes: str, slides: list[Slide]) -> str:
    """Return the slides of a row, with its minutes shared out; what the next slide answers gets twice as many."""
    start, end = map(int, minutes.split("-"))
    heads = [head for head, *_ in slides]
    parts = [1 + (after == head + ANSWER) for head, after in zip(heads, [*heads[1:], ""], strict=True)]
    times = [start + round((end - start) * sum(parts[:k]) / sum(parts)) for k in range(len(slides) + 1)]
    spans = zip(times, times[1:], strict=False)
    return "".join(
        slide(head, content, f"{a}-{b}", notes) for (a, b), (head, content, notes) in zip(spans, slides, strict=True)
    )


def write_deck(site: Site, name: str, table: Tag, file: str = "") -> None:
    """Write the slides of one session: for each row of its table what is to be shown, in the order of the minutes.

    What gives an exercise away is left out before its answer has been shown.
    """
    aim = next((s for s in table.find_all_previous("strong") if s.get_text() == "Aim."), None)
    aim = "" if aim is None else f"<p>{aim}{''.join(map(str, aim.next_siblings))}</p>"
    plan = "".join(f"<li>{row.select('td')[0].get_text()}: {row.select('td')[1].get_text()}</li>" for row in
                   table.select("tbody tr"))  # fmt: skip
    rows = [(*(cell.get_text().strip() for cell in row.select("td")[:2]), row.select("td")[2].select("a[href]"))
            for row in table.select("tbody tr")]  # fmt: skip
    waiting = [link["href"].removeprefix("../") for *_, links in rows for link in links]
    file = file or slug(name)
    for page in {link.partition(".html")[0] for link in waiting}:
        site.decks.setdefault(page, []).append((name, f"slides/{file}.html"))
    slides = [f'<section class="slide first"><h1>{escape(name)}</h1><div class="content">{aim}</div>'
              f'<aside class="notes"><b>The plan.</b> <ul>{plan}</ul></aside></section>\n']  # fmt: skip
    for minutes, what, links in rows:
        shown = []
        for link in links:
            waiting.remove(link["href"].removeprefix("../"))
            made = of_link(site, link, what)
            words = {word for target in waiting for word in site.giveaways(target)}
            shown += [(head, without(content, words), notes) for head, content, notes in made]
        slides.append(spread(minutes, shown or [(what, "", "")]))
    assets = '<link rel="stylesheet" href="../_static/slides.css" /><script defer src="../_static/slides.js"></script>'
    site.write(f"slides/{file}", name, "".join(slides), "deck", assets)


def plan_of(site: Site, page: str) -> Tag:
    """Return a plan of 90 minutes for a chapter alone: its aim, and a table of minutes as those of the syllabi."""
    article, votes = site.article(page), site.article(VOTES)
    asked = next(a.find_parent("section") for a in votes.select(f"a[href='../{page}.html']"))
    minutes = int(re.search(r"Question \((\d+) minutes\)", asked.get_text())[1])
    told = [tag for tag in article.select("section:has(> h2, > h3):not(#exercises, #references, #what-you-will-learn)")
            if (tag["id"] != CLOSING and of_section(tag, False))
            or "On the board." in site.notes.get(f"{page}.html#{tag['id']}", {})]  # fmt: skip
    tried = [tag for tag in article.select(".exercise") if not re.search(r"-(own|name)$", tag["id"])]
    rest = 90 - minutes - 12 * len(tried) - 6
    rows = [(minutes, "Vote.", f"../{VOTES}.html#{asked['id']}")]
    ends = [round(rest * k / len(told)) for k in range(len(told) + 1)]
    rows += [
        (b - a, title_of(tag), f"../{page}.html#{tag['id']}") for a, b, tag in zip(ends, ends[1:], told, strict=False)
    ]
    rows += [(12, tag.p.get_text().strip(), f"../{page}.html#{tag['id']}") for tag in tried]
    rows += [(6, "The sentence of the beginning, corrected.", f"../{page}.html#{CLOSING}")]
    starts = [sum(row[0] for row in rows[:k]) for k in range(len(rows) + 1)]
    body = "".join(
        f'<tr><td>{a}-{b}</td><td>{escape(what)}</td><td><a href="{link}">{escape(what)}</a></td></tr>'
        for a, b, (_, what, link) in zip(starts, starts[1:], rows, strict=False)
    )
    learnt = [li.get_text().strip().rstrip(";.,") for li in article.select("#what-you-will-learn li")]
    aim = f"After it, everybody can {'; '.join(text[0].lower() + text[1:] for text in learnt)}."
    html = f"<div><p><strong>Aim.</strong> {escape(aim)}</p><table><tbody>{body}</tbody></table></div>"
    return BeautifulSoup(html, "html.parser").table


# -- Moodle --------------------------------------------------------------------------------


def gift(html: str) -> str:
    """Return HTML as GIFT takes it: on one line, without attributes, its own signs escaped."""
    plain = re.sub(r"<(/?\w+)[^>]*>", lambda tag: "" if tag[1].strip("/") in ("a", "span") else f"<{tag[1]}>", html)
    return re.sub(r"([~=#{}:])", r"\\\1", " ".join(plain.split()))


def gift_question(name: str, text: str, options: list[tuple[bool, str, str]]) -> str:
    """Return a question in GIFT; options are (is right, text, explanation)."""
    right = sum(is_right for is_right, *_ in options)
    share = {True: f"~%{100 / max(right, 1):.7g}%", False: f"~%-{100 / max(len(options) - right, 1):.7g}%"}
    mark = share if right > 1 else {True: "=", False: "~"}
    lines = [f"{mark[is_right]}{gift(option)}#{gift(why)}" for is_right, option, why in options]
    return "\n".join([f"::{name}::[html]{gift(text)} {{", *lines, "}\n"])


def of_quiz(article: Tag) -> list[tuple[str, str]]:
    """Return the questions of a quiz page in GIFT, each with the page that explains it."""
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
        page = box.select_one(".quiz-see a")["href"].removeprefix("../").partition(".html")[0]
        found.append((page, gift_question(box["id"], f"<p>{asked}</p>{''.join(map(str, given))}", options)))
    return found


def of_votes(article: Tag) -> list[tuple[str, str]]:
    """Return the questions to vote on in GIFT, each with its chapter; reasoning and value explain an option."""
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
            page = section.select_one("a[href*='/notebooks/']")["href"].removeprefix("../").partition(".html")[0]
            found.append((page, gift_question(section["id"], question, rated)))
    return found


def offer(folder: Path, page: str, things: list[tuple[str, str]]) -> None:
    """Put a line with links for a class at the end of a finished page."""
    path, up = folder / f"{page}.html", "../" * page.count("/")
    links = ", ".join(f'<a href="{up}{file}">{escape(text)}</a>' for text, file in things)
    before, end, after = path.read_text("utf-8").rpartition("</article>")
    path.write_text(f'{before}<p class="for-a-class">For a class: {links}.</p>{end}{after}', encoding="utf-8")


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
    for page in [page for page in pages if re.match(r"notebooks/\d\d_", page)]:
        name = site.article(page).h1.get_text().strip()
        write_deck(site, name, plan_of(site, page), page.rpartition("/")[2])
    questions = {page: [] for page in pages if re.match(r"notebooks/\d\d_|book/quiz/", page) or page == VOTES}
    for page in [page for page in questions if not re.match(r"notebooks/\d", page)]:
        for chapter, question in (of_votes if page == VOTES else of_quiz)(site.article(page)):
            for place in {page, chapter} & questions.keys():
                questions[place].append(question)
    (folder / "gift").mkdir(exist_ok=True)
    for page, found in questions.items():
        name = page.rpartition("/")[2]
        (folder / "gift" / f"{name}.txt").write_text("\n".join(found), encoding="utf-8")
        asked = [quiz for quiz in questions if quiz.startswith("book/") and set(questions[quiz]) & set(found)]
        offer(folder, page, [
            *[("without solutions, for paper", f"handouts/{name}.html")] * (folder / f"handouts/{name}.html").exists(),
            *((site.article(quiz).h1.get_text().strip(), f"{quiz}.html") for quiz in asked if quiz != page),
            ("for Moodle (GIFT)", f"gift/{name}.txt"),
            *((f"slides: {deck}", file) for deck, file in site.decks.get(page, []) if page != VOTES),
        ])  # fmt: skip


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
