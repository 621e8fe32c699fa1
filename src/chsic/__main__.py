"""The command ``chsic``, also as ``python -m chsic``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        from chsic.run import run
    except KeyboardInterrupt:  # while all that is loaded
        sys.exit(130)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "chsic":
            raise
        sys.exit(
            f"chsic: the command line needs {error.name}; "
            "install it with: pip install 'chsic[cli,plot,report]'"
        )
    run()


if __name__ == "__main__":
    main()
