"""Small robots as texts of a URDF."""


def link_xml(
    name,
    mass=1.0,
    xyz='0 0 0',
    rpy='0 0 0',
    moments=(0.01, 0.02, 0.025),
    products=(0, 0, 0),
    inside='',
):
    """Return a link; `moments` are xx, yy and zz of its inertia, `products` xy, xz and yz."""
    names = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
    tensor = ' '.join(f'{k}="{v}"' for k, v in zip(names, (*moments, *products), strict=True))
    return (
        f'<link name="{name}"><inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/>'
        f'<inertia {tensor}/></inertial>{inside}</link>'
    )


def limit_xml(lower=-2, upper=2, effort=10, velocity=3):
    """Return the limits of a joint."""
    return f'<limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"/>'


def joint_xml(
    name, parent, child, kind='revolute', inside='', xyz='0 0 0', rpy='0 0 0', axis='0 0 1'
):
    """Return a joint, with the default limits unless something else is inside."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{inside or limit_xml()}</joint>'
    )


def robot_xml(*parts, name='test'):
    """Return a URDF of links and joints; a name alone stands for a link without mass."""
    texts = (part if part.startswith('<') else f'<link name="{part}"/>' for part in parts)
    return f'<robot name="{name}">{"".join(texts)}</robot>'
