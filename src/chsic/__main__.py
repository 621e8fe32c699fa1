"""The command ``chsic``, also as ``python -m chsic``."""

import os
import sys

INTERRUPTED = 130  # exit status


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _leave)
        from chsic.show.command_line.entry_point import run

        run()
    except KeyboardInterrupt:  # in the moment before it is handled
        _leave()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "chsic":
            raise
        sys.exit(
            f"chsic: the command line needs {error.name}; "
            "install it with: pip install 'chsic[cli,plot,report]'"
        )
    except SystemExit as end:
        if end.code == INTERRUPTED:
            _leave()
        raise


def _leave(*_: object) -> None:
    """End at once on Ctrl-C: there is nothing to tidy up yet, or all of it was tidied up.

    While libraries are loaded an exception would not do: some of them catch it, and go on or
    complain of something else. When Python ends in its own way, it may send itself the signal
    again, and waits for threads.
    """
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
