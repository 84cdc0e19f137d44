"""What helps a reader on the page, and a machine that lists the page, as a Sphinx extension.

The first place where a chapter names a term of the glossary becomes a link; each such link holds the definition
as its title, which `reading.js` shows as a tooltip.
The front page shows figures of other pages. Every page describes itself (`description`, Open Graph). Where the public
address of the site is known (`html_baseurl`), there are a card, a `sitemap.xml` and a `robots.txt`, too.
"""

from __future__ import annotations

import base64
import json
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

GLOSSARY = "book/glossary"
CARD = "_static/card.png"
CARD_ALT = "Ranks of 38 metrics under three groupings; one that has never read a translation is sixth, last and sixth."
#: Words that stand on every page in their everyday sense, too: a link to each would be noise.
EVERYDAY = "agreement beat calibration candidate claim context correlation domain fair instrument interval metric"
EVERYDAY = frozenset(f"{EVERYDAY} protocol reference system tie".split())
#: Where a term stays plain text: in headings, links, code, captions, tables and lists of references.
PLAIN = (nodes.title, nodes.reference, nodes.literal, nodes.caption, nodes.math, nodes.table, nodes.citation)
PLAIN += (addnodes.pending_xref,)


# -- terms -------------------------------------------------------------------------------


def terms_of(env) -> dict[str, tuple[str, str]]:
    """Return where each term of the glossary is defined: page and id."""
    objects = env.get_domain("std").objects
    return {name: place for (kind, name), place in objects.items() if kind == "term"}


def definitions(doctree: nodes.document) -> dict[str, str]:
    """Return the definitions of a glossary by the id of the term."""
    return {
        term_id: item.next_node(nodes.definition).astext().replace("\n", " ")
        for item in doctree.findall(nodes.definition_list_item)
        for term in item.findall(nodes.term)
        for term_id in term["ids"]
    }


def pattern_of(names) -> re.Pattern | None:
    """Return what finds the terms of the glossary in running text, the longest first, the plural too."""
    chosen = sorted(set(names) - EVERYDAY, key=len, reverse=True)
    words = "|".join(re.escape(name).replace(r"\ ", r"\s") for name in chosen)
    return re.compile(rf"(?<![\w-])({words})(s?)(?![\w-])", re.IGNORECASE) if chosen else None


def link(name: str, shown: str) -> addnodes.pending_xref:
    """Return a reference to a term, as the role `term` makes it."""
    about = {"refdomain": "std", "reftype": "term", "reftarget": name, "refexplicit": True, "refwarn": True}
    return addnodes.pending_xref("", nodes.inline("", shown, classes=["xref", "std", "std-term"]), **about)


def link_first_uses(doctree: nodes.document, names: dict[str, str]) -> list[str]:
    """Turn the first use of each term in the paragraphs of a page into a link; return the terms.

    `names` has the term by its form in lower case. What the author has linked is not linked again.
    """
    pattern = pattern_of(names)
    marked = {x["reftarget"].lower() for x in doctree.findall(addnodes.pending_xref) if x.get("reftype") == "term"}
    linked: list[str] = []
    for text in list(doctree.findall(nodes.Text)) if pattern else []:
        if not within(text, nodes.paragraph) or within(text, *PLAIN):
            continue
        parts, start = [], 0
        for match in pattern.finditer(text):
            key = re.sub(r"\s", " ", match[1]).lower()
            if key not in marked:
                marked.add(key)
                linked.append(names[key])
                parts += [nodes.Text(text[start : match.start()]), link(names[key], match[0])]
                start = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[start:])])
    return linked


def within(node: nodes.Node, *kinds: type) -> bool:
    """Tell whether a node stands inside one of these kinds."""
    while node := node.parent:
        if isinstance(node, kinds):
            return True
    return False


class LinkTerms(SphinxPostTransform):
    """Link the terms of a chapter; all pages have been read by then, and references are resolved next."""

    default_priority = 5

    def run(self, **kwargs) -> None:
        if self.env.docname.startswith("notebooks/"):
            link_first_uses(self.document, {name.lower(): name for name in terms_of(self.env)})


def define_terms(app, doctree: nodes.document, docname: str) -> None:
    """Give each link to a term its definition as title."""
    if GLOSSARY not in app.env.found_docs:
        return
    if not hasattr(app.env, "mtmeta_definitions"):
        app.env.mtmeta_definitions = definitions(app.env.get_doctree(GLOSSARY))
    for reference in doctree.findall(nodes.reference):
        term_id = (reference.get("refuri") or "").partition("#")[2] or reference.get("refid", "")
        if term_id.startswith("term-") and (text := app.env.mtmeta_definitions.get(term_id)):
            reference["reftitle"] = text


