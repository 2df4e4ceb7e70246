"""Gains from the model: bounds over all models, what is promised, and what is refused."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
import yaml
from geared_arm import geared_arm
from urdf_text import joint_xml, limit_xml, link_xml, robot_xml

from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.guards.feasibility import check_gains
from ne_dynamics.control.laws import Mode
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError, ModelError, ParameterError
from ne_dynamics.gains.design import design_gains
from ne_dynamics.gains.files import as_yaml
from ne_dynamics.gains.loop import close_loop, growth, rigid_modes
from ne_dynamics.gains.plants import gather_plants
from ne_dynamics.gains.request import GainMode, GainRequest
from ne_dynamics.gains.search import _cutoffs
from ne_dynamics.model.coupled_drive import CoupledDrive
from ne_dynamics.model.robot import Inertia
from ne_dynamics.model.urdf.tree import load_urdf
from ne_dynamics.ros.settings.configuration import make_tuning
from ne_dynamics.ros.settings.controlled_arm import controlled_arm
from ne_dynamics.ros.settings.parameters import PARAMETERS
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.altered_robot import with_hung_mass

PAYLOAD = 2.0
CENTER = (0.02, -0.03, 0.05)
REQUEST = GainRequest(
    poses=4,
    payload=PAYLOAD,
    payload_center=CENTER,
    position_step=2.0 * math.pi / 2**17,
    delay=0.003,
)


@pytest.fixture(scope='module')
def dynamics():
    """Return the dynamics of an arm of three joints with rotors."""
    return Dynamics(geared_arm('forearm'), backend='python')


@pytest.fixture(scope='module')
def design(dynamics):
    """Return gains of all modes."""
    return design_gains(dynamics, REQUEST)


def altered(robot, rng, uncertainty, payload):
    """Return an arm with other masses of links and rotors, and a payload."""

    def draw():
        return float(rng.choice((1.0 - uncertainty, 1.0 + uncertainty)))

    links = []
    for link in robot.links:
        scale, inertia = draw(), link.inertia
        scaled = Inertia(
            scale * inertia.mass, inertia.center_of_mass, scale * inertia.inertia_about_com
        )
        links.append(replace(link, inertia=scaled))
    joints = tuple(
        replace(joint, rotor_inertia=draw() * joint.rotor_inertia) for joint in robot.joints
    )
    arm = replace(robot.with_links(links), joints=joints)
    return with_hung_mass(arm, payload, np.array(CENTER)) if payload else arm


def test_poses_that_the_motors_do_not_hold_are_left_out(dynamics):
    """Also where an arm within the uncertainty, with the payload, leaves them no effort."""
    weak = replace(REQUEST, effort_limits=(330.0, 100.0, 60.0), poses=40)
    plants = gather_plants(dynamics, weak)
    assert 0.2 < plants.held_share < 0.9
    # Of twelve poses for each that is wanted.
    assert (12 * 40 * plants.held_share).is_integer()
    limits = weak.limits(dynamics.robot.joints)
    u = weak.uncertainty
    most = []
    for factor in (1.0 - u, 1.0 + u):
        for payload in (0.0, PAYLOAD):
            needed = factor * plants.gravity + payload * plants.load_gravity
            assert (np.abs(needed) <= 0.9 * limits).all()
            most.append((np.abs(needed) / limits).max())
    # Nothing beyond is left out.
    assert max(most) > 0.82


def sliding_arm(mass=4.0):
    """Return a lift with a turning arm on it."""
    return load_urdf(
        robot_xml(
            'base',
            joint_xml('lift', 'base', 'carriage', 'prismatic', limit_xml(0, 1, 400, 1)),
            link_xml('carriage', mass, moments=(0.1, 0.1, 0.1)),
            joint_xml('arm', 'carriage', 'beam', inside=limit_xml(-2, 2, 200, 2), axis='0 1 0'),
            link_xml('beam', mass, '0.3 0 0', moments=(0.02 * mass,) * 3),
        )
    )


def test_bounds_hold_for_every_model(dynamics):
    """Mass matrices of arms within the uncertainty lie between the light and the heavy one."""
    plants = gather_plants(dynamics, REQUEST)
    rng = np.random.default_rng(3)
    for payload in (0.0, 0.0, PAYLOAD, 0.4 * PAYLOAD):
        arm = altered(dynamics.robot, rng, REQUEST.uncertainty, payload)
        masses = Dynamics(arm, backend='python').mass_matrix(plants.poses)
        scale = np.trace(plants.model, axis1=1, axis2=2)[:, np.newaxis]
        assert (np.linalg.eigvalsh(masses - plants.light) > -1e-9 * scale).all()
        assert (np.linalg.eigvalsh(plants.heavy - masses) > -1e-9 * scale).all()
    heaviest = with_hung_mass(dynamics.robot, PAYLOAD, np.array(CENTER))
    exact = gather_plants(dynamics, replace(REQUEST, uncertainty=0.0))
    np.testing.assert_allclose(exact.gravity, dynamics.gravity_torque(plants.poses), atol=1e-10)
    loaded = Dynamics(heaviest, backend='python')
    np.testing.assert_allclose(loaded.mass_matrix(plants.poses), exact.heavy, atol=1e-12)
    gravity = exact.gravity + PAYLOAD * exact.load_gravity
    np.testing.assert_allclose(loaded.gravity_torque(plants.poses), gravity, atol=1e-10)
    slope = loaded.inverse_dynamics_derivatives(
        plants.poses, 0.0 * plants.poses, 0.0 * plants.poses
    )[0]
    factors = np.append(np.ones(dynamics.n), PAYLOAD)
    slopes = np.einsum('b,kbij->kij', factors, exact.part_slopes)
    np.testing.assert_allclose(slope, slopes, atol=1e-6)


def test_margins_are_kept_in_all_poses(design):
    """Of all joints at once and of each: what was asked for."""
    assert set(design.modes) == set(GainMode)
    for one in design.modes.values():
        for margins in (one.choice.margins, one.joint_margins):
            assert margins.phase.min() >= REQUEST.phase_margin
            assert margins.gain.min() >= REQUEST.gain_margin
            assert margins.reduction.min() >= REQUEST.gain_margin


def test_random_models_are_stable_and_gains_beyond_the_margin_are_not(design, dynamics):
    """The loop around arms that were not looked at dies out; four times as stiff it grows."""
    rng = np.random.default_rng(8)
    poses = design.plants.poses
    choice = design.of('jtc').choice
    worst = []
    for payload in (0.0, PAYLOAD):
        arm = Dynamics(altered(dynamics.robot, rng, 0.3, payload), backend='python')
        still = np.zeros_like(poses)
        slopes = arm.inverse_dynamics_derivatives(poses, still, still)[0]
        modes = rigid_modes(arm.mass_matrix(poses), slopes)
        loop = close_loop(modes, None, choice.gains, choice.kind.timing)
        assert growth(loop, has_integral=True).max() < 1.0
        stiff = close_loop(modes, None, choice.gains.scaled(4.0), choice.kind.timing)
        worst.append(growth(stiff, has_integral=True).max())
    assert max(worst) > 1.0


def test_bounds_of_encoders_motors_and_drives(dynamics, design):
    limits = REQUEST.limits(dynamics.robot.joints)
    for one in design.modes.values():
        if one.choice.kind.weights is None:
            assert (one.noise <= 1.001 * REQUEST.noise_share * limits).all()
    assert 'encoder steps' in design.of('mit').choice.active
    drives = replace(
        REQUEST, drive_kp_range=(0.0, 1500.0), drive_kd_range=(0.0, 120.0), modes=('mit',)
    )
    gains = design_gains(dynamics, drives).drive_gains()
    assert max(gain['kp'] for gain in gains.values()) <= 1500.0
    assert max(gain['kd'] for gain in gains.values()) <= 120.0
    assert max(gain['kd'] for gain in gains.values()) > 90.0


def test_node_takes_its_parameters(design):
    for mode in (GainMode.COMPUTED_TORQUE, GainMode.FEEDFORWARD_PD, GainMode.MIT):
        parameters = design.node_parameters(mode)
        settings = PARAMETERS.changed(parameters)
        assert settings.mode == parameters['mode']
        if not mode.is_of_node:
            continue
        gains = Gains.from_values(
            parameters[f'{mode.value}.kp'], parameters[f'{mode.value}.kv'], 3
        )
        velocity = REQUEST.velocity_settings(parameters['velocity_cutoff_frequency'])
        for masses in design.plants.corners():
            verdict = check_gains(
                Mode(mode.value), gains, lambda masses=masses: masses, REQUEST.period, velocity
            )
            assert not verdict.refusals
    assert design.node_parameters() == design.node_parameters('computed_torque')
    with pytest.raises(InputError, match='expected one of the node'):
        design.node_parameters('jtc')


def read_settings(text, **others):
    """Return the node's settings of a written file and of some parameters after it."""
    flat = {}
    for name, value in yaml.safe_load(text)['/**/computed_torque']['ros__parameters'].items():
        inner = value if isinstance(value, dict) else {'': value}
        flat |= {f'{name}.{key}'.rstrip('.'): one for key, one in inner.items()}
    return PARAMETERS.changed({**flat, **others})


