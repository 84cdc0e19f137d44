"""The site (in `MTMETA_SITE`, `_build/html` or built here) as files, and as check.mjs and reader.mjs saw it offline."""

import re
import unicodedata
from collections import Counter
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import imagesize
import nbformat
import pytest
import reading
import teaching
import yaml
from bookfiles import ROOT, toc
from bs4 import BeautifulSoup
from docutils.core import publish_doctree
from pages import Page
from pypdf import PdfReader
from sites import NARROW, console_faults, drive, network_faults

import mtmeta as mm

#: What axe-core finds in the theme itself: the rule, and the class of the element.
THEME_AXE = (
    ("label-content-name-mismatch", "search-button-field"), ("label-content-name-mismatch", "theme-switch-button"),
    ("region", "logo__image"), ("region", "logo__title"),
)  # fmt: skip


class SitePage(Page):
    """A page with its ids, its links and the addresses that it loads."""

    def __init__(self, text):
        super().__init__(text)
        self.ids = {given[key] for _, given in self.tags for key in ("id", "name") if given.get(key)}
        self.links = [given["href"] for given in self.all("a") if given.get("href")]
        self.loads = [g["src"] for tag in ("script", "img", "iframe", "source") for g in self.all(tag) if g.get("src")]
        apart = ("canonical", "next", "prev", "search")
        self.loads += [g["href"] for g in self.all("link") if g.get("href") and g.get("rel") not in apart]


def dead_links(folder):
    paths = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    pages = {path: SitePage(path.read_text(encoding="utf-8")) for path in paths}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            known = pages.get(folder / target.relative_to(folder.resolve())) if target.suffix == ".html" else None
            if not target.exists() or (known and parts.fragment and unquote(parts.fragment) not in known.ids):
                dead.append(f"{path.relative_to(folder)} -> {link}")
    return sorted(set(dead))


def test_every_page_is_built_links_lead_somewhere_and_install_cells_are_in_downloads_alone(site):
    assert [page for page in toc() if not (site / f"{page}.html").exists()] == []
    assert dead_links(site) == []
    for page in toc():
        text, is_notebook = (site / f"{page}.html").read_text(encoding="utf-8"), page.startswith("notebooks/")
        assert ("The outputs on this page" in text) == is_notebook, page
        assert not is_notebook or "find_spec" not in text, page
        source = site / "_sources" / f"{page}.ipynb"
        assert not is_notebook or "importlib.util.find_spec" in source.read_text(encoding="utf-8"), page


def test_nothing_is_loaded_from_outside_and_citations_lead_to_the_bibliography(site):
    loads = {p.name: SitePage(p.read_text(encoding="utf-8")).loads for p in site.rglob("*.html")}
    assert [(name, address) for name, found in loads.items() for address in found if urlsplit(address).netloc] == []
    assert (site / "_static" / "mathjax" / "tex-chtml.js").exists()
    assert "correlation" in (site / "searchindex.js").read_text(encoding="utf-8")
    links = SitePage((site / "book" / "notation.html").read_text(encoding="utf-8")).links
    assert any(link.startswith("bibliography.html#") for link in links)
    assert not [link for link in links if link.startswith("../notebooks/") and "#id" in link]


def words_of(html):
    """Return the words of HTML, a text or an element."""
    return set(re.findall(r"\w+", BeautifulSoup(str(html), "html.parser").get_text()))


def slides_of(deck):
    return BeautifulSoup(deck.read_text(encoding="utf-8"), "html.parser").select(".slide")


def test_handouts_hold_no_solution_and_nothing_that_gives_one_away(site):
    pages = teaching.Site(site)
    for page in [page for page in toc() if re.match(r"notebooks/\d\d_", page)]:
        text = (site / "handouts" / f"{page.partition('/')[2]}.html").read_text(encoding="utf-8")
        soup = BeautifulSoup(text, "html.parser")
        assert (bool(soup.select(".exercise")), soup.select(".solution, details")) == (True, []), page
        for exercise in soup.select(".exercise"):
            words = pages.giveaways(f"{page}.html#{exercise['id']}")
            assert teaching.without(text, words) in (text, str(soup)), exercise["id"]
        for target, parts in pages.notes.items():
            section = soup.find(id=target.partition("#")[2]) if target.startswith(f"{page}.html") else None
            if section is not None and "On the board." in parts:
                assert (words_of(parts["On the board."]) <= words_of(section), section.select("figure")) == (True, [])
                assert re.sub(r"\W", "", parts["Answer."])[:40] not in re.sub(r"\W", "", text), target
        assert not soup.find(id=teaching.CLOSING).select("blockquote, li"), page


