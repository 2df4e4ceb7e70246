"""README.md and the parameter files say what the code says."""

import re
from pathlib import Path

import pytest
import yaml

from studies.parameter_table import THRESHOLDS_BEGIN, with_tables

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / 'README.md').read_text(encoding='utf-8')


def parameter_specs(node):
    """Return the table of parameters of one of the executables, by name."""
    if node == 'simulated_robot':
        pytest.importorskip('rclpy', reason='rclpy is missing')
        pytest.importorskip('mujoco', reason='mujoco is missing')
        from ne_dynamics.simulation.simulated_robot import PARAMETERS
    else:
        from ne_dynamics.ros.settings.parameters import PARAMETERS
    return {spec.name: spec for spec in PARAMETERS}


def flattened(values, prefix=''):
    """Return nested parameters with the dots in their names."""
    flat = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= flattened(value, f'{prefix}{key}.')
        else:
            flat[prefix + key] = value
    return flat


def file_parameters(node, *, with_examples):
    """Return the parameters in the file of an executable."""
    text = (ROOT / 'config' / f'{node}.params.yaml').read_text(encoding='utf-8')
    if with_examples:
        text = re.sub(r'^( *)#: ', r'\1', text, flags=re.MULTILINE)
    (values,) = yaml.safe_load(text).values()
    return flattened(values['ros__parameters'])


@pytest.mark.parametrize('node', ['computed_torque', 'simulated_robot'])
def test_parameter_file_holds_every_parameter(node):
    specs = parameter_specs(node)
    values = file_parameters(node, with_examples=True)
    assert sorted(values) == sorted(specs)
    for name, value in values.items():
        specs[name].check(value)


@pytest.mark.parametrize('node', ['computed_torque', 'simulated_robot'])
def test_parameter_file_holds_the_defaults(node):
    specs = parameter_specs(node)
    values = file_parameters(node, with_examples=False)
    for name, spec in specs.items():
        if name in values:
            assert spec.check(values[name]) == spec.default, name
        else:
            assert spec.default == (), name


def test_parameter_table_is_up_to_date():
    text = (ROOT / 'doc' / 'parameters.md').read_text(encoding='utf-8')
    assert with_tables(text) == text


def test_tables_of_thresholds_are_up_to_date():
    text = (ROOT / 'doc' / 'thresholds.md').read_text(encoding='utf-8')
    assert THRESHOLDS_BEGIN in text
    assert with_tables(text) == text


def test_links_lead_somewhere():
    for document in (ROOT / 'README.md', *(ROOT / 'doc').glob('*.md')):
        for target in re.findall(r'\]\(([^)#]+)(?:#[^)]*)?\)', document.read_text('utf-8')):
            if '://' in target:
                continue
            path = document.parent / target
            assert path.exists(), f'{document.name}: {target}'
            if target.endswith('.png'):
                assert path.stat().st_size < 400_000, target


@pytest.mark.parametrize('name', ['README.md', 'doc/library.md'])
def test_python_examples_run(name, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    text = (ROOT / name).read_text('utf-8')
    blocks = re.findall(r'```python\n(.*?)```', text, flags=re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, name, 'exec'), names)
    printed = capsys.readouterr().out
    assert printed
    for shown in re.findall(r'```text\n(.*?)```', text, flags=re.DOTALL):
        assert shown == printed


def test_the_readme_is_short():
    assert len(README.split()) <= 1200


def test_c_library_document_names_what_an_export_writes(tmp_path, capsys, monkeypatch):
    from ne_dynamics.cli.main import main

    text = (ROOT / 'doc' / 'c_library.md').read_text(encoding='utf-8')
    (command,) = re.findall(r'^    ne_dynamics (equations .*)$', text, flags=re.MULTILINE)
    (tmp_path / 'config').symlink_to(ROOT / 'config')
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 0
    capsys.readouterr()
    files = {path.name: path.read_text() for path in (tmp_path / 'arm_dynamics').iterdir()}
    assert set(re.findall(r'^\| `([\w.]+)` \|', text, flags=re.MULTILINE)) == set(files)
    for name in re.findall(r'\bsix_axis_arm_\w+|\bSIX_AXIS_ARM_\w+', text):
        assert any(name in content for content in (*files, *files.values())), name
    (test,) = (content for name, content in files.items() if name.endswith('_test.c'))
    for figure in ('100 samples', '1e-12 of the largest value'):
        assert figure in text
        assert figure in test
    assert 'of 0.01 where all are smaller' in text
    assert 'scale = 0.01' in test


def test_contributing_knows_every_part_and_every_test_it_names():
    text = (ROOT / 'CONTRIBUTING.md').read_text(encoding='utf-8')
    parts = {path.name for path in (ROOT / 'ne_dynamics').iterdir()} - {
        '__init__.py',
        '__pycache__',
        'py.typed',
    }
    for part in parts:
        assert f'`ne_dynamics/{part}`' in text or f'`{part}`' in text, part
    for name in re.findall(r'`((?:test|doc|ne_dynamics|codegen|ros|config)/[\w./]+)`', text):
        found = [folder / name for folder in (ROOT, ROOT / 'ne_dynamics')]
        assert any(path.exists() for path in found), name
    folders = {path.name for path in (ROOT / 'test').iterdir() if path.is_dir()} - {'__pycache__'}
    for folder in folders:
        assert f'test/{folder}' in text, folder
