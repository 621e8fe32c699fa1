"""Doctests of an adapter run only if the library it translates for is installed."""

from importlib.util import find_spec

NEEDS = {
    "causal_learn": "causallearn",
    "pgmpy": "pgmpy",
    "sklearn": "sklearn",
    "tigramite": "tigramite",
}
collect_ignore = [
    f"src/chsic/adapters/{module}.py" for module, library in NEEDS.items() if not find_spec(library)
]
