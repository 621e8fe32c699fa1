"""Build the wheel and the source distribution, and use both in clean environments.

Run by ``make package``. What must hold: the wheel installs with the core dependencies and nothing
else, and computes, also without finufft; it says what it lacks when the command line is asked for;
every extra that users are told of installs, from the source distribution as well, and the command
line then works.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
# packaging: finufft's
CORE = {
    "array-api-compat",
    "cachetools",
    "chsic",
    "finufft",
    "numpy",
    "packaging",
    "scipy",
    "threadpoolctl",
}
EXTRAS = ("cli", "frames", "plot", "report", "screen")

MEASURE = """
import chsic
day = chsic.datasets.summer()
print(chsic.__version__, chsic.chsic(day["ice_cream"], day["rescues"], day["temperature"]) > 0)
"""
QUESTION = ("--x", "ice_cream", "--y", "lemonade", "--given", "temperature", "--json")


class Environment:
    """A clean environment in a folder."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False)
        self.python = folder / "bin" / "python"

    def pip(self, *arguments: str) -> None:
        pip = (sys.executable, "-m", "pip", "--python", str(self.python))
        run(*pip, "--disable-pip-version-check", *arguments)

    def install(self, what: str) -> None:
        self.pip("install", "--quiet", what)

    def installed(self) -> set[str]:
        code = "import importlib.metadata as m; print(*(d.name for d in m.distributions()))"
        return {name.lower() for name in self(code).split()}

    def __call__(self, code: str) -> str:
        return run(str(self.python), "-c", code)

    def command(self, *arguments: str, status: int = 0) -> str:
        return run(str(self.python), "-m", "chsic", *arguments, status=status)


def run(*command: str, status: int = 0) -> str:
    # Elsewhere than in the repository, so that what is imported is what was installed.
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=elsewhere)
    if done.returncode != status:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def require(holds: bool, message: str) -> None:
    if not holds:
        sys.exit(message)


def check_wheel(wheel: Path, version: str, folder: Path) -> None:
    environment = Environment(folder)
    environment.install(str(wheel))
    found = environment.installed()
    require(found == CORE, f"the wheel installs {sorted(found)}, wanted are {sorted(CORE)}")
    require(environment(MEASURE).split() == [version, "True"], "the wheel does not compute")
    message = environment.command("--version", status=1)
    require("pip install 'chsic[cli" in message, f"the remedy is missing in: {message}")
    environment.pip("uninstall", "--quiet", "--yes", "finufft")
    require(environment(MEASURE).split() == [version, "True"], "it needs finufft to compute")


def check_source(source: Path, version: str, folder: Path) -> None:
    environment = Environment(folder)
    environment.install(f"{source}[{','.join(EXTRAS)}]")
    require(version in environment.command("--version"), "python -m chsic tells no version")
    data = ROOT / "src" / "chsic" / "datasets" / "summer.csv"
    answer = json.loads(environment.command("test", str(data), *QUESTION))
    require(answer["pvalue"] < 1e-6, f"the command line answers {answer['pvalue']}")
    page = folder / "report.html"  # whose templates are files of the package
    environment.command("report", str(data), *QUESTION[:-1], "--out", str(page))
    require("related to lemonade" in page.read_text(encoding="utf-8"), "the report has no answer")


def main() -> None:
    for old in DIST.glob("chsic-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    (wheel,), (source,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    version = wheel.name.split("-")[1]
    with tempfile.TemporaryDirectory() as folder:
        check_wheel(wheel, version, Path(folder) / "wheel")
        check_source(source, version, Path(folder) / "source")
    print(f"{wheel.name} and {source.name} install and work in clean environments")


if __name__ == "__main__":
    main()
