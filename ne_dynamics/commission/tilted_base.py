"""A base that does not stand as the model has it: gravity then pulls another way."""

from __future__ import annotations

from dataclasses import replace

from ne_dynamics.driver import diagnose_log
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.logs import Finding, Log


def find_tilted_base(given: Dynamics, log: Log) -> list[Finding]:
    """Return the tilt of the base, if a log shows one of 4 degrees and more; the angle in [rad].

    The log has the efforts that acted, the given model the base as it should stand.
    """
    return [
        replace(fault, joints=(), remedy='Level it, or turn the base in the URDF as it stands')
        for fault in diagnose_log(given, log).faults
        if fault.code == 'base-tilted'
    ]
