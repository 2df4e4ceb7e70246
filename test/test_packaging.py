"""The package as pip and colcon see it."""

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

import ne_dynamics as ned
from ne_dynamics import shipped
from ne_dynamics.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = ElementTree.parse(ROOT / 'package.xml').getroot()
MODELS = (
    'puma560_standard_dh.yaml',
    'puma560_modified_dh.yaml',
    'six_link_dh.yaml',
    'six_axis_arm.urdf',
)
PROJECT_FILES = ('package.xml', 'setup.py', 'setup.cfg', 'pyproject.toml', 'README.md', 'LICENSE')
RECIPES = (
    'recipes/conda-forge/meta.yaml',
    'recipes/bloom/tracks.yaml',
    '.devcontainer/devcontainer.json',
)
PROJECT_FOLDERS = ('ne_dynamics', 'resource', 'launch', 'config', 'examples')


def setup_argument(name):
    """Return a literal argument of the call of setup() in setup.py."""
    for node in ast.walk(ast.parse((ROOT / 'setup.py').read_text(encoding='utf-8'))):
        if isinstance(node, ast.Call) and getattr(node.func, 'id', None) == 'setup':
            return {keyword.arg: keyword.value for keyword in node.keywords}[name]
    raise AssertionError('setup.py: no call of setup()')


@pytest.fixture(scope='module')
def sources(tmp_path_factory):
    """Return a copy of what the package is built from."""
    folder = tmp_path_factory.mktemp('sources')
    for name in PROJECT_FILES:
        shutil.copy(ROOT / name, folder)
    for name in PROJECT_FOLDERS:
        ignored = shutil.ignore_patterns('__pycache__')
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


@pytest.fixture(scope='module')
def wheel(sources, tmp_path_factory):
    """Return the wheel that pip builds."""
    folder = tmp_path_factory.mktemp('wheel')
    command = [sys.executable, '-m', 'pip', 'wheel', '-q', '-q', '--no-deps', '-w', folder, '.']
    result = subprocess.run(
        command, cwd=sources, capture_output=True, text=True, timeout=300, check=False
    )
    if 'No matching distribution found for setuptools' in result.stderr:
        pytest.skip('pip finds no setuptools to build with (no package index within reach)')
    assert result.returncode == 0, result.stderr
    (path,) = folder.glob('*.whl')
    return path


@pytest.fixture(scope='module')
def installed(wheel, tmp_path_factory):
    """Return the prefix into which pip installed the wheel, alone."""
    prefix = tmp_path_factory.mktemp('prefix')
    command = [sys.executable, '-m', 'pip', 'install', '-q', '-q', '--no-deps']
    command += ['--no-index', '--ignore-installed', '--prefix', prefix, wheel]
    subprocess.run(command, check=True, timeout=300)
    return prefix


def run_installed(prefix, command, cwd):
    """Run a command so that it imports the package from a prefix."""
    purelib = sysconfig.get_path('purelib', vars={'base': str(prefix)})
    environment = {**os.environ, 'PYTHONPATH': purelib}
    environment.pop('AMENT_PREFIX_PATH', None)
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_manifest_follows_the_format():
    catkin_package = pytest.importorskip('catkin_pkg.package', reason='catkin_pkg is missing')
    warnings = []
    package = catkin_package.parse_package(str(ROOT / 'package.xml'), warnings=warnings)
    package.validate(warnings=warnings)
    assert warnings == []
    assert package.package_format == 3
    assert package.get_build_type() == 'ament_python'


def test_manifest_has_the_addresses_and_the_settings_of_the_documentation():
    urls = {url.get('type'): url.text for url in MANIFEST.findall('url')}
    assert set(urls) == {'website', 'repository', 'bugtracker'}
    file = ROOT / MANIFEST.find('export').findtext('rosdoc2')
    kind, content = yaml.safe_load_all(file.read_text(encoding='utf-8'))
    assert kind == {'type': 'rosdoc2 config', 'version': 1}
    assert (ROOT / content['settings']['python_source'] / '__init__.py').is_file()


def test_the_public_workflow_calls_what_must_pass():
    text = (ROOT / '.github/workflows/ci.yml').read_text(encoding='utf-8')
    (job,) = yaml.safe_load(text)['jobs'].values()
    assert [step['run'] for step in job['steps'] if 'run' in step] == ['.ci/run']
    assert os.access(ROOT / '.ci/run', os.X_OK)


def test_what_was_not_run_says_so():
    for name in (
        '.github/workflows/ci.yml',
        'Dockerfile',
        'rosdoc2.yaml',
        'doc/topics.md',
        *RECIPES,
    ):
        assert 'not run' in (ROOT / name).read_text(encoding='utf-8').lower(), name


