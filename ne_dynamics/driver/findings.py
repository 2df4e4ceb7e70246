"""What was found of a driver, joint by joint: the verdicts, without a word on how to show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ne_dynamics.driver.command import CommandEffect
from ne_dynamics.driver.effort import JointEffort
from ne_dynamics.driver.timing import Timing
from ne_dynamics.driver.velocity import JointVelocity
from ne_dynamics.driver.verdict import Verdict
from ne_dynamics.json_numbers import finite_or_none
from ne_dynamics.logs import Finding


@dataclass(frozen=True)
class JointDriver:
    """What a driver publishes of one joint.

    Attributes
    ----------
    name : str
    effort : JointEffort
    velocity : JointVelocity
    position_step, velocity_step, effort_step : Verdict
        Resolutions, in the unit of each.
    moved : bool
        Whether the joint moved; otherwise effort and velocity cannot be checked.
    """

    name: str
    effort: JointEffort
    velocity: JointVelocity
    position_step: Verdict
    velocity_step: Verdict
    effort_step: Verdict
    moved: bool = True

    def list_unseen(self) -> tuple[str, ...]:
        """Return what could not be checked because the joint did not move."""
        if self.moved:
            return ()
        found = [] if self.effort.meaning.is_told else ['what its effort is, its sign and unit']
        found += [] if self.velocity.source.is_told else ['where its velocity comes from']
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """Return the verdicts as data for JSON."""
        return {
            'joint': self.name,
            'moved': self.moved,
            **{
                f'effort_{key}': value.as_json()
                for key, value in self.effort.get_verdicts().items()
            },
            'velocity': self.velocity.source.as_json(),
            'velocity_lag': finite_or_none(self.velocity.lag),
            'velocity_lag_deviation': finite_or_none(self.velocity.lag_deviation),
            'velocity_gain': finite_or_none(self.velocity.gain),
            'position_step': self.position_step.as_json(),
            'velocity_step': self.velocity_step.as_json(),
            'effort_step': self.effort_step.as_json(),
        }


@dataclass(frozen=True, eq=False)
class DriverFindings:
    """What a driver publishes, and with which delay.

    Attributes
    ----------
    source : str
        Name of the recording.
    joints : tuple of JointDriver
    timing : Timing
    effort : Verdict
        Meaning of the efforts of all joints together.
    effort_scale : Verdict
        Effort per reported unit of all joints together, if it is another unit [N m or N].
    effort_delay : Verdict
        Delay of the reported efforts behind the motion [s].
    command : CommandEffect
    faults : tuple of Finding
        Faults of the samples and positions, without the meaning of the efforts.
    """

    source: str
    joints: tuple[JointDriver, ...]
    timing: Timing
    effort: Verdict
    effort_scale: Verdict
    effort_delay: Verdict
    command: CommandEffect
    faults: tuple[Finding, ...]
