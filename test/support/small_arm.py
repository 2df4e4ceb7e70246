"""An arm of three joints that is quick to commission, behind DDS at 250 states a second."""

import contextlib

from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

from ne_dynamics.commission.arm.simulated_arm import prepare_simulated_arm
from ne_dynamics.commission.folder import CommissionFolder
from ne_dynamics.commission.steps import perform
from ne_dynamics.commission.subject import CommissionedArm

RATE = 250.0

Y = '0 1 0'
URDF = robot_xml(
    'base',
    link_xml('column', 4, '0.01 0.02 0.1', moments=(0.03, 0.03, 0.03)),
    link_xml('upper', 3, '0.15 0.01 0', moments=(0.03, 0.03, 0.03)),
    link_xml('fore', 1.5, '0.12 0 0.02', moments=(0.01, 0.01, 0.01)),
    joint_xml('turn', 'base', 'column', inside=limit_xml(-2.5, 2.5, 60, 2.5)),
    joint_xml(
        'lift', 'column', 'upper', 'revolute', limit_xml(-2.5, 2.5, 60, 2.5), '0 0 0.2', axis=Y
    ),
    joint_xml(
        'bend', 'upper', 'fore', 'revolute', limit_xml(-2.5, 2.5, 25, 2.5), '0.3 0 0', axis=Y
    ),
    name='small',
)


def small_arm(folder):
    """Write the model into a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / 'small.urdf'
    file.write_text(URDF)
    return CommissionedArm.read(str(file), None, None)


def simulated_small_arm(subject, errors, folder):
    """Return the parameters of the simulated robot."""
    return {**prepare_simulated_arm(subject, errors, folder), 'rate': RATE}


@contextlib.contextmanager
def no_bar(label, duration):
    """Show nothing."""
    yield lambda reached: None


def perform_steps(work, session, names=None):
    """Do the steps of these names, or all; return the outcome."""
    steps = [step for step in work.steps() if names is None or step.name in names]
    return perform(steps, work.folder, lambda step: True, lambda step, done: None, session.rest)


def kept_folder(path, subject):
    """Return the folder of a run of this model."""
    return CommissionFolder(path, {'model': subject.file})
