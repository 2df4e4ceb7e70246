"""All published formulations on the same random arms."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ne_dynamics.dynamics import Dynamics
from ne_dynamics.papers.forms import FORMULATIONS, Formulation
from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.random_arms import random_arm
from ne_dynamics.papers.studies.report import (
    DISAGREEMENT,
    Progress,
    ReportTable,
    StudyReport,
    ignore_progress,
    list_disagreements,
)

NAME = 'equivalence'
LARGEST_ARM = 8
"""Joints of the longest arm on which forms are compared."""

GRAVITY = (0.3, -0.2, -9.80665)
"""Tilted, so that no component is hidden [m/s^2]."""


def study(arms: int = 160, seed: int = 4, progress: Progress = ignore_progress) -> StudyReport:
    """Compare every formulation with the production recursion.

    Parameters
    ----------
    arms : int
        Random arms for each formulation, of 1 to 8 joints in turn, as general as it covers.
    seed : int
        Seed of the arms. Arms and motions of one index are the same for all formulations that
        cover the same.
    progress : Progress

    Returns
    -------
    StudyReport
        Disagreements are relative to the largest effort of the arm.
    """
    worst = dict.fromkeys(FORMULATIONS, 0.0)
    sliding = dict.fromkeys(FORMULATIONS, 0)
    for index in range(arms):
        n = 1 + index % LARGEST_ARM
        made: dict[tuple[str, bool], tuple[Arm, list[list[float]], np.ndarray]] = {}
        for name, formulation in FORMULATIONS.items():
            key = (formulation.covers.convention, formulation.covers.prismatic)
            if key not in made:
                made[key] = _make_case(formulation, np.random.default_rng([seed, index]), n)
            arm, motion, expected = made[key]
            computed = formulation.inverse_dynamics(
                arm, *motion[:3], gravity=GRAVITY, wrench=motion[3]
            )
            difference = float(np.abs(np.array(computed, dtype=float) - expected).max())
            relative = difference / float(np.abs(expected).max())
            # What is not a number is not forgotten.
            worst[name] = relative if math.isnan(relative) else max(worst[name], relative)
            sliding[name] += sum(link.is_prismatic for link in arm.links)
        progress(index + 1, arms)
    table = _tabulate(worst, arms, seed)
    data = {'arms': arms, 'seed': seed, 'largest_disagreement': worst, 'sliding_joints': sliding}
    disagreements = list_disagreements(worst, dict.fromkeys(worst, DISAGREEMENT))
    return StudyReport(NAME, (table,), data, disagreements=disagreements)


def _tabulate(worst: Mapping[str, float], arms: int, seed: int) -> ReportTable:
    rows = [
        (
            name,
            formulation.equations,
            formulation.covers.convention,
            'yes' if formulation.covers.prismatic else 'no',
            'any' if formulation.covers.products_of_inertia else 'axial moments',
            f'{worst[name]:.0e}',
        )
        for name, formulation in FORMULATIONS.items()
    ]
    return ReportTable(
        f'Largest disagreement with the production recursion on {arms} random arms of 1 to '
        f'{LARGEST_ARM} joints, relative to the largest torque',
        ('formulation', 'equations', 'DH', 'sliding joints', 'inertia', 'disagreement'),
        rows,
        f'Random lengths, twists, mass centres, tip wrench, viscous friction, gravity tilted; '
        f'seed {seed}.',
    )


def _make_case(
    formulation: Formulation, rng: np.random.Generator, n: int
) -> tuple[Arm, list[list[float]], np.ndarray]:
    covers = formulation.covers
    arm = random_arm(
        rng,
        n,
        covers.convention,
        prismatic=0.3 if covers.prismatic else 0.0,
        principal_axes=not covers.products_of_inertia,
        half_way=not covers.any_center_of_mass,
    )
    motion = [
        rng.uniform(-largest, largest, size).tolist()
        for largest, size in ((2.0, n), (2.0, n), (3.0, n), (10.0, 6))
    ]
    dynamics = Dynamics(arm.robot(), gravity=GRAVITY, backend='python')
    q, qd, qdd, wrench = motion
    expected = dynamics.inverse_dynamics(q, qd, qdd, wrench=wrench)
    return arm, motion, np.asarray(expected, dtype=float)
