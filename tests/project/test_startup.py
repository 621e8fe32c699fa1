"""The package loads at once, and Ctrl-C while its libraries are loaded ends quietly."""

import ast
import json
import signal
import subprocess
import sys
import types
from importlib import resources
from pathlib import Path

import pytest

import chsic
from chsic.measure.figure1 import _interrupted_later

PACKAGE = Path(chsic.__file__).parent
EXAMPLE = str(resources.files("chsic.datasets") / "summer.csv")

# When a module of this name is about to be loaded, Ctrl-C is pressed.
MOMENTS = ["signal", "typer", "numpy", "numpy.linalg", "scipy.special", "polars", "narwhals"]
PRESS = """
import importlib.abc, json, os, runpy, signal, sys, tempfile

class Press(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == self.moment:
            os.kill(os.getpid(), signal.SIGINT)

moments, arguments = json.loads(sys.argv[1]), sys.argv[2:]
started = []
for moment in moments:
    error = tempfile.TemporaryFile()
    child = os.fork()
    if not child:
        os.dup2(error.fileno(), 2)
        sys.argv = ["chsic", *arguments]
        Press.moment = moment
        sys.modules.pop(moment, None)
        sys.meta_path.insert(0, Press())
        runpy.run_module("chsic", run_name="__main__", alter_sys=True)
        sys.exit(99)
    started.append((moment, child, error))
for moment, child, error in started:
    _, status = os.waitpid(child, 0)
    error.seek(0)
    print(json.dumps([moment, os.waitstatus_to_exitcode(status), error.read().decode()]))
"""


@pytest.mark.usefixtures("interrupts_heeded")
def test_an_interrupt_while_libraries_are_loaded_is_status_130_and_silent():
    question = ["test", EXAMPLE, "--x", "ice_cream", "--y", "rescues"]
    done = subprocess.run(
        [sys.executable, "-c", PRESS, json.dumps(MOMENTS), *question],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    ends = [json.loads(line) for line in done.stdout.splitlines()]
    assert ends == [[moment, 130, ""] for moment in MOMENTS]


@pytest.mark.usefixtures("interrupts_heeded")
def test_an_interrupt_that_a_library_disguises_is_an_interrupt(command, monkeypatch):
    def disguise(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise RuntimeError("Error calling __set_name__") from error

    monkeypatch.setattr("chsic.show.cli.open_file", disguise)
    assert command("test", EXAMPLE, "--x", "a", "--y", "b") == (130, "", "")


@pytest.mark.usefixtures("interrupts_heeded")
def test_a_pool_of_processes_is_started_before_an_interrupt_is_heeded():
    done = []

    def start():
        with _interrupted_later():
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_package_itself_loads_nothing():
    code = "import sys, chsic; print([m for m in sys.modules if m.startswith(('chsic', 'numpy'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['chsic']"


def test_no_module_has_the_name_of_a_public_function():
    """An attribute would be the one or the other, as imports happen to be ordered."""
    for name in chsic.__all__:
        if not isinstance(getattr(chsic, name), types.ModuleType):
            assert not (PACKAGE / f"{name}.py").exists()
            assert not (PACKAGE / name).exists()


def test_names_lead_where_type_checkers_take_them_from():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    [checked] = [node for node in tree.body if isinstance(node, ast.If)]
    taken = {alias.name: node.module for node in checked.body for alias in node.names}
    assert set(taken) == set(chsic.__all__)
    for name, module in taken.items():
        value = getattr(chsic, name)
        if isinstance(value, types.ModuleType):
            assert value is sys.modules[f"{module}.{name}"]
        else:
            assert value is getattr(sys.modules[module], name)


def test_public_names_are_attributes_and_other_names_are_none():
    assert dir(chsic) == sorted(chsic.__all__)
    with pytest.raises(AttributeError, match="module 'chsic' has no attribute 'nothing'"):
        _ = chsic.nothing
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from chsic import nothing  # noqa: F401