# -- what the page says of itself --------------------------------------------------------


def description_of(doctree: nodes.document | None, limit: int = 200) -> str:
    """Return how a page begins, cut after a whole word."""
    words: list[str] = []
    for paragraph in doctree.findall(nodes.paragraph) if doctree is not None else []:
        if "outputs-note" in paragraph["classes"] or within(paragraph, nodes.table, nodes.footnote, nodes.citation):
            continue
        words += paragraph.astext().split()
        if len(" ".join(words)) >= limit:
            break
    text = " ".join(words)
    return text if len(text) <= limit else text[: text.rindex(" ", 0, limit)] + " …"


def meta_tags(title: str, description: str, project: str, base: str, page: str) -> str:
    """Return the tags with which a page describes itself; an address only where there is one."""
    about = {"og:title": title, "og:site_name": project, "og:type": "article", "og:description": description}
    if base:
        base = base.rstrip("/") + "/"
        about |= {"og:url": base + page, "og:image": base + CARD, "og:image:alt": CARD_ALT}
    tags = [f'<meta property="{name}" content="{escape(text)}" />' for name, text in about.items() if text]
    tags += [f'<meta name="description" content="{escape(description)}" />'] if description else []
    tags += [f'<meta name="twitter:card" content="{"summary_large_image" if base else "summary"}" />']
    return "\n    " + "\n    ".join(tags)


def describe(app, pagename, templatename, context, doctree) -> None:
    """Write the tags into the head of a page."""
    title = re.sub(r"<[^>]+>", "", context.get("title", ""))
    page = app.builder.get_target_uri(pagename)
    project = app.config.html_title
    own = meta_tags(title, description_of(doctree) or f"{title}: {project}", project, app.config.html_baseurl, page)
    context["metatags"] = context.get("metatags", "") + own


START = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="refresh" content="0; url={first}" />
    <title>{title}</title>{tags}
  </head>
  <body><p><a href="{first}">{title}</a></p></body>
</html>
"""


def write_site_files(app, exception) -> None:
    """Write the start page that leads to the first page, and, with an address, the sitemap and robots.txt."""
    if exception or app.builder.format != "html":
        return
    out, first = Path(app.outdir), app.builder.get_target_uri(app.config.root_doc)
    title, base = app.config.html_title, app.config.html_baseurl
    text = description_of(app.env.get_doctree(app.config.root_doc))
    tags = meta_tags(title, text, title, base, "")
    (out / "index.html").write_text(START.format(first=first, title=escape(title), tags=tags), encoding="utf-8")
    if base:
        base = base.rstrip("/") + "/"
        pages = [base + app.builder.get_target_uri(name) for name in sorted(app.env.found_docs)]
        (out / "sitemap.xml").write_text(sitemap(pages), encoding="utf-8")
        (out / "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {base}sitemap.xml\n", encoding="utf-8")


def sitemap(addresses: list[str]) -> str:
    """Return a sitemap by the protocol of sitemaps.org."""
    urls = "".join(f"  <url><loc>{escape(address)}</loc></url>\n" for address in addresses)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{head}{urls}</urlset>\n"


def order(name, rawtext, text, lineno, inliner, options=None, content=None):
    """Show the words of ``{order}`A leads <A > B: column>` ``; tests compare what stands in brackets with the table."""
    return [nodes.Text(text.partition("<")[0].strip())], []


def take_figures(app) -> None:
    """Write the figures that the front page shows, from the outputs of the pages that they stand on."""
    source = Path(app.srcdir)
    front = source / "book" / "index.md"
    wanted = set(re.findall(r"_static/front/([\w-]+)\.png", front.read_text("utf-8"))) if front.exists() else set()
    for path in sorted((source / "notebooks").rglob("*.ipynb")) if wanted else []:
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            name = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name")
            for output in cell.get("outputs", []) if name in wanted else []:
                if image := output.get("data", {}).get("image/png"):
                    target = front.parent / "_static" / "front" / f"{name}.png"
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(base64.b64decode("".join(image)))


def setup(app) -> dict:
    app.add_role("order", order)
    app.connect("builder-inited", take_figures)
    app.add_post_transform(LinkTerms)
    app.connect("doctree-resolved", define_terms)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_site_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
