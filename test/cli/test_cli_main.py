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
from ne_dynamics.shipped import shipped_file

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


def test_help_lists_every_command(call):
    code, text, _ = call('--help')
    assert code == 0
    text = ' '.join(text.split())
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


def test_help_of_a_command_needs_only_the_core():
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
    for name, text in json.loads(result.stdout).items():
        assert str(text).startswith(f'usage: ne_dynamics {name}')


@pytest.fixture
def check(monkeypatch, call):
    """Return a function that calls the command `check`, which is a function of one's own."""

    def run(function):
        module = types.ModuleType('ne_dynamics.cli.check')
        module.add_parser = lambda subparsers: subparsers.add_parser('check')
        module.run = function
        monkeypatch.setitem(sys.modules, 'ne_dynamics.cli.check', module)
        return call('check')

    return run


def raise_error(error):
    """Return a function that raises an error, whatever it is called with."""

    def fail(*_):
        raise error

    return fail


def test_exit_codes(check):
    """An error is a message without a traceback, Ctrl-C is quiet, a defect keeps its traceback."""
    error = ModelError('joint "a": expected a parent link, got none')
    assert check(raise_error(error)) == (1, '', f'ne_dynamics check: error: {error}\n')
    assert check(raise_error(KeyboardInterrupt())) == (130, '', '')
    with pytest.raises(ZeroDivisionError):
        check(raise_error(ZeroDivisionError()))


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


WITH_MODEL = {
    'annotate': 'in out',
    'check': '',
    'commission': '',
    'controller': '-o out',
    'demo': '',
    'excite': '-o out',
    'gains': '--rate 500 --delay 0.002',
    'equations': '',
    'evaluate': 'log',
    'identify': 'log',
    'ik': '--position 0 0 0',
    'reproduce': 'forms',
    'setup': '',
    'whatis': 'log',
}
"""Subcommands that take a model, and what else they need."""


def parse(*words):
    """Return what is parsed of words and lists of them."""
    line = ' '.join(words).split()
    parsed = vars(cli.build_parser(line[0]).parse_args(line))
    return {name: value for name, value in parsed.items() if name not in ('first', 'spelled')}


@pytest.mark.parametrize(('name', 'others'), WITH_MODEL.items())
def test_a_model_is_named_alike_by_every_command(name, others):
    long = parse(name, others, '--model arm --base-link a --tip-link b')
    assert long == parse(name, others, '--model arm --base a --tip b')
    assert [long[key] for key in ('model', 'base', 'tip')] == ['arm', 'a', 'b']


def test_every_command_with_a_model_is_known_here():
    """A new subcommand that takes a model spells it as the others do."""
    for name in cli.COMMANDS:
        text = Path(ROOT, 'ne_dynamics', 'cli', f'{name}.py').read_text(encoding='utf-8')
        rows = ('@model', '@logs')
        assert any(row in text for row in rows) == (name in WITH_MODEL)


