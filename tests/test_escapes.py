"""What is written for Markdown is what it shows; test_bad_input_names.py reads LaTeX back."""

import mistune
from markdown_it import MarkdownIt

from mtmeta._escapes import markdown

#: An escape saves no address of mail from GitHub's parser; from others it does.
ADDRESSES = (
    "www.example.com", "WWW.example.com", "www.1x.com", "http://example.com", "https://e.com/x?y=1", "HTTP://E.COM",
    "ftp://x.com", "//example.com", "example.com", "x.www.a.org", "(www.a.org)", "a@b.com", "mailto:a@b.com", "t.py",
)  # fmt: skip


def test_addresses_are_no_links_in_markdown():
    linking = MarkdownIt("commonmark", {"linkify": True}).enable(["linkify", "table"])
    pages = (linking.render, mistune.create_markdown(plugins=["url", "table"]))
    lines = [f"| {markdown(address)} | 0.123 |\n| --- | --- |\n" for address in ADDRESSES]
    for page in pages:
        assert any("href" in page(line.replace("\\", "")) for line in lines)
        for address, line in zip(ADDRESSES, lines, strict=True):
            assert f"<th>{address}</th>" in page(line)
    assert markdown("0.123 of 1.5, p. 3: yes") == "0.123 of 1.5, p. 3: yes"  # numbers are read as they are written
