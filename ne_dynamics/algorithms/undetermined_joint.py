"""The error of a joint whose acceleration no effort determines."""

from __future__ import annotations

from ne_dynamics.errors import ModelError


class UndeterminedJointError(ModelError):
    """A joint moves nothing with mass or rotor inertia by itself.

    Attributes
    ----------
    coordinate : int
        Index of the joint.
    """

    def __init__(self, coordinate: int) -> None:
        super().__init__(
            f'joint of index {coordinate}: expected that it moves mass or rotor inertia of its '
            'own, got none: the effort does not determine its acceleration'
        )
        self.coordinate = coordinate
