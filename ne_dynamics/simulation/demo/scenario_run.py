"""One closed-loop run of a scenario."""

from __future__ import annotations

from dataclasses import dataclass, field

from ne_dynamics.simulation.demo.motion import WaypointMotion
from ne_dynamics.simulation.demo.pictures.run_style import Style
from ne_dynamics.simulation.demo.position_chunks import PositionChunks
from ne_dynamics.simulation.demo.ros_process import Parameters
from ne_dynamics.simulation.recording import SetParameters


@dataclass(frozen=True, eq=False)
class ScenarioRun:
    """What a run has that others have not.

    Attributes
    ----------
    key : str
    style : Style
    node, robot : mapping
        Parameters beside those that all runs share.
    settings : tuple of SetParameters
    must_follow : bool
        Whether it is a failure when the node gives the motion up.
    motion : WaypointMotion, optional
        Instead of the scenario's.
    chunks : PositionChunks, optional
        How the motion is told while it goes on; None: whole, before it begins.
    rest : float
        How long is recorded beyond the motion's end [s]: it may come later than it was sent.
    """

    key: str
    style: Style
    node: Parameters = field(default_factory=dict)
    robot: Parameters = field(default_factory=dict)
    settings: tuple[SetParameters, ...] = ()
    must_follow: bool = True
    motion: WaypointMotion | None = None
    chunks: PositionChunks | None = None
    rest: float = 0.0
