"""What an identification comes to, as numbers that can be stored and compared again.

Logs of real robots, where they are at hand, and simulated ones. What is stored are the quantities
that a log determines: base parameters, friction, offsets, rotor inertias, masses (which the given
model holds where the log does not), residuals; and findings by code, joint and amount.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from planted_faults import PLANTED_FAULTS, simulate_log
from recorded_robots import LOGS, TORQUE_PER_CURRENT, load_ur10e, read_panda, read_ur10e
from short_arm import short_arm

import ne_dynamics as ned
from ne_dynamics.driver.description import describe_driver
from ne_dynamics.driver.diagnosis import diagnose_log
from ne_dynamics.driver.evidence.effort_factors import compare_with_given
from ne_dynamics.driver.evidence.evidence import LogEvidence, choose_evidence_cutoff
from ne_dynamics.identification.load.payload_fit import NAMES, fit_payload
from ne_dynamics.identification.report.report import Report
from ne_dynamics.identification.run import identify
from ne_dynamics.logs.diagnosis import LogDiagnosis
from ne_dynamics.logs.finding import Finding
from ne_dynamics.logs.log import Log
from ne_dynamics.logs.reading import LogReading
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Robot
from ne_dynamics.shipped import shipped_file

Case = Callable[[Path], tuple[Robot, Log]]

TWELVE, FOURTEEN, LOADED = LOGS
PLANTED = {planted.name: planted.plant for planted in PLANTED_FAULTS}


def _ur10e(name: str, torque_per_current: FloatArray = TORQUE_PER_CURRENT) -> Case:
    def read(folder: Path) -> tuple[Robot, Log]:
        robot = load_ur10e(folder)
        return robot, read_ur10e(robot, name, torque_per_current)

    return read


def _six_axis(folder: Path) -> tuple[Robot, Log]:
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    return robot, simulate_log(robot, 7)


def _three_axes(folder: Path) -> tuple[Robot, Log]:
    """Return the log of an arm of three joints with two faults."""
    robot = ned.load_urdf(short_arm())
    log = simulate_log(robot, 3)
    for name, joint in (('effort sign', 1), ('late 20 ms', 0)):
        log = PLANTED[name](log, joint)
    return robot, log


CASES: dict[str, Case] = {
    'panda': lambda folder: read_panda(),
    'ur10e_12_harmonics': _ur10e(TWELVE),
    'ur10e_14_harmonics': _ur10e(FOURTEEN),
    'six_axis_arm': _six_axis,
    'three_axes_with_faults': _three_axes,
}


def record_identification(name: str, folder: Path) -> dict[str, Any]:
    """Return what is found in a log, and the model of it without what is wrong.

    Parameters
    ----------
    name : str
        One of `CASES`.
    folder : Path
        For model files.
    """
    robot, log = CASES[name](folder)
    diagnosis = diagnose_log(robot, log)
    report = identify(robot, diagnosis.repaired).report
    return {'findings': list(_list_findings(diagnosis, report)), **_describe(report)}


def record_load(folder: Path) -> dict[str, Any]:
    """Return the load of a UR10e, by a log with it and one without."""
    robot = load_ur10e(folder)
    fit = fit_payload(robot, read_ur10e(robot, LOADED), without=read_ur10e(robot, FOURTEEN))
    rows = zip(NAMES, fit.values, fit.deviation, fit.determined, strict=True)
    return {
        'parameters': {
            name: {**_measured(float(value), float(deviation)), 'is_determined': bool(known)}
            for name, value, deviation, known in rows
        },
        'rms_before': dict(zip(fit.joints, map(float, fit.rms_before), strict=True)),
        'rms_after': dict(zip(fit.joints, map(float, fit.rms_after), strict=True)),
    }


DRIVERS: dict[str, Case] = {'panda': CASES['panda'], 'ur10e': _ur10e(TWELVE, np.ones(6))}
"""Logs whose driver is described: of the UR10e the motor currents as they were recorded."""


def record_driver(name: str, folder: Path) -> dict[str, Any]:
    """Return what is found of the driver that wrote a log: values and how sure, without words."""
    document = describe_driver(*DRIVERS[name](folder)).as_json()
    del document['source']
    for fault in document['faults']:
        del fault['message'], fault['remedy']
    return _without_words(document)


def _without_words(document: Any) -> Any:
    if isinstance(document, dict):
        return {
            key: _without_words(value)
            for key, value in document.items()
            if key not in ('text', 'experiment') and not (key == 'deviation' and value is None)
        }
    if isinstance(document, list):
        return [_without_words(value) for value in document]
    return str(document) if isinstance(document, str) else document


def record_planted_faults() -> dict[str, Any]:
    """Return what is found in one simulated log with each of the faults that can be planted."""
    robot = ned.load_urdf(short_arm())
    log = simulate_log(robot, 3)
    found = {}
    for name, plant in PLANTED.items():
        diagnosis = diagnose_log(robot, plant(log, 1))
        found[name] = [_describe_fault(fault) for fault in diagnosis.faults]
    return found


def _describe_fault(fault: Finding) -> dict[str, Any]:
    return {
        'severity': fault.severity,
        'code': fault.code,
        'of': list(map(str, fault.joints)),
        'amount': fault.amount,
        'is_certain': fault.is_certain,
    }


def record_evidence() -> dict[str, Any]:
    """Return what readings of one simulated log cost, and what is found on the way there."""
    robot, _ = _six_axis(Path())
    log = simulate_log(robot, 5, hysteresis=0.5)
    dynamics = ned.Dynamics(robot, backend='python')
    recorded = LogReading.as_recorded(robot.n)
    readings = {
        'recorded': recorded,
        'without_gravity': replace(recorded, without_gravity=True),
        'with_load': replace(recorded, has_load=True),
        'reversed_position': recorded.with_position((0,), factor=-1.0),
        'late': replace(recorded, effort_delay=np.full(robot.n, 0.012)),
    }
    usual = LogEvidence(dynamics, log)
    views = {
        'usual': usual,
        'paths': usual.with_paths(),
        'fast': LogEvidence(dynamics, simulate_log(robot, 5, duration=60.0), 10.0),
        'currents': LogEvidence(dynamics, log, has_free_factors=True, has_load=True),
    }
    found: dict[str, Any] = {
        name: {
            reading: [view.explain(one).cost, *view.explain(one).left.tolist()]
            for reading, one in readings.items()
        }
        for name, view in views.items()
    }
    compared = compare_with_given(usual, recorded)
    slow = simulate_log(robot, 3, rate=10.0)
    return found | {
        'cutoff_at_10_hz': choose_evidence_cutoff(slow),
        'signs': usual.free_signs(recorded)[1],
        'constants': [values.tolist() for values in usual.find_constants(recorded)],
        'factors': [compared.factors.tolist(), compared.weights.tolist()],
        'effort_in_amperes': np.abs(views['currents'].get_effort(recorded)).mean(axis=0).tolist(),
    }


def _list_findings(diagnosis: LogDiagnosis, report: Report) -> Iterator[dict[str, Any]]:
    """Yield what is said of a log and of the fit to it, without its words."""
    for fault in diagnosis.faults:
        yield _describe_fault(fault)
    for finding in report.findings:
        # How much a finding of the fit amounts to is among the masses and residuals.
        yield {'severity': finding.severity, 'code': finding.code, 'of': [finding.element]}


FIGURES = ('fitted', 'held_out', 'repeated', 'outliers', 'blocks', 'cutoff_frequency')
FIGURES += ('spread', 'identifiable', 'determined', 'condition_number')
"""Numbers of a report that are stored as they are."""


def _describe(report: Report) -> dict[str, Any]:
    """Return the numbers of a report; what has a standard deviation has it beside it."""
    joints = {}
    for joint in report.joints:
        numbers = {'viscous_friction': joint.viscous, 'coulomb_friction': joint.coulomb}
        numbers |= joint.drive
        joints[joint.after.name] = {
            'samples': joint.samples,
            'rms_measured': joint.after.rms_measured,
            'rms_of_given': joint.before.rms_difference,
            'rms_of_identified': joint.after.rms_difference,
            'rms_cross_validated': joint.cross_validated,
            'noise': joint.noise,
            'correlation': joint.correlation,
            **{
                key: _measured(after, deviation)
                for key, (_, after, deviation) in sorted(numbers.items())
            },
        }
    return {
        **{key: getattr(report, key) for key in FIGURES},
        'joints': joints,
        'bodies': {
            body.name: {'mass': _measured(body.after.mass, body.mass_deviation)}
            for body in report.bodies
        },
        'base_parameters': {
            item.name: {
                'unit': item.unit,
                'identified': _measured(item.identified, item.deviation),
                'by_the_log_alone': _measured(item.value, item.deviation),
            }
            for item in report.base_parameters
        },
    }


def _measured(value: float, deviation: float) -> dict[str, float]:
    """Return a number beside what it is uncertain by, if that is known."""
    return {'value': value} | ({'deviation': deviation} if math.isfinite(deviation) else {})
