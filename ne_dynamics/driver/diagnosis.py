"""What is wrong with a log, by cause and joint, before anything is fitted to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ne_dynamics.driver.evidence.evidence import LogEvidence
from ne_dynamics.driver.fault_search import FaultSearch
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.identification.evaluation import as_dynamics, require_joints
from ne_dynamics.logs import Log, LogDiagnosis, LogReading
from ne_dynamics.logs.diagnosis import DiagnosedLogs
from ne_dynamics.logs.parts import change_in_parts, is_long
from ne_dynamics.logs.robot_logs import RobotLogs
from ne_dynamics.logs.samples.sample_checks import check_samples
from ne_dynamics.logs.work import Work
from ne_dynamics.model.rigid_body import Inertia
from ne_dynamics.model.robot import Robot


def diagnose_log(
    model: Robot | Dynamics,
    log: Log,
    *,
    cutoff_frequency: float | None = None,
    has_free_factors: bool = False,
    has_load: bool = False,
    work: Work | None = None,
) -> LogDiagnosis:
    """Find faults of a log: units, signs, order, delays and single bad samples.

    Parameters
    ----------
    model : Robot or Dynamics
        Model of the arm. For a Robot, gravity is (0, 0, -9.80665) in base axes.
    log : Log
        With the joints of the model, in its order.
    cutoff_frequency : float, optional
        Low-pass for positions and efforts [Hz]; default: chosen from the motion.
    has_free_factors : bool
        Whether the effort of each joint may have a unit of its own, such as motor currents: a
        factor is then not a fault.
    has_load : bool
        Whether the arm carries a load that the model does not have.
    work : Work, optional
        Executes the computations on parts of a long log; default: in this process.

    Returns
    -------
    LogDiagnosis

    Raises
    ------
    InputError
        When the log has other joints.
    """
    dynamics = as_dynamics(model)
    robot = dynamics.robot
    require_joints(robot, log)
    work = work or Work()
    repaired, faults = check_samples(robot, log, work)
    evidence = LogEvidence.find(
        dynamics,
        repaired,
        cutoff_frequency,
        has_free_factors=has_free_factors,
        has_load=has_load,
    )
    if evidence is None:
        # Too short or too slow to be filtered, which the fit itself refuses, or of an arm at rest.
        return LogDiagnosis(tuple(faults), (), repaired, LogReading.as_recorded(robot.n))
    search = FaultSearch(robot, evidence, faults)
    search.run()
    if any(fault.is_certain for fault in search.faults):
        delay = float(np.abs(search.certain.effort_delay).max())
        repaired = change_in_parts(repaired, search.certain.read_log, work, delay)
    untold = tuple(search.list_unidentifiable())
    return LogDiagnosis((*faults, *search.faults), untold, repaired, search.certain)


def diagnose_logs(
    dynamics: Dynamics, source: RobotLogs, work: Work, *, is_repaired: bool
) -> DiagnosedLogs:
    """Find the faults of each log, and repair those that are certain where that is asked for."""
    if any(map(is_long, source.logs)):
        found = [diagnose_log(dynamics, log, work=work) for log in source.logs]
    else:
        found = list(work.map('diagnose', _diagnose, [(log,) for log in source.logs], dynamics))
    return DiagnosedLogs(source, tuple(found), is_repaired)


def _diagnose(log: Log, dynamics: Dynamics) -> LogDiagnosis:
    return diagnose_log(dynamics, log)


def diagnose_load_logs(
    dynamics: Dynamics,
    source: RobotLogs,
    *,
    is_repaired: bool,
    mass: float | None = None,
    link_name: str = '',
) -> DiagnosedLogs:
    """Find the faults of a log with a load that the model lacks, and of one without it.

    What is asked for is no fault: the load of the first log, and, where its mass is known [kg], a
    factor on the effort of each joint.
    """
    models = [dynamics] * len(source.logs)
    if mass is not None and np.isfinite(mass) and mass > 0.0:  # the fit refuses others
        load = Inertia(mass, np.zeros(3), np.zeros((3, 3)))
        robot = dynamics.robot.with_payload(load, link_name or None)
        robot = replace(robot, name=dynamics.robot.name)
        models[0] = Dynamics(robot, dynamics.gravity, 'python', dynamics.tolerance)
    found = [
        diagnose_log(model, log, has_free_factors=mass is not None, has_load=not index)
        for index, (model, log) in enumerate(zip(models, source.logs, strict=True))
    ]
    return DiagnosedLogs(source, tuple(found), is_repaired)
