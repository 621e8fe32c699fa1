"""What a result must say about where it was measured."""

import importlib.metadata
import os
import platform


def describe(*packages: str) -> dict[str, object]:
    """Return the cores, the processor and the versions of packages."""
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in packages},
    }