def test_slides_have_the_aim_and_the_close_of_a_session_and_notes_with_its_minutes(site):
    decks, plan = sorted((site / "slides").glob("*.html")), teaching.Site(site)
    chapters = [page.partition("/")[2] for page in toc() if re.match(r"notebooks/\d\d_", page)]
    assert len(decks) == len(teaching.sessions(plan.article(teaching.SYLLABI))) + len(chapters)
    assert set(chapters) < {deck.stem for deck in decks}
    aims = []
    for deck in decks:
        first, *slides = slides_of(deck)
        aims.append(" ".join(first.select_one(".content").get_text().split()))
        assert re.match(r"Aim\. After it, everybody .+[.?]$", aims[-1]), deck
        minutes = [tuple(map(int, slide["data-minutes"].split("-"))) for slide in slides]
        assert [0, *(end for _, end in minutes)] == [*(start for start, _ in minutes), 90], deck
        assert slides[-1].h2.get_text().endswith(("What to take away", "do not support")), deck
        bare = [slide.h2.get_text() for slide in slides if len(slide.select_one(".notes").get_text().split()) < 12]
        assert bare == [], deck
        assert any(slide.select(".proof") for slide in slides), f"{deck} has no definition"
    assert len(set(aims)) >= len(aims) - 3, "a session has an aim of its own"


def test_an_answer_is_on_the_slide_after_its_question_and_on_none_before(site):
    pages, answered = teaching.Site(site), Counter()
    for deck in (site / "slides").glob("*.html"):
        of_chapter = bool(re.match(r"\d\d_", deck.stem))
        text, slides = deck.read_text(encoding="utf-8"), slides_of(deck)
        ids = re.findall(r' id="([^"]+)"', text)
        assert [name for name, n in Counter(ids).items() if n > 1] == [], deck
        assert "not re-executed" not in text
        for slide, after in zip(slides, slides[1:], strict=False):
            kind = "vote" if re.match("Question", slide.select_one(".content").get_text()) else "exercise"
            if after.h2.get_text() == slide.find(["h1", "h2"]).get_text() + teaching.ANSWER:
                kind = kind if kind == "vote" or slide.select(".exercise") else "board"
                answered[kind, of_chapter] += 1
                assert kind != "vote" or (slide.select("table"), len(after.select("tr[data-right]"))) == ([], 1)
            else:
                assert not slide.select(".exercise"), f"{deck}: {slide.h2.get_text()} has no answer"
        for exercise in {tag["id"]: tag for slide in slides for tag in slide.select(".exercise")}:
            page = next(page for page in toc() if page.startswith(f"notebooks/{exercise[3:5]}_"))
            for slide in slides[: next(k for k, s in enumerate(slides) if s.find(id=exercise)) + 1]:
                content = str(slide.select_one(".content"))
                words = pages.giveaways(f"{page}.html#{exercise}")
                assert teaching.without(content, words) == (
                    str(BeautifulSoup(content, "html.parser")) if words else content
                )
    plan = (ROOT / "book" / "teaching" / "syllabi.md").read_text(encoding="utf-8")
    assert answered["vote", True] == sum(bool(re.match(r"notebooks/\d\d_", page)) for page in toc())
    assert answered["vote", False] == len(re.findall(r"^\| [\d-]+ \| Vote", plan, flags=re.M))
    assert answered["exercise", False] == plan.count("#ex-") > 20 < answered["board", False]


