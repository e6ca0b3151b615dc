"""A process to be killed: `python -m tests.webtable.remove_child LOCATION FILE SEED`.

One thread loads a crawl again and again, others remove pages of it. It prints a line after each
removal.
"""

from __future__ import annotations

import os
import random
import sys
import threading

from webtable import WebTable
from webtable.errors import NotFound

PAGES = 60


def url_of(number: int) -> str:
    return f"https://www.site{number % 5}.example/page{number}"


def remove(web: WebTable, chance: random.Random) -> None:
    while True:
        number = chance.randrange(PAGES)
        try:
            # Every seventh page is never to come back.
            web.remove(url_of(number), block=number % 7 == 0)
        except NotFound:
            continue
        finally:
            os.write(1, f"{number}\n".encode())


def main(location: str, path: str, seed: int) -> None:
    with WebTable.open(location, create=False) as web:
        for number in range(2):
            thread = threading.Thread(target=remove, args=(web, random.Random(seed + number)))
            thread.daemon = True
            thread.start()
        while True:
            web.load(path, workers=0, check=False)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