@pytest.mark.parametrize(('name', 'others'), WITH_MODEL.items())
def test_a_model_may_stand_alone_but_only_once(name, others, capsys):
    before, after = ('forms', '') if name == 'reproduce' else ('', others)
    alone = parse(name, before, 'arm', after)
    assert alone['model'] == 'arm'
    assert alone == parse(name, before, after, '--model arm')
    wrong = []
    if name not in ('evaluate', 'identify'):  # these have one more log then
        wrong.append((name, before, 'arm', after, '--model arm'))
    if name not in ('annotate', 'commission', 'demo', 'whatis'):  # these say so when they run
        wrong.append((name, before, after))
    for words in wrong:
        with pytest.raises(SystemExit) as stop:
            parse(*words)
        assert stop.value.code == 2
        assert '--model' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('line', 'expected'),
    [
        ('identify arm.urdf --tip-link tcp a.csv', {'model': 'arm.urdf', 'log': ['a.csv']}),
        (
            'identify --tip-link tcp arm.urdf a.csv --holdout 0.1 b.csv',
            {'model': 'arm.urdf', 'log': ['a.csv', 'b.csv'], 'holdout': 0.1},
        ),
        ('identify --model arm.urdf a.csv --force b.csv', {'log': ['a.csv', 'b.csv']}),
        (
            'annotate arm.urdf --tip-link tcp in.yaml --retime out.yaml',
            {'model': 'arm.urdf', 'input': 'in.yaml', 'output': 'out.yaml', 'retime': True},
        ),
        ('annotate --model arm.urdf --retime in.yaml', {'input': 'in.yaml', 'output': None}),
        ('whatis arm.urdf --tip-link tcp a.csv', {'model': 'arm.urdf', 'log': 'a.csv'}),
        ('excite arm', {'position': 0.95, 'velocity': 0.7, 'harmonics': 10}),
        ('gains arm --no-integral', {'rate': 500.0, 'integral': False, 'modes': []}),
        ('ik arm --position 1 -1e-3 0', {'target_pose': [1.0, -1e-3, 0.0], 'rpy': (0.0,) * 3}),
    ],
)
def test_options_may_stand_between_arguments_and_have_the_defaults_of_what_they_are_for(
    line, expected
):
    parsed = parse(line)
    assert {name: parsed[name] for name in expected} == expected


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        ('', 'COMMAND'),
        ('chekc', 'chekc'),
        ('--nonsense', 'COMMAND'),
        ('check arm.urdf --model b.urdf', "either MODEL or --model MODEL, got both: 'arm.urdf'"),
        ('evaluate arm.urdf', "MODEL before LOG or --model MODEL, got 'arm.urdf' alone"),
        ('identify log.csv', "MODEL before LOG or --model MODEL, got 'log.csv' alone"),
        ('check', 'expected MODEL or --model MODEL, got neither'),
        ('check a b', 'b'),
        ('check a --nonsense', 'check: error: unrecognized arguments: --nonsense'),
        ('check a --lock joint_1', '--lock'),
        ('check a --lock =1', '--lock'),
        ('check a --lock j=nan', '--lock'),
        ('check a --tolerance 0.1', "--tolerance: expected 0 <= tolerance < 0.01, got '0.1'"),
        ('equations a --tolerance=-1e-9', '--tolerance: expected 0 <= tolerance < 0.01'),
        ('equations a --tolerance nan', '--tolerance: expected 0 <= tolerance < 0.01'),
        ('equations a --language pascal', "--language: invalid choice: 'pascal'"),
        ('ik a', 'arguments are required: --position'),
        ('ik a --position 1 2', '--position: expected 3 arguments'),
        ('ik a --position 1 2 nan', '--position'),
        ('ik a --position 1 2 3 --quaternion 0 0 0 1 --rpy 0 0 0', '--rpy: not allowed with'),
        ('ik a --position 1 2 3 --from here', '--from'),
        ('reproduce nothing', 'nothing'),
        ('reproduce equivalence --arms 0', "--arms: expected a whole number >= 1, got '0'"),
        ('reproduce equivalence --seed 1.5', "--seed: expected a whole number >= 0, got '1.5'"),
        ('reproduce puma --duration nan', "--duration: expected a number > 0, got 'nan'"),
        ('demo --rate 0', '--rate: expected a number'),
        ('demo --load -1', '--load: expected a number'),
        ('demo --scenario earthquake', 'tool-load'),
        ('identify a l --cutoff 0', '--cutoff: expected a'),
        ('identify a l --holdout 1', '--holdout: expected a'),
        ('identify a l --spread nan', '--spread: expected a'),
        ('identify a l --gravity 0 x 0', '--gravity: expected a'),
        ('identify a l --scale joint_1', '--scale: expected '),
        ('identify a l --delay a=b', '--delay: expected '),
        ('identify a l --rename a', '--rename: expected '),
        ('identify a l --xacro-arg a=1', '--xacro-arg: expected '),
        ('identify a l --columns t,q', '--columns: expected TIME,POSITION,VELOCITY,EFFORT'),
        ('excite a --duration nan', '--duration: expected'),
        ('excite a --start much', '--start'),
        ('annotate a in --start here', '--start'),
        ('annotate a in --start nan,1', '--start'),
        ('annotate a in --without mass', '--without'),
        ('commission --seed -1', "--seed: expected a whole number >= 0, got '-1'"),
        ('commission --namespace my/-arm', "letters, digits and _ with / between them, got 'my/-"),
    ],
)
def test_what_is_no_call_of_a_command_is_named(line, message, call):
    code, _, err = call(*line.split())
    assert code == 2
    assert message in err
    command = line.split()[0] if line and line.split()[0] in cli.COMMANDS else '[-h]'
    assert f'usage: ne_dynamics {command}' in err


@pytest.mark.parametrize('name', sorted(cli.COMMANDS.keys() - {'bench'}))
def test_examples_of_the_help_are_command_lines(name, call):
    command = cli.COMMANDS[name]
    for example in command.examples:
        cli.build_parser(name).parse_args(example.split())
    outputs = [
        line[line.index('-o') + 1] for line in map(str.split, command.examples) if '-o' in line
    ]
    assert len(set(outputs)) == len(outputs)  # a folder that is there would be refused
    (code, short, _), (_, long, _) = (call(name, option) for option in ('--help', '--help-all'))
    assert code == 0
    assert short.rstrip().endswith(command.examples[-1])
    assert (len(long) > len(short)) == bool(command.common)
    for option in command.common:
        assert option in short
    words = set(re.split(r'[\s,\[\]|]+', long))
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


def test_shells_that_complete_everything_find_the_command():
    """Argcomplete's global completion looks for a marker at the beginning of the entry point."""
    pytest.importorskip('argcomplete', reason='argcomplete is missing')
    assert run_python('-m', 'argcomplete._check_module', 'ne_dynamics.cli.main').returncode == 0


def test_help_from_a_docstring_names_options(call):
    """Another parameter, and a default, are said there as in the other rows."""
    for name, said in (
        ('annotate', 'with --retime: as fast as the limits allow'),
        ('excite', '(default: for a highest one of 0.5 Hz)'),
    ):
        _, text, _ = call(name, '--help-all')
        assert said in ' '.join(text.split())


def test_errors_name_the_option_that_was_given_and_no_other(tmp_path, monkeypatch, refused):
    """What a file is called, or holds, is no option."""
    monkeypatch.chdir(tmp_path)
    Path('log.csv').write_text('time\n', encoding='utf-8')
    Path('mass').write_text('no URDF\n', encoding='utf-8')
    Path('p.yaml').write_text(
        '/computed_torque: {ros__parameters: {gravity: [1.0, 2.0]}}\n', encoding='utf-8'
    )
    model = shipped_file('six_axis_arm.urdf')
    folder = ['-o', 'arm', '--tip-link', 'tcp']
    for message, *words in (
        ('error: mass: -o: expected a new file', 'identify', model, 'log.csv', '-o', 'mass'),
        ('error: gravity: expected', 'controller', model, *folder, '--params', 'p.yaml'),
        ('error: --tip-link: expected', 'evaluate', model, 'log.csv', '--tip-link', 'nope'),
    ):
        refused(message, *words)
