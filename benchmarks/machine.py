"""What a figure was measured on, as text without a path."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine(device: str = "cpu") -> str:
    """Name processor or GPU, cores this process may use, memory: `AMD EPYC, 2 cores, 24 GiB`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    if device == "cuda":
        import torch  # slow to import, and most figures are a processor's

        card = torch.cuda.get_device_properties(0)
        name = f"{card.name} {card.total_memory / 2**30:.0f} GiB"
    else:
        name = processor()
    return f"{name}, {cores} cores, {memory:.0f} GiB"


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the model name that the kernel gives, else what Python knows."""
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def data_folder() -> Path:
    """Return where the publishers' files lie: `$ROLECALL_DATA`, else beside the repository."""
    return Path(os.environ.get("ROLECALL_DATA", "../shared/data"))
