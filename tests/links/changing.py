"""Crawls whose pages link to others every day."""

from __future__ import annotations

import json
import random
from pathlib import Path

__all__ = ["write_crawl"]


def write_crawl(path: Path, pages: int, day: int) -> None:
    """Writes what a crawl of one day found: pages that change their links, go, and come back."""
    chance = random.Random(day)
    lines = []
    for number in range(pages):
        targets = chance.sample(range(pages + 20), chance.randrange(8))
        links = "".join(f'<a href="{_url(n)}">{chance.choice("xyz")}</a>' for n in targets)
        answer = {
            "url": _url(number),
            "html": f"<title>Page {number}</title>{links}",
            "status": chance.choice((200, 200, 200, 200, 404, 500)),
            "fetched": f"2026-09-{day:02}T12:00:00Z",
        }
        lines.append(json.dumps(answer))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _url(number: int) -> str:
    return f"https://www.site{number % 5}.example/page{number}"
