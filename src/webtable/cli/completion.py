"""`webtable completion SHELL`: the script that lets a shell complete commands and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from webtable.cli.shared_options import SuggestingChoice, idle_store_option

__all__ = ["SHELLS", "completion"]

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_WEBTABLE_COMPLETE"


@click.command(short_help="Print the completion script of bash, zsh or fish.")
@click.argument("shell", type=SuggestingChoice(SHELLS))
@idle_store_option
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete commands, options, their values and file names.

    \b
    bash: add to ~/.bashrc:   eval "$(webtable completion bash)"
    zsh:  add to ~/.zshrc:    eval "$(webtable completion zsh)"
    fish: webtable completion fish > ~/.config/fish/completions/webtable.fish
    """  # noqa: D301 - click needs the character
    root = click.get_current_context().find_root()
    made = get_completion_class(shell)
    assert made is not None, shell
    # click asks bash for its version; the script itself does not depend on that.
    script = made(root.command, {}, "webtable", VARIABLE)
    click.echo(script.source_template % script.source_vars())
