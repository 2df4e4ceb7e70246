"""What a real arm meets, and what the node's answer to it is worth.

Each scenario is a few closed-loop runs, one of them without the means that it is about.
"""

from __future__ import annotations

from collections.abc import Mapping

from ne_dynamics.simulation.demo.chunk_scenario import Chunks
from ne_dynamics.simulation.demo.control_laws import ControlLaws
from ne_dynamics.simulation.demo.scenario import Scenario
from ne_dynamics.simulation.demo.sensor_loss import SensorLoss
from ne_dynamics.simulation.demo.tilted_base import TiltedBaseScenario
from ne_dynamics.simulation.demo.tool_load import ToolLoad
from ne_dynamics.simulation.demo.weak_motors import WeakMotors
from ne_dynamics.simulation.demo.wrong_model import WrongModel

SCENARIOS: Mapping[str, type[Scenario]] = {
    scenario.name: scenario
    for scenario in (
        ControlLaws,
        ToolLoad,
        TiltedBaseScenario,
        WrongModel,
        SensorLoss,
        Chunks,
        WeakMotors,
    )
}
"""By name, the one without which the demo goes first."""
