"""Axes with the opposite direction."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.driver.hypotheses.hypothesis import Hypothesis, Suspicion, TestedLog


@dataclass(frozen=True)
class ReversedAxis(Hypothesis):
    """Position and effort of a joint both have the opposite sign."""

    penalty: float = 1.0

    code = 'axis-sign'

    def test(self, log: TestedLog) -> list[Suspicion]:
        """See :class:`Hypothesis`."""
        return [self.test_joint(log, joint) for joint in log.moving]

    def test_joint(self, log: TestedLog, joint: int) -> Suspicion:
        """Test it of one joint."""
        name = log.robot.joint_names[joint]
        return self.suspect(
            log,
            (joint,),
            lambda reading: reading.with_position((joint,), factor=-1.0).with_effort(
                (joint,), factor=-1.0
            ),
            'position and effort both have the opposite sign',
            f'--position-sign {name} --sign {name}',
            amount=-1.0,
            penalty=self.penalty,
        )
