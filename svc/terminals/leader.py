"""The first program of a terminal, run by the bare interpreter: it makes its standard input the controlling terminal of
its session, and becomes the shell.

The session's leader has to do that itself, and in a process with threads nothing is safe to do between fork and exec.
"""

import fcntl
import os
import signal
import sys
import termios

NOT_STARTED = 127
"""The exit status that shells use for it."""


def main(shell: str) -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # Resets ignored signals, which the shell would inherit and keep ignoring: the interpreter ignores some, and a
    # service that was started in the background of a script, or by nohup, ignores ^C and the hang-up.
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        os.execv(shell, [f"-{os.path.basename(shell)}"])  # noqa: S606  a login shell, by how it is called
    except OSError as error:
        sys.stderr.write(f"{shell} can't be started: {error.strerror}. SVC_SHELL names the shell of terminals.\n")
        sys.exit(NOT_STARTED)


if __name__ == "__main__":
    main(sys.argv[1])
