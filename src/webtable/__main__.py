"""`python -m webtable` is the `webtable` command."""

from webtable.cli.main import main

if __name__ == "__main__":
    main()
