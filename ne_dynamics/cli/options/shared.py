"""Options that several subcommands take, each a row by its name."""

from __future__ import annotations

SHARED = {
    'model': """
[MODEL] > first
    URDF, xacro file (NAME.xacro), or DH file (YAML)
--model, --urdf MODEL
    the model, as an option
""",
    'links': """
--base-link, --base LINK > base
    first link of the chain (URDF; default: the root)
--tip-link, --tip LINK > tip
    last link of the chain (URDF; default: the whole tree); joints outside the chain are locked
""",
    'model_file': """
@model
--xacro-arg NAME:=VALUE * : xacro_argument
    argument of the xacro file; may be repeated
@links
--extras FILE
    YAML file with friction, rotor inertias and gear ratios; `none` for no file (default:
    NAME.extras.yaml beside NAME.urdf, if it exists)
""",
    'lock': """
--lock JOINT=POSITION * : named_number
    locked joint and its position [rad or m] (URDF); may be repeated
""",
    'gravity': """
--gravity X Y Z : number = 0 0 -9.80665
    acceleration of free fall in the axes of the base link [m/s^2]
""",
    'tolerance': """
--tolerance PART : tolerance
    drop numbers that change no joint effort by more than this part of it: 1e-7 for files that
    write 1.5707963 for a quarter turn, 0 for none
""",
    'json': """
--json
    print JSON instead of text
""",
    'document': """
@json
--document FILE : path
    write the tables between markers of a Markdown file
""",
    'picture': """
--output DIR : path
    folder for the picture (default: reproduce_output, or with a number after it)
""",
    'columns': """
--columns T,Q{},DQ{},TAU{} : columns
    what a CSV file calls time, position, velocity and effort, where its header is none that is
    known; {} is the number or the name of a joint, and nothing what is not there: 't,q{},,tau{}'
--rename A=B * : name_pair
    joint A of the log is joint B of the model; one * in both matches the same text; may be
    repeated
""",
    'logs': """
@model_file
LOG... > log
    CSV with a header (time, <joint>.position, <joint>.effort, optionally <joint>.velocity; or t,
    q1, dq1, tau1; UR's RTDE; PlotJuggler; `ros2 topic echo --csv`), or ROS 2 bag of JointState
@gravity
--topic TOPIC
--cutoff HZ : positive
    low-pass for positions and efforts (default: three to six times the highest frequency of the
    motion, from the spectra)
@json
--jobs N : jobs = 1
    number of processes for long logs
or --scheduler ADDRESS
    address of a Dask scheduler, tcp://HOST:PORT, instead of --jobs; its workers need the same
    version of this package (extra `cluster`)
--repair
    repair faults of the log whose cause and amount are certain
# changes of the log: JOINT is a joint of the model, or `all`; all may be repeated
@columns
--scale JOINT=FACTOR * : named_number
--sign JOINT *
--delay JOINT=S * : named_number
--position-sign JOINT *
    reverse the sign of its position
--zero JOINT=ANGLE * : named_number
--degrees
--time-unit : time_unit
--unwrap
#
""",
    'report': """
--report FILE.html : path
    write results and pictures as a page for a browser (extra `report`), also for a refused log
""",
}
"""Tables of :mod:`~ne_dynamics.cli.options.declaration` by the names that stand for them."""
