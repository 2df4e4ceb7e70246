"""Scripts in an interpreter of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any


def run_script(
    code: str, *arguments: Any, folder: Any = None, **environment: str | None
) -> subprocess.CompletedProcess[str]:
    """Run a script; a variable of the environment that is None is left out.

    Parameters
    ----------
    code : str
    *arguments
        Of the script.
    folder : path-like, optional
        In which it is run; the present one when omitted.
    **environment
        Variables that are other than here.
    """
    variables = {**os.environ, **environment}
    return subprocess.run(
        [sys.executable, '-X', 'faulthandler', '-c', code, *map(str, arguments)],
        cwd=folder,
        env={name: value for name, value in variables.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def output_of(code: str, *arguments: Any, **how: Any) -> str:
    """Return what a script prints, which has to end well; see :func:`run_script`."""
    ended = run_script(code, *arguments, **how)
    assert ended.returncode == 0, (ended.returncode, ended.stderr[-3000:])
    return ended.stdout
