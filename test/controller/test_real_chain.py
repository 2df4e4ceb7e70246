"""joint_trajectory_controller itself, before a controller that was written, before a MuJoCo arm.

The errors in the table of `doc/real_time.md` are measured anew. Needs JTC compiled:
`test/real_jtc/README.md`.
"""

from multiprocessing import get_context

import numpy as np
import pytest
import yaml
from controller_bench import write_package
from document_tables import compare_errors
from real_chain import ChainProcess, compile_chain
from real_jtc import MISSING

import ne_dynamics as ned
from ne_dynamics.motion.waypoints import TrajectoryPoint
from ne_dynamics.shipped import shipped_file

pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from motion_loop import MotionLoop

from ne_dynamics.simulation.demo.motion import excitation
from ne_dynamics.simulation.demo.node_messages import trajectory_message
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import Answer, OneProcessLoop

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

PAGE = 'real_time.md'
START = 100.0
LOOPS = [(500, 100.0, 20.0), (1000, 100.0, 20.0), (500, 394.2, 27.8)]
"""Rate and gains. The last are those that `ne_dynamics gains` computes for this loop."""


@pytest.fixture(scope='module')
def motion():
    """Return the motion of the demo, of two seconds, which uses up to 0.8 of the efforts."""
    robot = ned.load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    return excitation(robot, 2.0, ned.Dynamics(robot, backend='python').inverse_dynamics)


@pytest.fixture(scope='module')
def chain_of(motion, tmp_path_factory):
    """Return what makes a chain that stands where the motion begins, by rate and gains."""
    folder = tmp_path_factory.mktemp('chain')
    package = folder / 'arm_controller'
    write_package(motion.robot, package)
    library = compile_chain(package, folder / 'build')
    position = motion.positions[0]
    effort = ned.Dynamics(motion.robot, backend='python').gravity_torque(position)
    text = shipped_file('six_axis_arm.urdf').read_text(encoding='utf-8')
    with ChainProcess(ctx=get_context('spawn')) as process:

        def make(rate, kp=100.0, kv=20.0):
            period = 1.0 / rate
            content = yaml.safe_load((package / 'config/controllers.yaml').read_text())
            own = content[f'/**/{package.name}']['ros__parameters']
            own |= {'computed_torque.kp': [kp], 'computed_torque.kv': [kv]}
            file = folder / 'parameters.yaml'
            file.write_text(yaml.safe_dump(content))
            given = library, package.name, file, text, rate, START - period
            chain = process.RealChain(*given, position, effort)
            chain.update(START - period, position, np.zeros(position.size), effort)
            return chain

        yield make


def send(chain, motion, now):
    """Send the motion as a trajectory."""
    from rclpy.serialization import serialize_message

    rows = motion.times.tolist(), motion.positions, motion.velocities, motion.accelerations
    points = [
        TrajectoryPoint(round(time, 9), *values) for time, *values in zip(*rows, strict=True)
    ]
    message = trajectory_message(motion.robot.joint_names, points)
    assert chain.receive(bytes(serialize_message(message)), now)


def follow(chain, motion, rate):
    """Return the run of the motion by the chain, and the references that JTC wrote."""
    arm = MujocoArm(motion.robot, period=1.0 / rate)
    arm.reset(motion.positions[0])
    send(chain, motion, START - 1.0 / rate)
    references = []

    def answer(reading):
        cycle = chain.update(
            START + reading.time, reading.position, reading.velocity, reading.effort
        )
        assert cycle.is_ok
        references.append(cycle.reference)
        return Answer(cycle.command, cycle.reference[0])

    return OneProcessLoop(arm, answer).run(motion.duration + 1.0), np.array(references)


@pytest.mark.parametrize(('rate', 'kp', 'kv'), LOOPS)
def test_the_page_has_the_errors_of_the_chain(chain_of, motion, rate, kp, kv):
    """Against what JTC asked for in each cycle, which is the state of the next one."""
    chain = chain_of(rate, kp, kv)
    run, references = follow(chain, motion, rate)
    chain.close()
    compare_errors(PAGE, f'JTC and the controller, {kp:g}/{kv:g}, {rate} Hz', run.error)
    # JTC leads by one period.
    times = np.arange(len(references)) / rate + 1.0 / rate
    moving = times < motion.duration
    wanted = motion.sample(times[moving]).position
    np.testing.assert_allclose(references[moving, 0], wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize(('rate', 'kp', 'kv'), LOOPS)
def test_the_page_has_the_errors_of_the_node(motion, rate, kp, kv):
    """On the same motion with the same gains."""
    controller = MotionLoop(motion.robot, motion, kp=kp, kv=kv).controller
    controller.motion.follow(motion.waypoints())
    arm = MujocoArm(motion.robot, period=1.0 / rate)
    arm.reset(motion.positions[0])
    run = OneProcessLoop(arm, controller).run(motion.duration + 1.0)
    compare_errors(PAGE, f'the node, {kp:g}/{kv:g}, {rate} Hz', run.error)


def test_an_error_ends_the_chain_with_a_command_against_gravity(chain_of, motion):
    """A state that is no number: the controller's last command stays when both are deactivated."""
    chain = chain_of(500)
    position = motion.positions[0]
    effort = ned.Dynamics(motion.robot, backend='python').gravity_torque(position)
    still = np.zeros(position.size)
    chain.update(START, position, still, effort)
    cycle = chain.update(START + 0.002, np.full(position.size, np.nan), still, effort)
    assert not cycle.is_ok
    np.testing.assert_allclose(cycle.command, effort, atol=1e-9)
    np.testing.assert_allclose(chain.stop(), effort, atol=1e-9)
    chain.close()
