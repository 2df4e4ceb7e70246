"""Looks from outside at a node that a launch file starts."""

from launch_process import LaunchProcess
from lifecycle_msgs.srv import GetState
from node_probe import ServedProbe
from rcl_interfaces.srv import GetParameters
from rclpy.node import NodeNameNonExistentError
from rclpy.parameter import parameter_value_to_python
from std_msgs.msg import Float64MultiArray


class Watcher(ServedProbe):
    """Watches a node of this name, which begins with '/'."""

    joint_names = ()

    def __init__(self, name):
        super().__init__()
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def is_in(self, state):
        """Return whether this is the lifecycle state of the node."""
        answer = self.call(GetState, 'get_state', GetState.Request(), of=self.name)
        return answer.current_state.label == state

    def parameters(self, *names):
        """Return parameters of the node by name."""
        request = GetParameters.Request(names=names)
        values = self.call(GetParameters, 'get_parameters', request, of=self.name).values
        found = [parameter_value_to_python(value) for value in values]
        plain = [
            value if isinstance(value, (str, bool, float)) else list(value) for value in found
        ]
        return dict(zip(names, plain, strict=True))

    def hear(self, topic):
        """Return a list that commands on a topic come to."""
        received = []
        self.probe.create_subscription(Float64MultiArray, topic, received.append, 1000)
        return received

    def topics(self, which):
        """Return the names of the topics that the node has a `publisher` or `subscriber` of."""
        ask = getattr(self.probe, f'get_{which}_names_and_types_by_node')
        namespace, _, name = self.name.rpartition('/')
        try:
            return {topic for topic, _ in ask(name, namespace or '/')}
        except NodeNameNonExistentError:
            return set()  # not discovered yet, though its services are


def look_at(path, arguments, environment, *parameters, node='/computed_torque', topics=()):
    """Start a launch file and look at a node of it.

    Returns
    -------
    dict
        Parameters of the node.
    dict
        Names of all topics of the node that were seen, by `publisher` and `subscriber`, once those
        that are asked for are among them.
    str
        What was printed.
    """
    seen = {'publisher': set(), 'subscriber': set()}
    with Watcher(node) as watcher, LaunchProcess(path, arguments, environment) as process:
        found = watcher.parameters(*parameters)

        def are_there():
            for which, names in seen.items():
                names |= watcher.topics(which)
            return set(topics) <= seen['publisher'] | seen['subscriber']

        watcher.until(are_there, f'{topics}')
    return found, seen, process.output
