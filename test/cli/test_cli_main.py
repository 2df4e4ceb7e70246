"""The command line itself: its help, its exit codes, what it imports."""

import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from ne_dynamics.cli import main as cli
from ne_dynamics.errors import ModelError

ROOT = Path(__file__).resolve().parents[2]
OPTIONAL = ('rclpy', 'sensor_msgs', 'mujoco', 'numba', 'matplotlib', 'scipy', 'pinocchio')


def run_python(*arguments, **keywords):
    """Run the interpreter of the tests in the root of the project."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **keywords,
    )


@pytest.fixture
def command(monkeypatch):
    """Replace the subcommand `check` by a function of one's own."""

    def install(run):
        module = types.ModuleType('ne_dynamics.cli.check')
        module.add_parser = lambda subparsers: subparsers.add_parser('check')
        module.run = run
        monkeypatch.setitem(sys.modules, 'ne_dynamics.cli.check', module)

    return install


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(['--help'])
    assert stop.value.code == 0
    text = ' '.join(capsys.readouterr().out.split())
    for name, command in cli.COMMANDS.items():
        assert f'{name} {command.summary}' in text


def test_every_command_module_is_listed():
    modules = {path.stem for path in Path(cli.__file__).parent.glob('*.py')} - {'main', '__init__'}
    assert modules == set(cli.COMMANDS)


def test_help_imports_nothing_heavy():
    result = run_python(
        '-c',
        'import sys\n'
        'from ne_dynamics.cli.main import main\n'
        'try:\n'
        '    main(["--help"])\n'
        'except SystemExit:\n'
        '    print(*sorted(sys.modules), file=sys.stderr)\n',
    )
    imported = set(result.stderr.split())
    assert 'ne_dynamics.cli.main' in imported, result.stderr
    assert not imported & (set(OPTIONAL) | {f'ne_dynamics.cli.{name}' for name in cli.COMMANDS})


