"""The parameters `locked_joints.*`: joints that do not move."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.errors import ParameterError
from ne_dynamics.settings import Changes, parameter


@dataclass(frozen=True)
class LockedJoints:
    """Joints that do not move."""

    names: tuple[str, ...] = parameter(
        (), 'Joints to lock (URDF); their links are lumped.', changes=Changes.UNCONFIGURED
    )
    positions: tuple[float, ...] = parameter(
        (),
        'Positions of the locked joints, in the order of `locked_joints.names`. Empty: all at 0.',
        unit='rad or m',
        changes=Changes.UNCONFIGURED,
    )

    def by_name(self) -> dict[str, float]:
        """Return where each of them stands [rad or m].

        Raises
        ------
        ParameterError
            When there are positions, and not one for each.
        """
        names, positions = self.names, self.positions
        if positions and len(names) != len(positions):
            raise ParameterError(
                f'locked_joints.positions: expected {len(names)} values, one for each of '
                f'locked_joints.names, or none, got {len(positions)}'
            )
        return dict(zip(names, positions or (0.0,) * len(names), strict=True))
