"""The former name of a log in a file, for one more release."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from ne_dynamics.logs.log import Log, read_log


class Recording:
    """What :func:`~ne_dynamics.logs.log.read_log` does now."""

    @staticmethod
    def of_file(
        source: str,
        recorded: Sequence[str],
        joint_names: Sequence[str],
        topic: str | None = None,
    ) -> Log:
        """Read a CSV file or a bag.

        Parameters
        ----------
        source : str
            Its path.
        recorded, joint_names : sequence of str
            Joints as the log calls them, and as the model does.
        topic : str, optional
            Of a bag.

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
