"""Quiz questions, as Sphinx directives.

    ::::{question} What is asked, in one sentence?
    :name: quiz-some-name
    :see: notebooks/01_scores_and_agreement#definitions

    What one has to know to answer: text, a table, code.

    :::{right} An answer
    Why it is right.
    :::

    :::{wrong} Another answer
    Why it is wrong.
    :::
    ::::

One right option makes radio buttons, several make checkboxes. `see` names a page and a heading in it. Every option
needs an explanation. Without JavaScript, these stand in a `<details>` below the options; `quiz.js` adds the rest.
"""

from __future__ import annotations

from html import escape

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

LETTERS = "ABCDEFGH"
HOW_MANY = {False: "One answer is right.", True: "Several answers are right."}


class Question(nodes.Element):
    """A question: what one has to know, `Asked`, `Choice`s, and a `See`."""


class Asked(nodes.TextElement):
    """The question itself."""


class Choice(nodes.Element):
    """An option: its text, then its explanation."""


class Said(nodes.TextElement):
    """The text of an option."""


class See(nodes.Inline, nodes.TextElement):
    """The section that explains a question, before it is found."""


class QuestionDirective(SphinxDirective):
    """A question with its options."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"name": directives.unchanged_required, "see": directives.unchanged_required}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        if lacking := {"name", "see"} - set(self.options):
            raise self.error(f"a question needs the options {sorted(lacking)}")
        text, messages = self.state.inline_text(self.arguments[0], self.lineno)
        content = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, content)
        choices = [child for child in content if isinstance(child, Choice)]
        right = sum(choice["right"] for choice in choices)
        if not 0 < right < len(choices) or len(choices) > len(LETTERS):
            raise self.error(
                f"a question needs right and wrong options, 8 at most; {right} of {len(choices)} are right"
            )
        number = self.env.temp_data["quiz_questions"] = self.env.temp_data.get("quiz_questions", 0) + 1
        node = Question(number=number, several=right > 1, ids=[self.options["name"]])
        node += [child for child in content if not isinstance(child, Choice)]
        node += Asked("", "", *text)
        for letter, choice in zip(LETTERS, choices, strict=False):
            choice["letter"], choice["question"], choice["several"] = letter, self.options["name"], right > 1
            node += choice
        node += See(target=self.options["see"])
        self.set_source_info(node)
        return [node, *messages]


class _ChoiceDirective(SphinxDirective):
    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    right = False

    def run(self) -> list[nodes.Node]:
        if not "".join(self.content).strip():
            raise self.error(f"the option {self.arguments[0]!r} needs an explanation")
        text, messages = self.state.inline_text(self.arguments[0], self.lineno)
        explained = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, explained)
        return [Choice("", Said("", "", *text), explained, right=self.right), *messages]


class RightDirective(_ChoiceDirective):
    """An option that is right."""

    right = True


class WrongDirective(_ChoiceDirective):
    """An option that is wrong."""


def find_sections(app, doctree: nodes.document, docname: str) -> None:
    """Turn each `See` into a link to the section; warn where there is none."""
    for node in list(doctree.findall(See)):
        page, _, heading = node["target"].partition("#")
        titles = {
            ref["anchorname"].lstrip("#"): ref.astext()
            for ref in app.env.tocs.get(page, nodes.container()).findall(nodes.reference)
        }
        if not heading or heading not in titles:
            logging.getLogger(__name__).warning("no section %r; there are %s", node["target"], sorted(titles))
            continue
        uri = f"{app.builder.get_relative_uri(docname, page)}#{heading}"
        link = nodes.reference("", f"{titles['']}: {titles[heading]}", refuri=uri, internal=True)
        node.replace_self(nodes.inline("", "", link))


# -- HTML --------------------------------------------------------------------------------


def visit_question(self, node: Question) -> None:
    """Write the question, its options as a field set, and the explanations folded."""
    name = node["ids"][0]
    *given, asked = [child for child in node.children[:-1] if not isinstance(child, Choice)]
    choices = [child for child in node.children if isinstance(child, Choice)]
    self.body.append(f'<div class="quiz-question" id="{escape(name)}">\n')
    self.body.append(f'<p class="quiz-number">Question {node["number"]}</p>\n')
    self.body.append("<fieldset>\n<legend>")
    _children(self, asked)
    self.body.append(f' <span class="quiz-how-many">{HOW_MANY[node["several"]]}</span></legend>\n')
    for child in given:
        child.walkabout(self)
    for choice in choices:
        kind = "checkbox" if node["several"] else "radio"
        about = f'id="{escape(name)}-{choice["letter"]}" value="{choice["letter"]}" autocomplete="off"'
        self.body.append(f'<div class="quiz-option"><input type="{kind}" name="{escape(name)}" {about}> ')
        self.body.append(f'<label for="{escape(name)}-{choice["letter"]}"><b>{choice["letter"]}</b> ')
        _children(self, choice[0])
        self.body.append("</label></div>\n")
    self.body.append("</fieldset>\n")
    self.body.append('<button type="button" class="quiz-check" hidden>Check</button>\n')
    self.body.append('<div class="quiz-feedback" role="status"></div>\n')
    self.body.append("<details>\n<summary>Answers</summary>\n")
    for choice in choices:
        verdict = "right" if choice["right"] else "wrong"
        self.body.append(f'<div class="quiz-answer" data-letter="{choice["letter"]}" data-verdict="{verdict}">')
        self.body.append(f"<p><b>{choice['letter']} is {verdict}.</b></p>\n")
        choice[1].walkabout(self)
        self.body.append("</div>\n")
    self.body.append('<p class="quiz-see">Explained in ')
    node[-1].walkabout(self)
    self.body.append(".</p>\n</details>\n</div>\n")
    raise nodes.SkipNode


def _children(translator, node: nodes.Element) -> None:
    for child in node.children:
        child.walkabout(translator)


def add_assets(app, pagename, templatename, context, doctree) -> None:
    """Load script and style on the pages that ask something."""
    if doctree is not None and next(doctree.findall(Question), None) is not None:
        app.add_js_file("quiz.js", loading_method="defer")
        app.add_css_file("quiz.css")


def setup(app) -> dict:
    """Register directives, nodes and handlers."""
    for node in (Question, Asked, Choice, Said, See):
        handlers = (visit_question, None) if node is Question else (_children, None)
        app.add_node(node, html=handlers)
    app.add_directive("question", QuestionDirective)
    app.add_directive("right", RightDirective)
    app.add_directive("wrong", WrongDirective)
    app.connect("doctree-resolved", find_sections)
    app.connect("html-page-context", add_assets)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