def test_moodle_can_read_the_questions_of_each_quiz_and_each_chapter(site):
    """By the rules of the GIFT format in Moodle's documentation, but for what no question here uses."""
    names = {page.rpartition("/")[2] for page in toc() if re.match(r"notebooks/\d\d_|book/quiz/", page)}
    assert {path.stem for path in (site / "gift").glob("*.txt")} == names | {"predictions"}
    for path in (site / "gift").glob("*.txt"):
        questions = re.split(r"\n\n(?=::)", path.read_text(encoding="utf-8").strip())
        assert len(questions) >= 2
        for question in questions:  # a blank line ends a question, so none stands inside
            title, text, body = re.fullmatch(r"::([\w-]+)::\[html\](.+?) \{\n(.+)\n\}", question, flags=re.S).groups()
            options = [re.fullmatch(r"(=|~)(?:%(-?[\d.]+)%)?(.+?)(?<!\\)#(.+)", line) for line in body.split("\n")]
            assert (len(options) >= 3, all(options)) == (True, True), title
            plain = [text, *(part for option in options for part in option.group(3, 4))]
            signs = [re.search(r"(?<!\\)[~=#{}:]", part) for part in plain]  # each must be escaped
            assert (signs, [part for part in plain if "\n" in part]) == ([None] * len(signs), []), title
            shares = [float(share) for _, share in (option.group(1, 2) for option in options) if share]
            if shares:  # several answers are right: no "=", and what is right adds up to 100, as does what is wrong
                sums = sum(s for s in shares if s > 0), sum(s for s in shares if s < 0)
                assert (len(shares), sums) == (len(options), pytest.approx((100, -100), abs=0.01)), title
            else:
                assert [option[1] for option in options].count("=") == 1, title


def test_chapters_and_quizzes_link_what_a_class_needs(site):
    for page in (page for page in toc() if re.match(r"notebooks/\d\d_|book/quiz/", page)):
        links = {a["href"] for a in BeautifulSoup((site / f"{page}.html").read_text("utf-8"), "html.parser").select(
            ".for-a-class a")}  # fmt: skip
        wanted = ("gift",) if page.startswith("book/") else ("gift", "handouts", "slides", "quiz")
        assert [folder for folder in wanted if not any(f"/{folder}/" in link for link in links)] == [], page


def meta(page):
    """Return the tags with which a page describes itself, by name."""
    found = re.findall(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)" />', page.read_text(encoding="utf-8"))
    return dict(found)


def test_pages_describe_themselves_and_what_needs_an_address_waits_for_one(site):
    descriptions = [meta(site / f"{page}.html").get("og:description", "") for page in toc()]
    assert [page for page, text in zip(toc(), descriptions, strict=True) if not 20 <= len(text) <= 220] == []
    start = meta(site / "index.html")
    assert start["og:description"] == meta(site / "book" / "index.html")["og:description"]
    assert start["og:title"] in (site / "index.html").read_text(encoding="utf-8")
    base = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]["html_baseurl"]
    there = {(site / name).exists() for name in ("sitemap.xml", "robots.txt")}
    assert (there, "og:image" in meta(site / "index.html")) == ({bool(base)}, bool(base))


def test_with_an_address_there_are_card_sitemap_and_robots(tmp_path):
    doctree = publish_doctree("Start\n=====\n\nIt begins here, with a few words.")
    builder = SimpleNamespace(format="html", get_target_uri=lambda name: f"{name}.html")
    env = SimpleNamespace(found_docs={"start", "a&b"}, get_doctree=lambda name: doctree)
    config = SimpleNamespace(html_title="A <Book>", html_baseurl="https://example.org/book", root_doc="start")
    sphinx = SimpleNamespace(builder=builder, env=env, config=config, outdir=str(tmp_path))
    reading.write_site_files(sphinx, ValueError("failed"))
    assert list(tmp_path.iterdir()) == []
    reading.write_site_files(sphinx, None)
    assert meta(tmp_path / "index.html")["og:image"] == "https://example.org/book/_static/card.png"
    assert meta(tmp_path / "index.html")["twitter:card"] == "summary_large_image"
    places = [loc.text for loc in ElementTree.parse(tmp_path / "sitemap.xml").iter() if loc.tag.endswith("}loc")]
    assert places == ["https://example.org/book/a&b.html", "https://example.org/book/start.html"]
    assert "Sitemap: https://example.org/book/sitemap.xml" in (tmp_path / "robots.txt").read_text()
    assert imagesize.get(ROOT / "book" / reading.CARD) == (1200, 630)


