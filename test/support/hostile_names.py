"""Names of robots, joints and links that say something to a compiler."""

from dataclasses import replace

HOSTILE = {
    'import': "__import__('os').system('touch /tmp/owned')",
    'newline': 'arm\nimport os  # owned',
    'return': 'arm\rimport os  # owned',
    'include': 'arm\nint owned;\r\n#include "owned.h"',
    'quotes': '\'"""; import os; owned = """\'',
    'comment': '*/ int owned = 1; /*',
    'open comment': '/* owned',
    'line comment': '// owned',
    'mark': '# owned)',
    'continued': 'owned \\',
    'trigraph': 'owned ??/',
    'questions': '?????/',
    'slash after accent': '\u00e9?/',
    'separators': 'arm\u2028import os\u2029owned\x85import os',
    'unicode': 'Gelenk_\u00e4\u00f6\u00fc_\U0001f916_owned',
    'override': '\u202eowned',
    'llvm': 'x" } define void @owned() { ret void }',
    'call': '"); owned("',
    'format': '{owned} %s %n owned',
    'cmake': '${owned} $ENV{owned} @owned@ [[owned]]',
    'spaces': '   owned   ',
    'keyword': 'lambda',
    'own names': 'q1',
    'utf-7': "arm coding:utf-7 +AAo-open('owned', 'w')#",
    'emacs': '-*- coding: utf-7 -*-',
    'vim': 'vim: set fileencoding=utf-7 :',
    'unknown coding': 'coding: foo',
    'assigned coding': 'coding=utf-16',
    'upper coding': 'CODING: foo',
    'coding twice': 'codingcoding: foo',
    'wide coding': 'c\u043eding: foo',
    'marked coding': '\ufeffcoding: foo',
}
"""Texts by what they try."""


def rename(robot, text):
    """Return a robot whose every name is made from a text."""
    return replace(
        robot,
        name=text,
        source=text,
        joints=tuple(
            replace(joint, name=f'{index} {text}') for index, joint in enumerate(robot.joints)
        ),
        bodies=tuple(
            replace(body, name=f'{text} {index}') for index, body in enumerate(robot.bodies)
        ),
        links=tuple(
            replace(link, name=f'{text} {index}') for index, link in enumerate(robot.links)
        ),
        base_link=f'{text} 0',
        tip_link=f'{text} {len(robot.links) - 1}',
    )