@pytest.fixture(scope='module')
def helps():
    """Return the help of each command where no optional package can be imported, or the error."""
    result = run_python(
        '-c',
        'import contextlib, io, json, sys, traceback\n'
        f'for name in {OPTIONAL!r}:\n'
        '    sys.modules[name] = None\n'
        'from ne_dynamics.cli.main import main\n'
        'helps = {}\n'
        f'for name in {[*cli.COMMANDS]!r}:\n'
        '    with contextlib.redirect_stdout(io.StringIO()) as text:\n'
        '        try:\n'
        '            helps[name] = main([name, "--help"])\n'
        '        except SystemExit as end:\n'
        '            helps[name] = end.code or text.getvalue()\n'
        '        except BaseException:\n'
        '            helps[name] = traceback.format_exc()\n'
        'print(json.dumps(helps))\n',
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize('name', cli.COMMANDS)
def test_help_of_a_command_needs_only_the_core(name, helps):
    assert str(helps[name]).startswith(f'usage: ne_dynamics {name}')


def test_error_is_a_message_without_traceback(command, capsys):
    def fail(arguments):
        raise ModelError('joint "a": expected a parent link, got none')

    command(fail)
    assert cli.main(['check']) == 1
    captured = capsys.readouterr()
    assert captured.out == ''
    expected = 'ne_dynamics check: error: joint "a": expected a parent link, got none\n'
    assert captured.err == expected


def test_defects_keep_their_traceback(command):
    def defect(arguments):
        raise ZeroDivisionError

    command(defect)
    with pytest.raises(ZeroDivisionError):
        cli.main(['check'])


def test_interrupt_is_quiet(command, capsys):
    def interrupted(arguments):
        raise KeyboardInterrupt

    command(interrupted)
    assert cli.main(['check']) == 130
    assert capsys.readouterr().err == ''


def test_reader_that_goes_away_is_no_error():
    script = (
        'import sys, types\n'
        'from ne_dynamics.cli import main as cli\n'
        'module = types.ModuleType("ne_dynamics.cli.check")\n'
        'module.add_parser = lambda subparsers: subparsers.add_parser("check")\n'
        'module.run = lambda arguments: print("line\\n" * 100000) or 0\n'
        'sys.modules["ne_dynamics.cli.check"] = module\n'
        'sys.exit(cli.main(["check"]))\n'
    )
    with subprocess.Popen(
        [sys.executable, '-c', script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, 'PYTHONUNBUFFERED': ''},
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b''
        assert process.wait(timeout=300) == 141


@pytest.mark.parametrize('arguments', [[], ['chekc'], ['--nonsense']])
def test_wrong_arguments_show_the_usage(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    assert 'usage: ne_dynamics' in capsys.readouterr().err


WITH_MODEL = {
    'annotate': ('in', 'out'),
    'check': (),
    'commission': (),
    'controller': ('-o', 'out'),
    'demo': (),
    'excite': ('-o', 'out'),
    'gains': ('--rate', '500', '--delay', '0.002'),
    'equations': (),
    'evaluate': ('log',),
    'identify': ('log',),
    'ik': ('--position', '0', '0', '0'),
    'reproduce': ('forms',),
    'setup': (),
    'whatis': ('log',),
}
"""Subcommands that take a model, and what else they need."""


@pytest.mark.parametrize(('name', 'others'), WITH_MODEL.items())
def test_a_model_is_named_alike_by_every_command(name, others):
    parser = cli.build_parser(name)
    links = {
        'long': ('--base-link', 'a', '--tip-link', 'b'),
        'short': ('--base', 'a', '--tip', 'b'),
    }
    parsed = [
        vars(parser.parse_args([name, *others, '--model', 'arm', *given]))
        for given in links.values()
    ]
    assert parsed[0] == parsed[1]
    assert [parsed[0][key] for key in ('model', 'base', 'tip')] == ['arm', 'a', 'b']


def test_every_command_with_a_model_is_known_here():
    """A new subcommand that takes a model spells it as the others do."""
    for name in cli.COMMANDS:
        text = Path(ROOT, 'ne_dynamics', 'cli', f'{name}.py').read_text(encoding='utf-8')
        rows = ('@model', '@logs', 'declare_package')
        assert any(row in text for row in rows) == (name in WITH_MODEL)


@pytest.mark.parametrize(('name', 'others'), WITH_MODEL.items())
def test_a_model_may_stand_alone_but_only_once(name, others, capsys):
    parser = cli.build_parser(name)
    first, rest = (others[:1], others[1:]) if name == 'reproduce' else ((), others)
    alone = vars(parser.parse_args([name, *first, 'arm', *rest]))
    named = vars(parser.parse_args([name, *first, *rest, '--model', 'arm']))
    assert alone['model'] == 'arm'
    same = alone.keys() - {'first', 'settle'}
    assert {key: alone[key] for key in same} == {key: named[key] for key in same}
    wrong = []
    if name not in ('evaluate', 'identify'):  # these have one more log then
        wrong.append([name, *first, 'arm', *rest, '--model', 'arm'])
    if name not in ('annotate', 'commission', 'demo', 'whatis'):  # these say so when they run
        wrong.append([name, *first, *rest])
    for arguments in wrong:
        with pytest.raises(SystemExit) as stop:
            parser.parse_args(arguments)
        assert stop.value.code == 2
        assert '--model' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ('check arm.urdf --model b.urdf', "either MODEL or --model MODEL, got both: 'arm.urdf'"),
        ('evaluate arm.urdf', "MODEL before LOG or --model MODEL, got 'arm.urdf' alone"),
        ('identify log.csv', "MODEL before LOG or --model MODEL, got 'log.csv' alone"),
        ('check', 'expected MODEL or --model MODEL, got neither'),
        ('check a b', 'b'),
        ('check a --nonsense', '--nonsense'),
        ('check a --lock joint_1', '--lock'),
        ('check a --lock =1', '--lock'),
        ('check a --lock j=nan', '--lock'),
        ('check a --tolerance 0.1', "--tolerance: expected 0 <= tolerance < 0.01, got '0.1'"),
        ('equations a --tolerance=-1e-9', '--tolerance: expected 0 <= tolerance < 0.01'),
        ('equations a --tolerance nan', '--tolerance: expected 0 <= tolerance < 0.01'),
        ('ik a', '--position'),
        ('ik a --position 1 2', '--position'),
        ('ik a --position 1 2 nan', '--position'),
        ('ik a --position 1 2 3 --quaternion 0 0 0 1 --rpy 0 0 0', '--rpy'),
        ('ik a --position 1 2 3 --from here', '--from'),
        ('reproduce nothing', 'nothing'),
        ('reproduce equivalence --arms 0', "--arms: expected a whole number >= 1, got '0'"),
        ('reproduce equivalence --seed 1.5', "--seed: expected a whole number >= 0, got '1.5'"),
        ('reproduce puma --duration nan', "--duration: expected a number > 0, got 'nan'"),
        ('demo --rate 0', '--rate: expected a number'),
        ('demo --load -1', '--load: expected a number'),
        ('demo --duration nan', '--duration: expected a number'),
        ('demo --scenario earthquake', 'tool-load'),
        ('identify a l --cutoff 0', '--cutoff: expected a'),
        ('identify a l --holdout 1', '--holdout: expected a'),
        ('identify a l --spread nan', '--spread: expected a'),
        ('identify a l --gravity 0 x 0', '--gravity: expected a'),
        ('identify a l --scale joint_1', '--scale: expected '),
        ('identify a l --delay a=b', '--delay: expected '),
        ('identify a l --rename a', '--rename: expected '),
        ('identify a l --xacro-arg a=1', '--xacro-arg: expected '),
        ('excite a --duration nan', '--duration: expected'),
        ('excite a --start much', '--start'),
        ('annotate a in --start here', '--start'),
        ('annotate a in --start nan,1', '--start'),
        ('annotate a in --without mass', '--without'),
    ],
)
def test_what_is_no_call_of_a_command_is_named(arguments, message, capsys):
    arguments = arguments.split()
    with pytest.raises(SystemExit) as stop:
        cli.build_parser(arguments[0]).parse_args(arguments)
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert 'usage: ' in error


@pytest.mark.parametrize('name', sorted(cli.COMMANDS.keys() - {'bench'}))
def test_examples_of_the_help_are_command_lines(name, capsys):
    command = cli.COMMANDS[name]
    for example in command.examples:
        cli.build_parser(name).parse_args(example.split())
    outputs = [
        line[line.index('-o') + 1] for line in map(str.split, command.examples) if '-o' in line
    ]
    assert len(set(outputs)) == len(outputs)  # a folder that is there would be refused
    texts = []
    for option in ('--help', '--help-all'):
        with pytest.raises(SystemExit) as stop:
            cli.main([name, option])
        assert stop.value.code == 0
        texts.append(capsys.readouterr().out)
    assert texts[0].rstrip().endswith(command.examples[-1])
    assert (len(texts[1]) > len(texts[0])) == bool(command.common)
    for option in command.common:
        assert option in texts[0]
    words = set(re.split(r'[\s,\[\]|]+', texts[1]))
    actions = cli.build_parser(name)._subparsers._group_actions[0].choices[name]._actions
    missing = {option for action in actions for option in action.option_strings} - words
    assert missing <= ({'--help-all'} if not command.common else set())


PROGRAMS = {
    'ne_dynamics': 'from ne_dynamics.cli.main import main; main()',
    'ne_dynamics_commission': 'from ne_dynamics.executables import commission; commission()',
}
"""As the scripts of setup.py call them."""


@pytest.mark.parametrize(
    ('line', 'expected'),
    [
        ('ne_dynamics ide', 'identify'),
        ('ne_dynamics identify --hold', '--holdout'),
        ('ne_dynamics_commission --simul', '--simulated'),
    ],
)
def test_a_shell_completes_command_lines(line, expected, tmp_path):
    pytest.importorskip('argcomplete', reason='argcomplete is missing')
    offered = tmp_path / 'offered'
    environment = {
        '_ARGCOMPLETE': '1',
        '_ARGCOMPLETE_STDOUT_FILENAME': str(offered),
        'COMP_LINE': line,
        'COMP_POINT': str(len(line)),
    }
    subprocess.run(
        [sys.executable, '-c', PROGRAMS[line.split()[0]]],
        env=os.environ | environment,
        check=True,
        timeout=100,
    )
    assert expected in offered.read_text()