@pytest.mark.parametrize('kind', ['node', 'mit'])
def test_arrays_go_to_the_joints_they_were_written_for_or_nowhere(dynamics, design, kind):
    """Where the node has another order of joints the file is refused, or was written for it."""
    names = list(dynamics.joint_names)
    order = [names[index] for index in (2, 0, 1)]
    robot = dynamics.robot

    def gains_of(settings):
        arm = controlled_arm(settings, robot)
        if kind == 'mit':
            return arm.per_joint(settings.command.kp, 'kp').tolist()
        return make_tuning(settings, arm)[0].law.gains.kp.tolist()

    own = as_yaml(design, kind)
    assert yaml.safe_load(own)['/**/computed_torque']['ros__parameters']['gain_joints'] == names
    expected = gains_of(read_settings(own))
    for others in ({'joints': tuple(order)}, {'joints': tuple(names[:2])}):
        with pytest.raises(ParameterError, match='joints: expected'):
            gains_of(read_settings(own, **others))
    other = as_yaml(design, kind, joints=order)
    with pytest.raises(ParameterError, match='gain_joints: expected the joints in the order'):
        gains_of(read_settings(other))
    assert gains_of(read_settings(other, joints=tuple(order))) == expected
    with pytest.raises(InputError, match="joints: expected the model's in any order"):
        as_yaml(design, kind, joints=names[:2])


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'rate': math.nan}, 'rate: expected a finite number > 0'),
        ({'rate': 1.5e5}, 'rate: expected a finite number >= 1, at most 100000'),
        ({'poses': 2500}, 'poses: expected 1 to 2000, got 2500'),
        ({'delay': -0.001}, 'delay: expected a finite number >= 0'),
        ({'delay': 1.0}, 'delay: expected at most 50 periods'),
        ({'uncertainty': 1.0}, 'uncertainty: expected'),
        ({'payload': (2.0, 1.0)}, 'payload .kg.: expected'),
        ({'payload': math.nan}, 'payload: expected finite'),
        ({'modes': ('pid',)}, 'modes: expected one or more of computed_torque'),
        ({'modes': 'jtc'}, 'modes: expected one or more'),
        ({'velocity_source': 'guessed'}, 'velocity_source: expected one of measured'),
        ({'drive_kp_range': (5.0, 1.0)}, 'drive_kp_range: expected two numbers'),
        ({'phase_margin': math.inf}, 'phase_margin: expected'),
        ({'gain_margin': 1.0}, 'gain_margin: expected a finite number > 1'),
        ({'poses': 0}, 'poses: expected 1 to'),
        ({'payload_center': (0.0, 0.0)}, 'payload_center: expected 3 numbers'),
        ({'relaxed_margins': ((-1.0, 1.5),)}, 'relaxed_margins: phase: expected'),
    ],
)
def test_values_that_cannot_be_used_are_named(changes, message):
    """A request says what is wrong with it."""
    with pytest.raises(InputError, match=message):
        GainRequest(**changes)


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'position_step': (1e-4, 1e-4)}, 'position_step: expected 1 or 3 numbers, got 2'),
        ({'position_step': math.nan}, 'position_step: expected finite numbers >= 0'),
        ({'stiffness': -3.0}, "stiffness: joint 'joint_1': expected a finite number > 0"),
        ({'effort_limits': 0.0}, "joint 'joint_1': effort limit: expected > 0, got 0"),
        ({'payload': 4000.0}, 'motors that can hold the arm, with 4000 kg'),
    ],
)
def test_requests_that_do_not_fit_the_arm(dynamics, changes, message):
    with pytest.raises(InputError, match=message):
        design_gains(dynamics, replace(REQUEST, modes=('mit',), **changes))


