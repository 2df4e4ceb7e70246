"""Files that nobody named: named after the model or the log, and never in the place of another."""

from argparse import Namespace
from pathlib import Path

import pytest
import yaml

from ne_dynamics.cli.options.files import settle_output
from ne_dynamics.commission.folder import CommissionFolder
from ne_dynamics.commission.run import CommissionRequest

ARM = Path(__file__).resolve().parents[2] / 'config/six_axis_arm.urdf'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder of one's own, with a model in it."""
    monkeypatch.chdir(tmp_path)
    Path('arm.urdf').write_text(ARM.read_text())
    return tmp_path


def write_plan():
    """Write a trajectory."""
    joints = [f'joint_{number}' for number in range(1, 7)]
    points = [
        {'positions': [place] * 6, 'velocities': [0.0] * 6, 'time_from_start': {'sec': time}}
        for place, time in ((0.0, 0), (0.3, 2))
    ]
    Path('plan.v1.yaml').write_text(yaml.safe_dump({'joint_names': joints, 'points': points}))


@pytest.mark.kept(1)
@pytest.mark.parametrize(
    ('arguments', 'first'),
    [
        ('annotate arm.urdf plan.v1.yaml', 'plan_annotated.yaml'),
        ('equations arm.urdf --all', 'arm_equations'),
        ('setup arm.urdf --tip-link tcp', 'arm_bringup'),
    ],
)
def test_a_name_that_is_taken_gets_a_number(arguments, first, folder, call):
    write_plan()
    stem, dot, ending = first.partition('.')
    Path(f'{stem}_2{dot}{ending}').symlink_to('nothing')
    for name, taken in ((first, ''), (f'{stem}_3{dot}{ending}', f' ({first} is there)')):
        before = set(folder.iterdir())
        code, _, err = call(*arguments.split())
        assert code == 0
        assert set(folder.iterdir()) - before == {folder / name}
        assert f'output: {name}{taken}\n' in err


def test_no_name_beside_extras_of_another():
    Path('arm_identified.extras.yaml').touch()
    endings = ('_identified.urdf', '.extras.yaml')
    args = Namespace(model='x/arm.urdf.xacro', output=True)
    settle_output(args, *endings)
    assert args.output == Path('arm_identified_2.urdf')


def test_the_model_may_come_from_the_environment(monkeypatch, call):
    write_plan()
    monkeypatch.setenv('NE_DYNAMICS_MODEL', 'arm.urdf')
    for words in ('plan.v1.yaml out.yaml', 'plan.v1.yaml', '--model arm.urdf plan.v1.yaml'):
        assert call('annotate', *words.split())[0] == 0
    found = {path.name for path in Path().glob('*.yaml')} - {'plan.v1.yaml'}
    assert found == {'out.yaml', 'plan_annotated.yaml', 'plan_annotated_2.yaml'}


def test_a_log_is_not_replaced_by_a_model(refused):
    """`-o` before a second log takes it for its name: the log stays."""
    for name in ('a.csv', 'b.csv'):
        Path(name).write_text('time,joint_1.position,joint_1.effort\n')
    message = 'b.csv: -o: expected a new file or a URDF to replace'
    refused(message, 'identify', 'arm.urdf', 'a.csv', '-o', 'b.csv')
    assert Path('b.csv').read_text().startswith('time')


def test_a_run_goes_on_in_its_folder():
    for seed, name in ((1, 'arm_commission'), (2, 'arm_commission_2'), (1, 'arm_commission')):
        request = CommissionRequest('arm.urdf', tip='tcp', simulated=True, seed=seed)
        subject = request.read_subject()
        path = request.choose_folder(subject)
        assert path == Path(name)
        run = CommissionFolder(path, request.describe(subject))
        run.finish('check', {})
