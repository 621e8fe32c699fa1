"""What is wrong with the outcome of a call."""

import math
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.attack.calls import Outcome, is_json
from benchmarks.attack.questions import Question

LONGEST = 20_000  # characters of an error or a sentence
EXPLAINS = ("; ", ". ", ": ")


def is_explained(error: BaseException | str) -> bool:
    """Tell whether a message names what is wrong with what, as those of other libraries do not."""
    text = str(error)
    inner = "Error: " in text.split(" ", 1)[0] + " "  # the name of an exception that was not ours
    return (
        20 < len(text) < LONGEST
        and not inner
        and any(mark in text for mark in EXPLAINS)
        and text.endswith((".", "?"))
    )


def attempt(
    call: Callable[[Question, np.random.Generator], Outcome], asked: Question, seed: int
) -> tuple[Outcome | None, list[str]]:
    """Make a call; return what it gave, and what is wrong with that."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="the value has an estimated relative error")
        try:
            outcome = call(asked, np.random.default_rng(seed))
        except (ValueError, TypeError) as error:
            if is_explained(error):
                return None, []
            return None, [f"unexplained {type(error).__name__}: {_where(error)}"]
        except Exception as error:
            return None, [f"crash {type(error).__name__}: {_where(error)}"]
    return outcome, defects_of(outcome)


def defects_of(outcome: Outcome) -> list[str]:
    """Return what must not be."""
    wrong: list[Any] = [
        f"not finite: {name} = {value}"
        for name, value in outcome.numbers.items()
        if not math.isfinite(value)
    ]
    wrong += [f"p-value {p}" for p in outcome.pvalues if not 0 < p <= 1]
    wrong += [f"{name} broken" for name in ("order", "same") if outcome.numbers.get(name, 0.0)]
    wrong += ["no JSON"] * (not is_json(outcome.plain))
    wrong += ["nan in a text"] * any(" nan" in text for text in outcome.texts)
    wrong += [f"unexplained reason: {text}" for text in outcome.reasons if not is_explained(text)]
    return wrong


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "chsic" in f.filename and "attack" not in f.filename]
    at = f" at {ours[-1].name}, {ours[-1].filename.rsplit('/', 1)[-1]}" if ours else ""
    return f"{str(error)[:300]!r}{at}"
