"""Renders the HTML of the sample crawl: small pages with text, links and metadata."""

from __future__ import annotations

import html
import random
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["LANGUAGES", "Language", "PageLink", "PagePlan", "render", "words"]

_VOCABULARY = (
    "amber anchor apple arch atlas autumn bakery barley basin beacon birch bridge candle canvas "
    "carbon cedar chapel cliff clover coast copper coral cotton crane creek crystal delta ember "
    "fern field flint forest garden glacier granite harbour hazel heron island ivory juniper "
    "kettle lantern lark lemon linen maple marble meadow mill mint moss nectar oak ocean olive "
    "orchard otter paper pebble pepper pine plum quarry quartz raven reed ridge river saffron "
    "sage salt sand sparrow spruce stone summit thistle timber tulip valley velvet violet walnut "
    "willow winter wool"
)
_WORDS = _VOCABULARY.split()


class Language(NamedTuple):
    """A language of the sample: its charset, and a sentence with characters of that charset."""

    code: str
    charset: str
    codec: str
    sentence: str


LANGUAGES = (
    Language("en", "utf-8", "utf-8", "The quick brown fox jumps over the lazy dog."),
    Language("de", "iso-8859-1", "cp1252", "Die Füße der Hündin naß, die Straße grün – für 5 €."),
    Language("ru", "windows-1251", "cp1251", "Съешь же ещё этих мягких французских булок."),
    Language("ja", "shift_jis", "cp932", "いろはにほへと ちりぬるを わかよたれそ"),
    Language("zh", "gb2312", "gb18030", "天地玄黄 宇宙洪荒 日月盈昃 辰宿列张"),
    Language("el", "iso-8859-7", "iso8859-7", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία."),
)


class PageLink(NamedTuple):
    """A link in a sample page."""

    href: str
    anchor: str
    rel: str = ""


class PagePlan(NamedTuple):
    """The content of a sample page."""

    title: str
    links: Sequence[PageLink]
    paragraphs: int = 4
    language: Language = LANGUAGES[0]
    names_charset: bool = True
    canonical: str = ""
    robots: str = ""
    base: str = ""


def words(chance: random.Random, count: int) -> str:
    """Returns a text of `count` words, the first with a capital letter."""
    return " ".join(chance.choices(_WORDS, k=count)).capitalize()


def render(plan: PagePlan, chance: random.Random) -> bytes:
    """Returns the bytes of a page, in the charset of its language."""
    head = ["<!DOCTYPE html>", f'<html lang="{plan.language.code}">', "<head>"]
    if plan.names_charset:
        head.append(f'<meta charset="{plan.language.charset}">')
    if plan.title:
        head.append(f"<title>{html.escape(plan.title)}</title>")
    if plan.base:
        head.append(f'<base href="{plan.base}">')
    if plan.canonical:
        head.append(f'<link rel="canonical" href="{plan.canonical}">')
    if plan.robots:
        head.append(f'<meta name="robots" content="{plan.robots}">')
    body = ["</head>", "<body>", f"<h1>{html.escape(plan.title or 'No name')}</h1>"]
    body.append(f"<p>{plan.language.sentence}</p>")
    body.append("<ul>")
    for link in plan.links:
        rel = f' rel="{link.rel}"' if link.rel else ""
        body.append(f'<li><a href="{html.escape(link.href)}"{rel}>{html.escape(link.anchor)}</a>')
    body.append("</ul>")
    body += [f"<p>{words(chance, 40)}.</p>" for _ in range(plan.paragraphs)]
    body.append("</body></html>\n")
    return "\n".join(head + body).encode(plan.language.codec, "xmlcharrefreplace")
