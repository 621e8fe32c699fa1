"""Stand-ins for the libraries that adapters translate for, which the documentation does not need.

They are plain classes, so that what is derived from them keeps its own signature.
"""

import sys
from types import ModuleType

NEEDED = {
    "causallearn.utils.cit": ("CIT_Base", "register_ci_test"),
    "pgmpy.ci_tests._base": ("_BaseCITest", "_CITestResult"),
    "tigramite.independence_tests.independence_tests_base": ("CondIndTest",),
}


class Absent:
    """Whatever it is, it can be called and derived from."""

    def __init__(self, *_: object) -> None:
        pass


def stand_in() -> None:
    """Make imports of the adapters succeed, whatever is installed."""
    for path, names in NEEDED.items():
        parts = path.split(".")
        for depth in range(1, len(parts) + 1):
            sys.modules[".".join(parts[:depth])] = ModuleType(".".join(parts[:depth]))
        for name in names:
            setattr(sys.modules[path], name, Absent)
