"""A page of HTML, for tests that look at what it is made of."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Collect the elements of a page with their attributes, the text of each, and all words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.texts: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.texts.append("")

    def handle_data(self, data):
        self.words += data
        if self.texts:
            self.texts[-1] += data

    def all(self, tag: str) -> list[dict]:
        return [attrs for name, attrs in self.tags if name == tag]
