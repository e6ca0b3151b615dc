"""Lists the patterns, each with the first line of what it says about itself."""

from importlib import import_module

from examples.patterns.stage import PATTERNS

if __name__ == "__main__":
    print("python -m examples.patterns.NAME [--store LOCATION] [--keep]\n")
    for name in PATTERNS:
        about = import_module(f"examples.patterns.{name}").__doc__ or ""
        print(f"  {name:<24} {about.splitlines()[0]}")
