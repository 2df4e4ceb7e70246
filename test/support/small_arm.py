"""An arm of three joints that is quick to commission, behind DDS at 250 states a second."""

import contextlib

from ne_dynamics.commission.arm.simulated_arm import prepare_simulated_arm
from ne_dynamics.commission.folder import CommissionFolder
from ne_dynamics.commission.steps import perform
from ne_dynamics.commission.subject import CommissionedArm

RATE = 250.0

_LINK = """<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
<inertia ixx="{wide}" ixy="0" ixz="0" iyy="{wide}" iyz="0" izz="{wide}"/></inertial></link>"""
_JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{origin}"/><axis xyz="{axis}"/>
<limit lower="-2.5" upper="2.5" effort="{effort}" velocity="2.5"/></joint>"""

URDF = '\n'.join(
    [
        '<robot name="small"><link name="base"/>',
        _LINK.format(name='column', com='0.01 0.02 0.1', mass=4, wide=0.03),
        _LINK.format(name='upper', com='0.15 0.01 0', mass=3, wide=0.03),
        _LINK.format(name='fore', com='0.12 0 0.02', mass=1.5, wide=0.01),
        _JOINT.format(
            name='turn', parent='base', child='column', origin='0 0 0', axis='0 0 1', effort=60
        ),
        _JOINT.format(
            name='lift',
            parent='column',
            child='upper',
            origin='0 0 0.2',
            axis='0 1 0',
            effort=60,
        ),
        _JOINT.format(
            name='bend', parent='upper', child='fore', origin='0.3 0 0', axis='0 1 0', effort=25
        ),
        '</robot>',
    ]
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