@pytest.mark.data
def test_the_front_page_says_what_the_data_say():
    names = mm.book.published.numbers().query("source == 'sentinels-logs'")["metric"].unique()
    readers = [name for name in names if not name.startswith(("SENTINEL", "Random"))]
    beats = {}
    for pair in ("en-de", "zh-en", "he-en"):
        es = mm.load(f"wmt23/{pair}", metrics_from=["wmt23-sentinels"], metrics=readers)
        count = [[-float(len(text)) for text in es.texts.sources]] * len(es.systems)
        es = es.with_metrics({n: es[n] for n in es.metrics} | {"count": count})
        r = mm.correlate(es, grouping="none").set_index("metric")["value"]
        beats[pair] = len(readers), (r["count"] > r).sum(), {n: f"{v:.2f}"[1:] for n, v in r.items()}
    text = (ROOT / "book" / "index.md").read_text(encoding="utf-8")
    all_of_them, german, of = beats["en-de"]
    assert f"beats {german} of the {all_of_them} metrics that read the translation into German" in text
    assert f"From Chinese the count beats {beats['zh-en'][1]} of them. From Hebrew," in text
    assert f"half of the translations have no marked error, it beats {beats['he-en'][1]}." in text
    assert f"the count has {of['count']}, less than XCOMET-Ensemble with {of['XCOMET-Ensemble']}" in text
    assert f"GEMBA-MQM with {of['GEMBA-MQM']}, COMET with {of['COMET']} and BLEU with {of['BLEU']}." in text


def test_chapters_link_terms_with_their_definitions(site):
    text = (site / f"{toc()[1]}.html").read_text(encoding="utf-8")
    links = re.findall(r'<a class="reference internal" href="[^"]*#term-[^"]+"( title="[^"]{20,}\.")?>', text)
    assert len(links) > 5
    assert all(links), "each link to a term holds the definition"


#: One page of each kind; the others are visited every week.
KINDS = ["book/notation", "book/api/ties", "notebooks/06_ties"]


@pytest.fixture(
    scope="session", params=[KINDS, pytest.param(toc(), marks=pytest.mark.exhaustive)], ids=["kinds", "all"]
)
def seen(site, request):
    """Return what the browser saw on these pages."""
    return drive("check.mjs", site, *request.param) | {"asked": request.param}


def page_faults(seen):
    """Yield what is wrong with formulas, images, widths and, as axe-core says, for readers who cannot see or click."""
    for page, entry in seen["pages"].items():
        if entry["rendered"] != entry["formulas"]:
            yield f"{page}: {entry['rendered']} of {entry['formulas']} formulas are rendered"
        yield from (f"{page}: {text}" for text in entry["broken"])
        for image in entry["images"]:
            if not ((image["alt"] or "").strip() and image["loaded"]):
                yield f"{page}: {image['src']} has no alt text, or did not load"
        for fonts, width in entry["width_390"].items():
            if width > NARROW:
                yield f"{page} is {width} px wide on a screen of {NARROW} px with {fonts} fonts"
        for scheme in ("light", "dark", "narrow"):
            for found in entry[f"axe_{scheme}"]:
                if not any(found["id"] == rule and mark in found["html"] for rule, mark in THEME_AXE):
                    yield f"{page} ({scheme}): {found['id']} at {found['target']}: {found['html'][:80]}"


@pytest.mark.browser
@pytest.mark.parametrize("faults", [network_faults, console_faults, page_faults], ids=lambda f: f.__name__)
def test_no_fault_on_any_page(faults, seen):
    assert (set(seen["pages"]), list(faults(seen))) == (set(seen["asked"]), [])
    assert seen["fonts"]["wide"] > 1.05 * seen["fonts"]["narrow"] > 0
    assert seen["pages"]["book/notation"]["rendered"] > 0


def words(text):
    """Count the words of a text; joined letters such as fi are taken apart."""
    return Counter(re.findall(r"\w+", unicodedata.normalize("NFKC", text)))


