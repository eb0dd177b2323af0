"""What a figure was measured on and how to measure it again, as text without a path."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine(device: str = "cpu") -> str:
    """Processor or GPU, cores this process may use, memory: `AMD EPYC, 2 cores, 24 GiB`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    if device == "cuda":
        import torch  # slow to import, and most figures are a processor's

        here = torch.cuda.get_device_properties(0)
        name = f"{here.name} {here.total_memory / 2**30:.0f} GiB"
    else:
        name = processor()
    return f"{name}, {cores} cores, {memory:.0f} GiB"


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The model name that the kernel gives, else what Python knows."""
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def command(module: str, *, data: bool = False, **options: object) -> str:
    """The line that measures again; `data` says that it reads the publishers' files."""
    words = ["ROLECALL_DATA=$ROLECALL_DATA"] if data else []
    words += ["python", "-m", f"benchmarks.{module}"]
    for name, value in options.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        words += [f"--{name.replace('_', '-')}", *map(str, values)]
    return " ".join(words)


def data_folder() -> Path:
    """Where the publishers' files lie: `$ROLECALL_DATA`, else beside the repository."""
    return Path(os.environ.get("ROLECALL_DATA", "../shared/data"))
