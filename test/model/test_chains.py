"""Which chains of a robot are proposed where no tip was named."""

import json

import pytest
from example_robots import example_robots_folder

import ne_dynamics as ned
from ne_dynamics.cli.main import main
from ne_dynamics.model.chains import list_chains


@pytest.mark.parametrize(
    ('file', 'tips', 'count'),
    [
        ('ur_description/urdf/ur5_robot.urdf', ['ee_link', 'tool0'], 6),
        ('panda_description/urdf/panda.urdf', ['panda_hand_tcp', 'panda_leftfinger'], 7),
        ('tiago_description/robots/tiago.urdf', ['arm_tool_link'], 8),
    ],
)
def test_places_for_tools_come_first(file, tips, count, capsys):
    """`check` proposes them with their joints, which lead to that link and no other."""
    model = example_robots_folder() / file
    chains = list_chains(ned.load_urdf(model))
    found = [chain.tip_link for chain in chains[: len(tips)]]
    assert sorted(found) == sorted(tips) or found == tips
    assert chains[0].is_tool
    assert len(chains[0].joints) == count
    assert chains[0].joints == ned.load_urdf(model, tip_link=chains[0].tip_link).joint_names
    main(['check', str(model)])
    text = capsys.readouterr().out
    assert f'--tip-link {chains[0].tip_link} ' in text
    assert f'{count} joints named like a place for tools' in ' '.join(text.split())
    main(['check', str(model), '--json'])
    assert json.loads(capsys.readouterr().out)['chains'][0]['tip_link'] == chains[0].tip_link
    main(['check', str(model), '--tip-link', tips[0]])
    assert 'several ends' not in capsys.readouterr().out


def test_commands_that_need_a_tip_propose_one(capsys, tmp_path, monkeypatch):
    """Where the tree has several ends, and none was chosen."""
    monkeypatch.chdir(tmp_path)
    model = str(example_robots_folder() / 'panda_description/urdf/panda.urdf')
    for arguments in (['ik', model, '--position', '0', '0', '0.5'], ['setup', model]):
        assert main(arguments) == 1
        error = capsys.readouterr().err
        assert '--tip-link: expected one of panda_hand_tcp, panda_leftfinger, got none' in error