@pytest.mark.browser
@pytest.mark.parametrize("pages", [["notebooks/06_ties", "notebooks/teaching/predictions", "slides/90-minutes"],
    pytest.param(["handouts/book"], marks=pytest.mark.exhaustive)], ids=["some", "book"])  # fmt: skip
def test_paper_has_the_words_of_the_page_with_everything_unfolded(pages, site, tmp_path):
    if "handouts/book" in pages:
        teaching.write_book(site, ROOT)
    seen = drive("paper.mjs", site, tmp_path, *pages)
    assert (list(network_faults(seen)), list(console_faults(seen))) == ([], [])
    for page, entry in seen["pages"].items():
        paper = words("\n".join(sheet.extract_text() for sheet in PdfReader(entry["file"]).pages))
        screen = words(entry["text"])
        assert (screen & paper).total() >= 0.95 * screen.total() > 500, page


@pytest.fixture(scope="session")
def read(site):
    """Return what came of the way of a reader through the site."""
    return drive("reader.mjs", site)


@pytest.mark.browser
class TestReader:
    """The way of a reader, step by step; `reader.mjs` goes it once."""

    def test_nothing_goes_wrong_on_the_way(self, read):
        assert (list(network_faults(read)), list(console_faults(read))) == ([], [])

    def test_the_front_page_shows_its_figure_and_lets_the_keyboard_skip_the_navigation(self, read):
        front = read["front"]
        assert front["figureInView"]
        assert front["figureBottom"] < 900, "the figure must be seen without scrolling"
        stops = front["url"], front["firstStop"], front["focusAfter"]
        assert stops == ("/book/index.html", "Skip to main content", "#main-content")

    def test_search_leads_to_the_chapter_a_reference_to_the_figure_and_a_solution_unfolds(self, read):
        assert read["search"]["hits"] > 1
        assert read["search"]["url"] == "/notebooks/03_system_dependence.html"
        assert read["figure"]["inView"]
        assert read["figure"]["caption"].startswith(read["figure"]["text"])
        assert (read["solution"]["before"], read["solution"]["after"]) == (False, True)
        assert read["solution"]["text"].strip()

    def test_a_term_says_what_it_means(self, read):
        term = read["term"]
        assert term["count"] > 5
        assert term["described"] == term["hovered"] == term["focused"] != ""
        assert (term["before"], term["staysUnderThePointer"]) == (False, True)
        assert (term["left"], term["escaped"]) == (False, False)

    def test_the_chapter_is_downloaded_as_a_notebook(self, read):
        assert read["download"]["name"] == "03_system_dependence.ipynb"
        notebook = nbformat.reads(read["download"]["text"], as_version=4)
        nbformat.validate(notebook)
        stored = nbformat.read(ROOT / "notebooks" / "03_system_dependence.ipynb", as_version=4)
        assert [c.source for c in notebook.cells] == [c.source for c in stored.cells]

    def test_the_theme_stays_and_paper_is_light_with_the_solutions_and_without_navigation(self, read):
        assert read["theme"] == {"before": "light", "after": "dark", "reloaded": "dark"}
        paper = read["print"]
        assert (paper["navigation"], paper["theme"]) == (0, "light")
        assert paper["text"] > 50
        assert paper["solutions"] == paper["allSolutions"] > 0

    def test_a_quiz_can_be_answered(self, read):
        assert re.match(r"Not .* is wrong\.", read["quiz"]["wrong"], flags=re.S)
        assert read["quiz"]["right"].startswith("Right.")

    def test_a_wide_table_scrolls_in_its_box_on_a_telephone(self, read):
        phone = read["phone"]
        assert (phone["page"], phone["tabindex"]) == (NARROW, "0")
        assert phone["table"] > 1.2 * phone["box"]
        assert "scrolls sideways" in phone["name"]
        assert phone["scrolled"] > 0

    def test_the_first_tap_on_a_term_defines_it_and_the_second_follows(self, read):
        tip = read["phone"]["tip"]
        assert tip["url"] == "/notebooks/real_data/published_clusters.html"
        assert tip["text"]
        assert 0 <= tip["left"] < tip["right"] <= NARROW
        assert "/book/glossary.html#term-" in read["phone"]["secondTap"]
