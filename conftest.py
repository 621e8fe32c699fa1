"""Doctests that need another library run only if it is installed."""

from importlib.util import find_spec

# Of modules and pages, the library that each is about.
NEEDS = {
    "src/chsic/adapters/causal_learn.py": "causallearn",
    "src/chsic/adapters/pgmpy.py": "pgmpy",
    "src/chsic/adapters/sklearn.py": "sklearn",
    "src/chsic/adapters/tigramite.py": "tigramite",
    "docs/coming-from/kci.md": "causallearn",
    "docs/coming-from/tigramite.md": "tigramite",
    "docs/howto/causal-learn.md": "causallearn",
    "docs/howto/dowhy.md": "dowhy",
    "docs/howto/gcastle.md": "castle",
    "docs/howto/pgmpy.md": "pgmpy",
    "docs/howto/scikit-learn.md": "sklearn",
    "docs/howto/tigramite.md": "tigramite",
    "docs/rows.md": "statsmodels",
}
collect_ignore = [path for path, library in NEEDS.items() if not find_spec(library)]
# What builds the documentation, and what it leaves there, is not to be imported by tests.
collect_ignore_glob = ["docs/*.py"]
