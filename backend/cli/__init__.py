"""The command line ``topicweave``: one module a family of commands, imported only when one of them is called."""

from __future__ import annotations

import importlib
import sys

import click

from backend.errors import Problem

COMMANDS = {
    "algorithms": "backend.cli.build:list_algorithms",
    "generate": "backend.cli.build:generate",
    "build": "backend.cli.build:build",
    "verify": "backend.cli.judge:verify",
    "measure": "backend.cli.judge:measure",
    "simulate": "backend.cli.churn:simulate",
    "bound": "backend.cli.bound:bound",
    "experiments": "backend.cli.experiments:experiments",
    "up": "backend.cli.system:up",
    "status": "backend.cli.system:status",
    "down": "backend.cli.system:down",
    "query": "backend.cli.query:query",
    "keys": "backend.cli.keys:keys",
    "import": "backend.cli.imports:import_files",
    "rebuild": "backend.cli.rebuilds:rebuild",
    "plan": "backend.cli.rebuilds:plan",
    "check": "backend.cli.check:check",
    "backup": "backend.cli.backup:backup",
    "restore": "backend.cli.backup:restore",
}


class LazyCommands(click.Group):
    """Finds a command by its line in COMMANDS, so that ``status`` does not wait for Numba."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order of COMMANDS."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="topicweave")
def topicweave() -> None:
    """Low fan-out, topic-connected overlays for federations of publish/subscribe brokers.

    Exit codes: 0 good, 1 the answer is no, 2 bad input.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; whatever is wrong becomes one line on stderr and an exit code."""
    try:
        sys.exit(topicweave.main(arguments, standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except Problem as problem:
        _fail(problem.detail, problem.exit_code)
    except UnicodeEncodeError as error:
        # What a shell hands over need be no text; a path may be anything, what is sent to the API may not.
        given = error.object[error.start : error.end]
        _fail(f"arguments: must be text that can be sent ({error.reason}; got {given!r})", 2)
    except ValueError as error:
        from algorithms.errors import (
            BadInput,  # after the fact: a command that needs no algorithm starts without them
        )

        if not isinstance(error, BadInput):
            raise
        _fail(str(error), 2)
    except BrokenPipeError:
        sys.stderr.close()  # else the interpreter complains about the pipe once more
        sys.exit(141)


def _fail(message: str, code: int) -> None:
    click.echo(f"topicweave: {' '.join(message.split())}", err=True)
    sys.exit(code)