def test_versions_agree():
    """package.xml, setup.py, CITATION.cff and `__version__` carry one version."""
    version = MANIFEST.findtext('version')
    citation = yaml.safe_load((ROOT / 'CITATION.cff').read_text(encoding='utf-8'))
    assert ast.literal_eval(setup_argument('version')) == ned.__version__ == version
    assert citation['version'] == version
    assert citation['license'] == MANIFEST.findtext('license')
    assert citation['repository-code'] == MANIFEST.find('url[@type="repository"]').text


def test_changelog_is_ready_for_a_release():
    versions = pytest.importorskip('catkin_pkg.package_version', reason='catkin_pkg is missing')
    text = (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8')
    assert versions.get_forthcoming_label(text) == 'Forthcoming'
    assert '\n* ' in text.partition('Forthcoming')[2]


def test_manifest_names_every_ros_package_that_is_imported():
    declared = {element.text for element in MANIFEST if element.tag.endswith('depend')}
    imported = set()
    for path in [*(ROOT / 'ne_dynamics').rglob('*.py'), *(ROOT / 'launch').glob('*.py')]:
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split('.')[0])
    outside = imported - set(sys.stdlib_module_names) - {'ne_dynamics'}
    rosdep_keys = {
        'numpy': 'python3-numpy',
        'yaml': 'python3-yaml',
        'jinja2': 'python3-jinja2',
        'markupsafe': 'python3-jinja2',
        'matplotlib': 'python3-matplotlib',
        'urdf_parser_py': 'urdfdom_py',
        'lxml': 'python3-lxml',
        'llvmlite': 'python3-numba',
        'scipy': 'python3-scipy',
        'tqdm': 'python3-tqdm',
        'argcomplete': 'python3-argcomplete',
    }
    # Optional, and without a rosdep key that apt serves: see the extras of setup.py.
    outside -= {'coal', 'mujoco', 'numba', 'pinocchio', 'roboticstoolbox', 'distributed'}
    outside -= {'threadpoolctl'}
    assert {rosdep_keys.get(name, name) for name in outside} <= declared


@pytest.mark.parametrize(
    ('distribution', 'is_wanted'),
    [('jazzy', False), ('kilted', False), ('lyrical', True), ('rolling', True), ('', False)],
)
def test_the_compiler_is_a_dependency_where_ros_has_a_new_enough_one(distribution, is_wanted):
    """From Lyrical on (Ubuntu 26.04: llvmlite 0.46) rosdep installs the compiler; not before.

    Ubuntu 24.04 has no package of that name, and a key without one fails all of rosdep.
    """
    catkin_package = pytest.importorskip('catkin_pkg.package', reason='catkin_pkg is missing')
    package = catkin_package.parse_package(str(ROOT / 'package.xml'))
    package.evaluate_conditions({'ROS_DISTRO': distribution})
    wanted = {
        dependency.name for dependency in package.exec_depends if dependency.evaluated_condition
    }
    assert 'rclpy' in wanted
    assert ('python3-numba' in wanted) == is_wanted


def test_pip_extras_name_every_message_package():
    """The extra `ros` of setup.py brings every message package that package.xml names.

    But control_msgs, which has no wheel: without it there is no action.
    """
    (extras,) = (
        ast.literal_eval(node.value)
        for node in ast.parse((ROOT / 'setup.py').read_text(encoding='utf-8')).body
        if isinstance(node, ast.Assign) and node.targets[0].id == 'EXTRAS'
    )
    declared = {element.text for element in MANIFEST if element.tag == 'exec_depend'}
    wanted = {name for name in declared if name.endswith(('_msgs', '_srvs', '_interfaces'))}
    wanted -= {'control_msgs'}
    assert {'ros-jazzy-' + name.replace('_', '-') for name in wanted} <= set(extras['ros'])


