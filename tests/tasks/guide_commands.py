"""The `curl` commands of a guide, run against a server of the tests."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs/guides/rest.md"
BLOCK = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(path: str) -> list[str]:
    """Return the commands that ask for a path, each on one line."""
    blocks = "".join(BLOCK.findall(GUIDE.read_text(encoding="utf-8"))).replace("\\\n", "")
    return [line for line in blocks.splitlines() if line.startswith("curl ") and path in line]


def answered(command: str, address: str) -> Any:
    """Run a command at another address; return the JSON of the answer."""
    own = re.sub(r"http://127\.0\.0\.1:\d+/", address, command)
    done = subprocess.run(
        ["curl", "--silent", "--noproxy", "*", *shlex.split(own)[1:]], capture_output=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
