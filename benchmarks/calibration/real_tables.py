"""Real tables that come with scikit-learn and statsmodels: nothing is downloaded."""

import functools
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files

import numpy as np
import pandas as pd

FILLED = 0.95  # share of rows from which a column has too little to say, or too much missing
SAME = 0.99  # rank correlation from which two columns are the same one in other units
STEP, AWAY = 4, 8  # pixels between rows of a photograph's table, and from a pixel to its neighbours


def _of_statsmodels(path: str, separator: str, leave_out: Sequence[str] = ()) -> pd.DataFrame:
    with as_file(files("statsmodels").joinpath(path)) as found:
        return pd.read_csv(found, sep=separator).drop(columns=[*leave_out])


def _of_scikit_learn(loader: str) -> pd.DataFrame:
    from sklearn import datasets

    return pd.DataFrame(getattr(datasets, loader)().data)


def _photograph(name: str) -> pd.DataFrame:
    """Return the colours of every fourth pixel, and of four others around it."""
    from sklearn.datasets import load_sample_image

    image = load_sample_image(name).astype(np.float64)
    height, width, _ = image.shape
    places = ((0, 0), (0, AWAY), (0, -AWAY), (AWAY, 0), (-AWAY, 0))
    colours = [
        image[AWAY + down : height - AWAY + down : STEP, AWAY + right : width - AWAY + right : STEP]
        for down, right in places
    ]
    return pd.DataFrame(np.concatenate(colours, axis=2).reshape(-1, 3 * len(places)))


_READ: dict[str, Callable[[], pd.DataFrame]] = {
    # 569 tumours, measured under a microscope.
    "breast_cancer": functools.partial(_of_scikit_learn, "load_breast_cancer"),
    # 1,797 written digits, a column for each pixel.
    "digits": functools.partial(_of_scikit_learn, "load_digits"),
    # 944 voters, American National Election Study 1996.
    "anes96": functools.partial(_of_statsmodels, "datasets/anes96/anes96.csv", "\t"),
    # 3,629 old patients: visits to doctors, income, health.
    "doctor_visits": functools.partial(
        _of_statsmodels, "sandbox/regression/tests/racd10data_with_transformed.csv", ","
    ),
    # 4,642 births, of Cattaneo (2010).
    "births": functools.partial(_of_statsmodels, "treatment/tests/results/cataneo2.csv", ","),
    # 6,366 women, of Fair (1978).
    "fair": functools.partial(_of_statsmodels, "datasets/fair/fair.csv", ","),
    # 20,190 years of insured persons, RAND Health Insurance Experiment; zper names persons.
    "randhie": functools.partial(
        _of_statsmodels, "datasets/randhie/src/randhie.csv", ",", ("zper",)
    ),
    # About 16,000 pixels of a temple and of a flower.
    "china": functools.partial(_photograph, "china.jpg"),
    "flower": functools.partial(_photograph, "flower.jpg"),
}
TABLES = tuple(_READ)


@functools.cache
def read(name: str) -> np.ndarray:
    """Return the numbers of a table, (rows, columns); see `columns_that_differ`."""
    return columns_that_differ(_READ[name]())


def columns_that_differ(table: pd.DataFrame) -> np.ndarray:
    """Return columns of numbers that vary and do not repeat another, where none is missing.

    A column is left out if it is no number, if one value or missing ones fill most of it, or if it
    is another column in other units: income and its logarithm.
    """
    numbers = table.select_dtypes("number").astype(np.float64)
    numbers = numbers.loc[:, numbers.isna().mean() < 1 - FILLED].dropna()
    most = numbers.apply(lambda column: column.value_counts(normalize=True).iloc[0])
    numbers = numbers.loc[:, most < FILLED]
    alike = np.triu(numbers.rank().corr().abs().to_numpy(), k=1) > SAME
    return numbers.loc[:, ~alike.any(axis=0)].to_numpy()
