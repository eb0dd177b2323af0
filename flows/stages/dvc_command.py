"""`python -m flows.stages.dvc_command ARGUMENTS`: the command `dvc`, which writes its lock faster.

DVC 3.67 parses and writes the whole of `dvc.lock` in pure Python for each stage that ran, which
takes a second for the forty stages here. This command lets DVC write the stage that ran and leaves
the text of the others as it stands. The bytes are the same.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dvc.dvcfile import Lockfile
    from dvc.stage import PipelineStage

HEAD = "schema: '2.0'\nstages:\n"
STAGE = re.compile(r"^(?=  \S)", re.MULTILINE)  # before a key of the second level
OTHER = re.compile(r"^\S", re.MULTILINE)  # a key of the first level


def with_stage(lock: str, stage: dict[str, Any]) -> str:
    """Return the text of a lock with one stage replaced, or behind the others.

    Args:
        lock: as DVC writes it; it begins with `HEAD`.
        stage: its name -> what the lock says of it.
    """
    from dvc.utils.serialize import dumps_yaml

    text = dumps_yaml({"stages": stage}).removeprefix("stages:\n")
    name = text.partition("\n")[0] + "\n"
    blocks = [block for block in STAGE.split(lock.removeprefix(HEAD)) if block]
    replaced = [text if block.startswith(name) else block for block in blocks]
    return HEAD + "".join(replaced if text in replaced else [*replaced, text])


def main() -> int:
    """Run DVC's command line on this process's arguments; return its exit status."""
    from dvc import dvcfile
    from dvc.cli import main as dvc
    from dvc.stage.serialize import to_lockfile

    whole = dvcfile.Lockfile.dump_stages

    def dump_stages(lock: Lockfile, stages: list[PipelineStage], **options: bool) -> None:
        file = Path(lock.path)
        before = file.read_text(encoding="utf-8") if file.is_file() else HEAD
        if not before.startswith(HEAD) or OTHER.search(before, len(HEAD)):
            whole(lock, stages, **options)
            return
        text = before
        for stage in stages:
            text = with_stage(text, to_lockfile(stage, **options))
        if text != before:
            file.write_text(text, encoding="utf-8")
            lock.repo.scm_context.track_file(lock.relpath)

    dvcfile.Lockfile.dump_stages = dump_stages
    return int(dvc(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
