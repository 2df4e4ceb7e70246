"""What is wrong with the logs of a load, before the load is looked for."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

import numpy as np

from ne_dynamics.cli.options.log_source import diagnose
from ne_dynamics.driver import LogDiagnosis
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.logs import Log
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.model.robot import Robot


@dataclass(frozen=True, eq=False)
class DiagnosedLog:
    """A log and what is wrong with it.

    Attributes
    ----------
    name : str
        Of the file.
    log : Log
        That is to be used: repaired where that was asked for.
    diagnosis : LogDiagnosis
    lines : list of str
        For people.
    is_refused : bool
        Whether it must not be used.
    """

    name: str
    log: Log
    diagnosis: LogDiagnosis
    lines: list[str]
    is_refused: bool


def diagnose_load_log(
    args: argparse.Namespace, dynamics: Dynamics, name: str, log: Log, is_loaded: bool
) -> DiagnosedLog:
    """Return what is wrong with a log of the arm, with or without its load.

    What is asked for is no fault: the load, and, with ``--drive-gains``, a factor on the effort of
    each joint.

    Parameters
    ----------
    args : argparse.Namespace
    dynamics : Dynamics
        Of the arm without the load.
    name : str
        Of the log.
    log : Log
    is_loaded : bool

    Raises
    ------
    ModelError
        When there is no link that the load could hang on.
    """
    model = dynamics
    if is_loaded and args.drive_gains:
        robot = _with_known_mass(dynamics.robot, args.mass, args.payload_link)
        model = Dynamics(robot, dynamics.gravity, 'python', dynamics.tolerance)
    diagnosis, used, lines = diagnose(
        args, model, log, has_free_factors=args.drive_gains, has_load=is_loaded
    )
    wrong = diagnosis.remaining if args.repair else diagnosis.errors
    return DiagnosedLog(name, used, diagnosis, lines, bool(wrong) and not args.force)


def _with_known_mass(robot: Robot, mass: float, link: str) -> Robot:
    """Return the robot with the mass of the load at its link; the log may tell where it is."""
    if not (np.isfinite(mass) and mass > 0.0):
        return robot  # what the fit itself refuses
    loaded = robot.with_payload(Inertia(mass, np.zeros(3), np.zeros((3, 3))), link or None)
    return replace(loaded, name=robot.name)
