"""Node and robot on two machines, as network namespaces: joined by a cable that can be cut."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
pytest.importorskip('mujoco', reason='MuJoCo is not installed: pip install "ne_dynamics[sim]"')

SCENARIO = Path(__file__).parents[1] / 'support' / 'network_scenario.py'
TIME_LIMIT = 180.0
"""Seconds after which a scenario that hangs is ended."""


def run(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120.0)
    if ended.returncode:
        raise OSError(f'{" ".join(command)}: {ended.stderr.strip() or ended.returncode}')
    return ended.stdout


def wait_for_carrier(namespace: str, link: str) -> None:
    """Wait until an interface is in operation: DDS passes over those that are not yet."""
    deadline = time.monotonic() + 120.0
    while 'state UP' not in run('ip', '-n', namespace, '-o', 'link', 'show', 'dev', link):
        if time.monotonic() > deadline:
            raise OSError(f'{link} in {namespace} has no carrier')
        time.sleep(0.05)


@pytest.fixture
def namespaces() -> Iterator[tuple[str, str, str]]:
    """Return the names of two network namespaces that a cable joins, and of its second end."""
    if shutil.which('ip') is None or os.geteuid() != 0:
        pytest.skip('network namespaces: need the command ip (iproute2), and to be root')
    number = os.getpid()
    names, links = (
        tuple(f'{kind}{number}'[:15] for kind in kinds)
        for kinds in (('ned_node_', 'ned_robot_'), ('nedn', 'nedr'))
    )
    with ExitStack() as made:
        try:
            for name in names:
                run('ip', 'netns', 'add', name)
                # The links go with them.
                made.callback(run, 'ip', 'netns', 'delete', name)
            run(
                *('ip', '-n', names[0], 'link', 'add', links[0], 'type', 'veth'),
                *('peer', 'name', links[1], 'netns', names[1]),
            )
            for index, (name, link) in enumerate(zip(names, links, strict=True)):
                run('ip', '-n', name, 'address', 'add', f'10.213.77.{index + 1}/24', 'dev', link)
                for each in ('lo', link):
                    run('ip', '-n', name, 'link', 'set', each, 'up')
            for name, link in zip(names, links, strict=True):
                wait_for_carrier(name, link)
        except OSError as error:
            pytest.skip(f'network namespaces cannot be made here: {error}')
        yield *names, links[1]


@pytest.mark.long
def test_the_network_is_cut_and_joined_again(namespaces, tmp_path: Path) -> None:
    """Cut off from the robot in the middle of a motion, the node sends a last command against
    gravity and reports an error; the robot keeps its last effort; joined again, the arm is held
    where it is measured to be, without a step, and follows the next trajectory.
    """
    node, robot, link = namespaces
    environment = {
        **os.environ,
        # Shared memory would reach from one namespace into the other.
        'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4',
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET',
    }
    # A daemon or a profile of the machine is not for these two.
    for name in ('ROS_DISCOVERY_SERVER', 'ROS_STATIC_PEERS', 'FASTRTPS_DEFAULT_PROFILES_FILE'):
        environment.pop(name, None)
    output = tmp_path / 'output.txt'
    with output.open('wb') as file:
        scenario = subprocess.Popen(
            ['ip', 'netns', 'exec', node, sys.executable, SCENARIO, robot, link],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        code = scenario.wait(timeout=TIME_LIMIT)
    finally:
        # It ends what it has started.
        if scenario.poll() is None:
            scenario.send_signal(signal.SIGINT)
            try:
                scenario.wait(timeout=60.0)
            finally:
                scenario.kill()
    assert code == 0, output.read_text(errors='replace')
