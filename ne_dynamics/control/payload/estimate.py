"""What hangs on the flange, from how an arm at rest or in slow motion is measured.

Efforts, and what a wrist sensor reads, are linear in the inertial parameters of a load. At rest
and in slow motion they tell its mass m and its first moment m c; its inertia about its centre of
mass they do not, and it is left out. So of the joint efforts ::

    effort = model without the load + Y (m, m c) + friction + what is wrong with the model

with Y from the model itself: what a load of one unit adds to its inverse dynamics. The unknown
rest is not noise, and is not treated as if it were. It is estimated along, joint by joint, each
with a width of what is believed of it beforehand:

- Coulomb friction beside that of the model, in the direction of motion; at rest half of it in the
  direction of the motion before, for a feedback without integral part stops short of where it
  wants to be. Poses that are approached from both sides tell it from the load.
- Viscous friction beside that of the model.
- An error of scale of the model's own effort.
- An error of the weight beyond each joint, along and across the lever on which it turns: as all
  joints before it feel it. It is what wrong masses and centres of mass of links, and wrong zeros
  of encoders come to, and looks more like a load than an error of scale does.

Beyond that a joint that stands may be held by friction in either direction, one and the same as
long as it stands: so many windows of one pose count as one. What is left is a weighted linear
least-squares problem, in which the load alone has no width beforehand: a direction in which its
variance stays large is one that the poses do not tell. Where friction, scale or weight turn out
larger than believed they are given more width, and the load is known the less; a model that would
have to be wrong by more than a tenth is refused.

The reading of a wrist sensor, in the axes of its link and with a for the acceleration of a point
of the load, ::

    force = m (a - g) summed over the load,  moment = c x force summed alike

has no friction in it, but a bias; that, and an error of scale of the tool of the model, which the
reading contains, are estimated along in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ne_dynamics.control.payload.carrier import Carrier, PayloadSource
from ne_dynamics.control.payload.effort_equations import make_effort_equations
from ne_dynamics.control.payload.motion_windows import Window
from ne_dynamics.control.payload.sensor_equations import make_sensor_equations
from ne_dynamics.control.payload.states import choose_windows
from ne_dynamics.control.payload.thresholds import PAYLOAD
from ne_dynamics.errors import PayloadError
from ne_dynamics.model.rigid_body import FloatArray


@dataclass(frozen=True, eq=False)
class PayloadEstimate:
    """Estimated mass and centre of mass of a payload, with standard deviations.

    Attributes
    ----------
    mass, mass_deviation : float
        Mass and its standard deviation [kg]; 0 if no payload was found.
    center_of_mass, com_deviation : array, shape (3,)
        In the frame of the link [m]; zero if no payload was found.
    link_name : str
    source : PayloadSource
    duration : float
        Total time of the windows used [s].
    misfit : float
        Root mean square of the fit's residuals, divided by their expected standard deviation.
    """

    mass: float
    mass_deviation: float
    center_of_mass: FloatArray
    com_deviation: FloatArray
    link_name: str
    source: PayloadSource
    duration: float
    misfit: float

    @property
    def text(self) -> str:
        """The result in words."""
        basis = f'from {self.duration:.1f} s, by {self.source.value}'
        if self.mass == 0.0:
            return (
                f'no load at {self.link_name!r}: mass 0 +- {self.mass_deviation:.2g} kg, {basis}'
            )
        return (
            f'mass {self.mass:.3f} +- {self.mass_deviation:.2g} kg, centre of mass '
            f'({_numbers(self.center_of_mass)}) +- ({_numbers(self.com_deviation)}) m in '
            f'{self.link_name!r}, {basis}'
        )

    def as_json(self) -> dict[str, Any]:
        """Return the estimate as data for JSON."""
        return {
            'link': self.link_name,
            'mass': self.mass,
            'mass_deviation': self.mass_deviation,
            'center_of_mass': self.center_of_mass.tolist(),
            'center_of_mass_deviation': self.com_deviation.tolist(),
            'source': self.source.value,
            'duration': self.duration,
            'misfit': self.misfit,
        }


def _numbers(values: FloatArray) -> str:
    return ', '.join(f'{value + 0.0:.3f}' for value in values)


def estimate_payload(
    carrier: Carrier, windows: Sequence[Window], source: PayloadSource
) -> PayloadEstimate:
    """Estimate mass and centre of mass of the payload of an arm.

    Parameters
    ----------
    carrier : Carrier
    windows : sequence of Window
        In chronological order. Windows without the source, or with too fast motion, are ignored.
    source : PayloadSource

    Raises
    ------
    PayloadError
        When the payload cannot be identified from the windows; the message says what is missing.
    """
    # Numbers of any size come in; what overflows is refused.
    with np.errstate(all='ignore'):
        used, states = choose_windows(carrier.dynamics.robot, windows, source)
        if source is PayloadSource.WRENCH:
            equations = make_sensor_equations(carrier, used, states)
        else:
            equations = make_effort_equations(carrier, used, states, source)
        found, covariance, misfit = equations.solve(carrier.dynamics.robot)
    load = _find_load(found, covariance, carrier.link_name)
    duration = sum(window.duration for window in used)
    return PayloadEstimate(*load, carrier.link_name, source, duration, misfit)


def _find_load(
    found: FloatArray, covariance: FloatArray, link_name: str
) -> tuple[float, float, FloatArray, FloatArray]:
    """Return mass and centre of mass, each with its deviation after it.

    What no body has or the windows do not tell is refused.
    """
    mass, deviation = float(found[0]), math.sqrt(max(float(covariance[0, 0]), 0.0))
    if deviation > max(PAYLOAD.mass_deviation, PAYLOAD.mass_share * abs(mass)):
        raise PayloadError(
            f'the poses do not determine the mass: {mass:.3g} +- {deviation:.2g} kg; hold more '
            'and other poses, with the load far out, approached from both sides'
        )
    if mass < -PAYLOAD.significant_deviations * deviation:
        raise PayloadError(
            f'a load of {mass:.3g} +- {deviation:.2g} kg is not possible: is the model too heavy '
            '(has a tool of it been taken off), a sign wrong, or does something carry the arm?'
        )
    if mass <= PAYLOAD.significant_deviations * deviation:
        return 0.0, deviation, np.zeros(3), np.zeros(3)
    center, spread = _check_center(found, covariance, deviation, link_name)
    return mass, deviation, center, np.sqrt(np.maximum(np.diag(spread), 0.0))


def _check_center(
    found: FloatArray, covariance: FloatArray, deviation: float, link_name: str
) -> tuple[FloatArray, FloatArray]:
    """Return the centre of mass and its covariance, or refuse it."""
    mass = float(found[0])
    center = found[1:] / mass
    # c = (m c) / m
    slope = np.column_stack([-center, np.eye(3)]) / mass
    spread = slope @ covariance @ slope.T
    distance = float(np.linalg.norm(center))
    if (
        distance
        - PAYLOAD.significant_deviations
        * math.sqrt(max(float(np.linalg.eigvalsh(spread)[-1]), 0.0))
        > PAYLOAD.farthest_com
    ):
        raise PayloadError(
            f'a centre of mass at ({_numbers(center)}) m of {link_name!r} is farther away than '
            f'{PAYLOAD.farthest_com:g} m: does something touch the arm?'
        )
    unknown = _unknown_directions(
        spread, max(PAYLOAD.com_deviation, PAYLOAD.moment_deviation / mass)
    )
    if unknown:
        raise PayloadError(
            f'the poses do not determine the centre of mass along {unknown} of {link_name!r}: '
            'hold poses with the flange turned otherwise against the vertical (the mass is known: '
            f'{mass:.3f} +- {deviation:.2g} kg)'
        )
    return center, spread


def _unknown_directions(covariance: FloatArray, limit: float) -> str:
    """Return the directions in which a point is known worse than a limit [m], in words."""
    variances, directions = np.linalg.eigh(covariance)
    words = []
    for variance, direction in zip(variances, directions.T, strict=True):
        deviation = math.sqrt(max(float(variance), 0.0))
        if deviation <= limit:
            continue
        axis = int(np.abs(direction).argmax())
        if abs(direction[axis]) >= 0.95:
            name = 'xyz'[axis]
        else:
            towards = direction * np.sign(direction[axis])
            name = f'({", ".join(f"{value:.2f}" for value in towards)})'
        words.append(f'{name} (+- {deviation:.2g} m)')
    return ' and '.join(words)
