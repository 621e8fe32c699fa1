"""How samples are paired and put into units."""

import numpy as np
import pandas as pd
import pytest

from chsic.data.arguments import read_columns
from chsic.inference.arrangement import arrange
from chsic.inference.given import Given
from chsic.inference.settings import Settings


@pytest.mark.parametrize("numbers", [1, 2])
def test_pairs_do_not_cross_categories(numbers):
    rng = np.random.default_rng(0)
    z = pd.DataFrame(rng.normal(size=(300, numbers)), columns=list("ab")[:numbers])
    z["group"] = rng.choice(["u", "v", "w"], 300)
    given = Given.of(read_columns("z", z), Settings())
    learned = given.learn([rng.normal(size=(300, 1)) for _ in range(2)])
    arranged = arrange(given, 300, learned, rng)
    group = z["group"].to_numpy()
    group = group if given.order is None else group[given.order]
    assert (group[arranged.graph.i] == group[arranged.graph.j]).all()
    assert arranged.graph.n_pairs > 300
    assert arranged.plan.pairs == "nearest"
