"""`python -m tasks.apps.profile_wizard NAME --taxonomy FILE ...`: writes `profiles/NAME.yaml`."""

from __future__ import annotations

import argparse
from pathlib import Path

from tasks.apps.profile_wizard.dry_run import DraftError
from tasks.apps.profile_wizard.propose import NEEDED, parse_options, propose, require_name
from tasks.io.command import run


def main() -> None:
    """Draft a profile for the repository in the working directory, show and write it."""
    parser = argparse.ArgumentParser(
        prog="python -m tasks.apps.profile_wizard", description=__doc__
    )
    parser.add_argument("name")
    for role in NEEDED:
        parser.add_argument(
            f"--{role}", type=Path, action="append", default=[], required=role == "taxonomy"
        )
    parser.add_argument("--column", action="append", default=[], metavar="ROLE=COLUMN")
    parser.add_argument("--delimiter", default="")
    parser.add_argument("--encoding", default="")
    parser.add_argument("--force", action="store_true", help="overwrite the profile")
    options = parser.parse_args()
    root = Path.cwd()
    path = root / "profiles" / f"{options.name}.yaml"
    require_name(options.name)
    if path.exists() and not options.force:
        raise DraftError(f"{path} exists: choose another name, or --force to overwrite it")
    draft = propose(
        options.name,
        {role: getattr(options, role) for role in NEEDED},
        root=root,
        columns=parse_options(options.column),
        delimiter=options.delimiter,
        encoding=options.encoding,
    )
    path.write_text(draft.text, encoding="utf-8")
    print(*draft.preview, f"written: {path.relative_to(root)}", sep="\n")


if __name__ == "__main__":
    run(main)
