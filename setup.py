"""Package description; read by colcon (build type ament_python) and by pip alike."""

import re
from glob import glob
from pathlib import Path
from xml.etree import ElementTree

from setuptools import find_packages, setup

PACKAGE = 'ne_dynamics'
PROJECT = Path(__file__).resolve().parent  # colcon may run this file by a symbolic link

URLS = {
    url.get('type'): url.text for url in ElementTree.parse(PROJECT / 'package.xml').iter('url')
}

# A page of the package index has no files beside it: links of the README lead into the repository.
FILES = URLS['repository'].removesuffix('.git') + '/blob/main/'
LONG_DESCRIPTION = re.sub(
    r'\]\((?!https?:|#)', f']({FILES}', (PROJECT / 'README.md').read_text(encoding='utf-8')
)

EXTRAS = {
    # The node and the simulated robot where no ROS 2 installation brings these modules.
    'ros': [
        'ros-jazzy-rclpy',
        'ros-jazzy-rmw-fastrtps-cpp',
        'ros-jazzy-action-msgs',
        'ros-jazzy-builtin-interfaces',
        'ros-jazzy-diagnostic-msgs',
        'ros-jazzy-geometry-msgs',
        'ros-jazzy-lifecycle-msgs',
        'ros-jazzy-rcl-interfaces',
        'ros-jazzy-rosgraph-msgs',
        'ros-jazzy-sensor-msgs',
        'ros-jazzy-std-msgs',
        'ros-jazzy-std-srvs',
        'ros-jazzy-trajectory-msgs',
    ],
    'sim': ['mujoco>=3.2'],
    # The compiler. Older releases cannot read LLVM's opaque pointers.
    'fast': ['llvmlite>=0.45'],
    'plot': ['matplotlib'],
    # Pages of `identify --report`, with their pictures.
    'report': ['jinja2>=3.0', 'matplotlib>=3.6'],
    # Logs that are ROS 2 bags.
    'bag': ['rosbags>=0.10'],
    # The work on long logs on other computers.
    'cluster': ['distributed>=2024.1'],
    # Motions that tell most: the optimiser, distances between links, linear algebra in one thread.
    'excite': ['scipy>=1.11', 'coal>=3', 'threadpoolctl>=3'],
    # Completion of command lines: eval "$(register-python-argcomplete ne_dynamics)".
    'completion': ['argcomplete'],
    # Models that are xacro files.
    'xacro': ['xacro'],
    # Other people's dynamics, robots and checks that the tests compare with.
    'test': [
        'pytest',
        'pytest-xdist',
        'hypothesis',
        'pin>=3',
        'example-robot-data',
        'roboticstoolbox-python>=1.5',
        'array-api-strict>=2.3',
        'mujoco>=3.2',
        'rosbags>=0.10',
        'distributed>=2024.1',
        'scipy>=1.11',
        'coal>=3',
        'threadpoolctl>=3',
        # How fast a path may be followed.
        'toppra>=0.6.10',
        'xacro',
        'argcomplete',
        # Builds what `ne_dynamics equations --all --language c` writes.
        'cmake>=3.14',
        # Gazebo's physics engine; its wheels are for this platform only.
        'dartpy>=6.20; platform_system == "Linux" and platform_machine == "x86_64"',
    ],
    # The site: make docs.
    'docs': ['sphinx>=8', 'myst-parser>=4', 'numpydoc>=1.8', 'furo'],
    'dev': ['ruff', 'mypy', 'types-PyYAML', 'colcon-common-extensions', 'twine'],
}

setup(
    name=PACKAGE,
    version='0.1.0',
    description='Newton-Euler robot dynamics: computed-torque control as a ROS 2 node and as a '
    'Python library',
    long_description=LONG_DESCRIPTION,
    long_description_content_type='text/markdown',
    maintainer='ne_dynamics maintainers',
    maintainer_email='maintainers@ne-dynamics.example',
    url=URLS['website'],
    project_urls={
        'Source': URLS['repository'],
        'Issues': URLS['bugtracker'],
        'Changelog': f'{FILES}CHANGELOG.rst',
    },
    license='Apache-2.0',
    classifiers=[
        'Development Status :: 4 - Beta',
        'Intended Audience :: Science/Research',
        'Intended Audience :: Developers',
        'Operating System :: POSIX :: Linux',
        'Programming Language :: Python :: 3',
        'Programming Language :: Python :: 3.10',
        'Programming Language :: Python :: 3.11',
        'Programming Language :: Python :: 3.12',
        'Programming Language :: Python :: 3.13',
        'Programming Language :: Python :: 3.14',
        'Topic :: Scientific/Engineering',
        'Typing :: Typed',
    ],
    keywords=['robotics', 'dynamics', 'control', 'ROS'],
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={
        PACKAGE: [
            'py.typed',
            'codegen/c/templates/*.in',
            'report_page/*.jinja',
            'bring_up/templates/*.jinja',
            'bring_up/templates/*/*.jinja',
            'bring_up/controller_templates/*.jinja',
            'bring_up/controller_templates/*/*.jinja',
        ]
    },
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        (f'share/{PACKAGE}/launch', sorted(glob('launch/*.launch.py'))),
        (f'share/{PACKAGE}/config', sorted(glob('config/*'))),
        (f'share/{PACKAGE}/examples', sorted(glob('examples/*.py') + glob('examples/*.ipynb'))),
    ],
    zip_safe=False,
    python_requires='>=3.10',  # to 3.14; what was run is in CONTRIBUTING.md
    install_requires=['numpy>=1.26', 'PyYAML', 'tqdm', 'urdf-parser-py'],
    extras_require=EXTRAS,
    entry_points={
        'console_scripts': [
            'computed_torque = ne_dynamics.executables:computed_torque',
            'annotator = ne_dynamics.executables:annotator',
            'simulated_robot = ne_dynamics.executables:simulated_robot',
            'commission = ne_dynamics.executables:commission',
            'ne_dynamics = ne_dynamics.cli.main:main',
            # The same where pip puts them on the path, beside programs of other packages.
            'ne_dynamics_computed_torque = ne_dynamics.executables:computed_torque',
            'ne_dynamics_annotator = ne_dynamics.executables:annotator',
            'ne_dynamics_simulated_robot = ne_dynamics.executables:simulated_robot',
            'ne_dynamics_commission = ne_dynamics.executables:commission',
        ],
    },
)