def test_arms_that_have_no_gains():
    """Joints that move no mass, springs before rotors that have none, no tip for a payload."""
    with pytest.raises(InputError, match="joint 'lift': expected an inertia to be moved"):
        design_gains(Dynamics(sliding_arm(mass=0.0), backend='python'))
    with pytest.raises(InputError, match="'lift': expected a rotor_inertia > 0"):
        design_gains(Dynamics(sliding_arm(), backend='python'), GainRequest(stiffness=1e4))


def test_elastic_joints_and_drives_of_several_joints_are_refused():
    robot = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
    names = robot.joint_names[4:]
    robot = replace(
        robot.with_joint_values('rotor_inertia', np.ones(robot.n)),
        coupled_drives=(CoupledDrive('wrist', names, (1.0, 1.0), 1e-3),),
    )
    with pytest.raises(ModelError, match=r"stiffness: .* got coupled drive 'wrist'"):
        design_gains(Dynamics(robot, backend='python'), GainRequest(stiffness=1e4))
    tipless = replace(sliding_arm(), tip_link=None)
    with pytest.raises(InputError, match='payload: expected a model with a tip link'):
        design_gains(Dynamics(tipless, backend='python'), GainRequest(payload=1.0))


def test_a_loop_that_is_too_late_names_the_delay_that_would_do():
    """With it there are gains, with the one that was asked for there are none."""
    dynamics = Dynamics(sliding_arm(), backend='python')
    late = GainRequest(
        rate=50.0,
        delay=0.12,
        poses=2,
        uncertainty=0.05,
        velocity_cutoff_frequency=12.0,
        modes=('computed_torque',),
        relaxed_margins=(),
    )
    with pytest.raises(InputError, match='there are such gains') as refusal:
        design_gains(dynamics, late)
    named = 1e-3 * float(re.search(r'dead time of (\S+) ms there', str(refusal.value))[1])
    assert 0.0 < named < 0.1
    found = design_gains(dynamics, replace(late, delay=named))
    assert found.of('computed_torque').choice.frequency.max() >= late.least_frequency


def test_joints_that_nothing_holds_have_no_integral():
    """About a vertical axis without friction a clamp would be rounding: no integral, and said."""
    robot = load_urdf(shipped_file('six_axis_arm.urdf'), tip_link='forearm')
    request = GainRequest(poses=2, modes=(GainMode.JTC,))
    design = design_gains(Dynamics(robot, backend='python'), request)
    block = design.jtc_gains()
    assert block['joint_1']['i'] == 0.0
    assert 'i_clamp_max' not in block['joint_1']
    assert block['joint_2']['i'] > 0.0
    assert block['joint_2']['i_clamp_max'] > 1.0
    assert any('no integral for joint_1 in the file' in remark for remark in design.remarks())


@pytest.mark.parametrize(
    ('rate', 'cutoffs'), [(1.5, [0.375]), (30.0, [7.5]), (130.0, [10.0, 20.0, 30.0])]
)
def test_a_velocity_filter_is_no_faster_than_a_quarter_of_the_rate(rate, cutoffs):
    assert _cutoffs(GainMode.COMPUTED_TORQUE, GainRequest(rate=rate)) == cutoffs