def test_wheel_holds_package_and_shared_files(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for path in (ROOT / 'ne_dynamics').rglob('*.py'):
        assert path.relative_to(ROOT).as_posix() in names
    assert 'ne_dynamics/py.typed' in names
    shared = {name.split('.data/data/')[1] for name in names if '.data/data/' in name}
    assert 'share/ament_index/resource_index/packages/ne_dynamics' in shared
    assert 'share/ne_dynamics/package.xml' in shared
    for folder in ('launch', 'config', 'examples'):
        for path in (ROOT / folder).iterdir():
            if path.is_file():
                assert f'share/ne_dynamics/{folder}/{path.name}' in shared
    assert not [name for name in names if name.startswith(('test/', 'build/', 'launch/'))]


def test_installed_command_runs_away_from_the_sources(installed, tmp_path):
    programs = {path.name for path in (installed / 'bin').iterdir()}
    assert programs >= {'ne_dynamics', 'computed_torque', 'simulated_robot'}
    command = installed / 'bin' / 'ne_dynamics'
    result = run_installed(installed, [command, '--version'], tmp_path)
    assert result.stdout == f'ne_dynamics {MANIFEST.findtext("version")}\n', result.stderr
    script = 'from ne_dynamics.shipped import shipped_file; print(shipped_file(%r))'
    for name in MODELS:
        result = run_installed(installed, [sys.executable, '-c', script % name], tmp_path)
        expected = installed / 'share' / 'ne_dynamics' / 'config' / name
        assert result.stdout == f'{expected}\n', result.stderr
        assert expected.read_bytes() == (ROOT / 'config' / name).read_bytes()


@pytest.mark.parametrize(
    ('package', 'shares', 'ament', 'python'),
    [
        ('own/lib/python3.11/site-packages', ['own', 'overlay'], 'overlay', 'underlay'),
        ('own/local/lib/python3.12/dist-packages', ['own'], '', 'nowhere'),
        ('own', ['own'], '', 'nowhere'),
        ('elsewhere', ['overlay', 'underlay'], 'empty:overlay:underlay', 'nowhere'),
        ('elsewhere', ['underlay'], '', 'underlay'),
    ],
)
def test_shipped_files_are_beside_the_package_by_ament_or_in_python(
    package, shares, ament, python, monkeypatch, tmp_path
):
    """In this order: the first share that there is."""
    folder = tmp_path / package / 'ne_dynamics'
    folder.mkdir(parents=True)
    files = [tmp_path / share / 'share/ne_dynamics/config/arm.urdf' for share in shares]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text('<robot/>')
    prefixes = os.pathsep.join(str(tmp_path / name) for name in filter(None, ament.split(':')))
    monkeypatch.setenv('AMENT_PREFIX_PATH', prefixes)
    monkeypatch.setattr(shipped, '__file__', str(folder / 'shipped.py'))
    monkeypatch.setattr(shipped.sysconfig, 'get_path', lambda name: str(tmp_path / python))
    assert shipped.shipped_file('arm.urdf') == files[0]


@pytest.mark.parametrize('name', ['arm.urdf', '../package.xml', '', '.'])
def test_shipped_file_that_does_not_exist(name):
    with pytest.raises(InputError, match=r'expected one of .*six_axis_arm\.urdf'):
        shipped.shipped_file(name)


@pytest.fixture(scope='module')
def source_archive(tmp_path_factory):
    """Return the sdist that setuptools builds of a copy of the working tree."""
    pytest.importorskip('setuptools', reason='setuptools is missing')
    folder = tmp_path_factory.mktemp('archive')
    listed = subprocess.run(
        ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip('no git checkout')
    for name in filter(None, listed.stdout.decode().split('\0')):
        if (ROOT / name).is_file():
            (folder / 'tree' / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / 'tree' / name)
    command = [sys.executable, 'setup.py', '-q', 'sdist', '--dist-dir', str(folder)]
    ended = subprocess.run(
        command, cwd=folder / 'tree', capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    (path,) = folder.glob('*.tar.gz')
    return path


def test_the_source_archive_is_whole(source_archive):
    with tarfile.open(source_archive) as archive:
        names = {name.partition('/')[2] for name in archive.getnames()}
    wanted = {
        'CHANGELOG.rst',
        'CITATION.cff',
        'LICENSE',
        'Makefile',
        'SECURITY.md',
        'package.xml',
        'doc/library.md',
        'doc/demo_error.png',
        'launch/simulation.launch.py',
        'config/six_axis_arm.urdf',
        'examples/library.py',
        'resource/ne_dynamics',
        'test/test_packaging.py',
        'ne_dynamics/bring_up/templates/package.xml.jinja',
        'ne_dynamics/report_page/page.html.jinja',
    }
    assert not wanted - names
    assert not [name for name in names if '__pycache__' in name]


def test_the_package_index_accepts_both_archives(source_archive, wheel):
    pytest.importorskip('twine', reason='twine is missing')
    command = [sys.executable, '-m', 'twine', 'check', '--strict', source_archive, wheel]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode == 0, ended.stdout
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith('/METADATA'))
        text = archive.read(name).decode()
    assert '](doc/' not in text
    assert '](https://' in text
