"""Former name of a log read from a file; kept for one more release."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from ne_dynamics.logs.log import Log, read_log


class Recording:
    """Former class; use :func:`~ne_dynamics.logs.log.read_log`."""

    @staticmethod
    def of_file(
        source: str,
        recorded: Sequence[str],
        joint_names: Sequence[str],
        topic: str | None = None,
    ) -> Log:
        """Read a log from a CSV file or a bag.

        Parameters
        ----------
        source : str
            Path of the file or bag.
        recorded, joint_names : sequence of str
            Joint names in the log, and in the model.
        topic : str, optional
            Topic in a bag.

        Returns
        -------
        Log

        Raises
        ------
        InputError
            As :func:`~ne_dynamics.logs.log.read_log`.
        """
        warnings.warn(
            'Recording.of_file is going away: use ne_dynamics.logs.log.read_log, which reads logs '
            'of any length',
            DeprecationWarning,
            stacklevel=2,
        )
        return replace(read_log(source, recorded, topic), joint_names=tuple(joint_names))
