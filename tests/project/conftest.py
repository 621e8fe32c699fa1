"""Modules that are no part of the package: what makes tables of the pages, and tools."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def tables():
    return module(ROOT / "docs" / "_ext" / "tables.py")


@pytest.fixture(scope="module")
def licences():
    return module(ROOT / "tools" / "licences.py")
