// What Gazebo's parser makes of a URDF or SDF file, as JSON. Compiled by test_gazebo_parser.py.
//
//     sdformat_report FILE
//
// Poses are [x, y, z, qw, qx, qy, qz] in the frame of the model (of an inertia: in its link's),
// axes in the frame of the model. Warnings of the parser go to the standard error. The types of
// the mathematics are deduced: their namespace is another one in every other release.

#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <sdf/ForceTorque.hh>
#include <sdf/Joint.hh>
#include <sdf/JointAxis.hh>
#include <sdf/Link.hh>
#include <sdf/Model.hh>
#include <sdf/Root.hh>
#include <sdf/Sensor.hh>
#include <sdf/World.hh>

std::vector<std::string> faults;

std::string quoted(const std::string &text) {
  std::ostringstream stream;
  stream << '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      stream << '\\' << c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      stream << "\\u" << std::hex << std::setw(4) << std::setfill('0') << static_cast<int>(c);
    } else {
      stream << c;
    }
  }
  return stream.str() + '"';
}

std::string number(double value) {
  if (std::isinf(value)) return value > 0.0 ? "Infinity" : "-Infinity";
  std::ostringstream stream;
  stream << std::setprecision(17) << value;
  return stream.str();
}

std::string list(const std::vector<std::string> &items) {
  std::string text = "[";
  for (const auto &item : items) text += (text.size() > 1 ? ", " : "") + item;
  return text + "]";
}

template <class Vector>
std::string vector_list(const Vector &v) {
  return list({number(v.X()), number(v.Y()), number(v.Z())});
}

template <class Pose>
std::string pose_list(const Pose &p) {
  return list({number(p.Pos().X()), number(p.Pos().Y()), number(p.Pos().Z()), number(p.Rot().W()),
               number(p.Rot().X()), number(p.Rot().Y()), number(p.Rot().Z())});
}

void note(const sdf::Errors &errors) {
  for (const auto &error : errors) faults.push_back(quoted(error.Message()));
}

std::string plugins_of(const sdf::ElementPtr &element) {
  std::vector<std::string> items;
  if (element && element->HasElement("plugin")) {
    for (auto plugin = element->GetElement("plugin"); plugin;
         plugin = plugin->GetNextElement("plugin")) {
      std::string children;
      for (auto child = plugin->GetFirstElement(); child; child = child->GetNextElement()) {
        const std::string value = child->GetFirstElement()
                                      ? child->GetFirstElement()->Get<std::string>()
                                      : child->Get<std::string>();
        children += (children.empty() ? "" : ", ") + quoted(child->GetName());
        children += ": " + quoted(value);
      }
      items.push_back("{\"name\": " + quoted(plugin->Get<std::string>("name")) +
                      ", \"filename\": " + quoted(plugin->Get<std::string>("filename")) +
                      ", \"elements\": {" + children + "}}");
    }
  }
  return list(items);
}

std::string link_report(const sdf::Link &link) {
  auto pose = link.RawPose();
  note(link.SemanticPose().Resolve(pose, "__model__"));
  const auto &inertial = link.Inertial();
  const auto &mass = inertial.MassMatrix();
  return "{\"name\": " + quoted(link.Name()) + ", \"pose\": " + pose_list(pose) +
         ", \"mass\": " + number(mass.Mass()) +
         ", \"inertial_pose\": " + pose_list(inertial.Pose()) +
         ", \"diagonal\": " + vector_list(mass.DiagonalMoments()) +
         ", \"off_diagonal\": " + vector_list(mass.OffDiagonalMoments()) + "}";
}

std::string joint_report(const sdf::Joint &joint) {
  std::string text = "{\"name\": " + quoted(joint.Name()) + ", \"parent\": " +
                     quoted(joint.ParentLinkName()) + ", \"child\": " +
                     quoted(joint.ChildLinkName());
  auto pose = joint.RawPose();
  note(joint.SemanticPose().Resolve(pose, joint.ChildLinkName()));
  text += ", \"pose_in_child\": " + pose_list(pose);
  switch (joint.Type()) {
    case sdf::JointType::FIXED: text += ", \"type\": \"fixed\""; break;
    case sdf::JointType::REVOLUTE: text += ", \"type\": \"revolute\""; break;
    case sdf::JointType::CONTINUOUS: text += ", \"type\": \"continuous\""; break;
    case sdf::JointType::PRISMATIC: text += ", \"type\": \"prismatic\""; break;
    default: text += ", \"type\": \"other\"";
  }
  if (const auto *axis = joint.Axis()) {
    auto direction = axis->Xyz();
    note(axis->ResolveXyz(direction, "__model__"));
    text += ", \"axis\": " + vector_list(direction) + ", \"damping\": " + number(axis->Damping()) +
            ", \"friction\": " + number(axis->Friction()) +
            ", \"lower\": " + number(axis->Lower()) +
            ", \"upper\": " + number(axis->Upper()) + ", \"effort\": " + number(axis->Effort()) +
            ", \"velocity\": " + number(axis->MaxVelocity());
  }
  std::vector<std::string> sensors;
  for (uint64_t i = 0; i < joint.SensorCount(); ++i) {
    const auto *sensor = joint.SensorByIndex(i);
    std::string item = "{\"name\": " + quoted(sensor->Name()) + ", \"type\": " +
                       quoted(sensor->TypeStr()) +
                       ", \"pose_in_joint\": " + pose_list(sensor->RawPose()) +
                       ", \"rate\": " + number(sensor->UpdateRate());
    if (const auto *force_torque = sensor->ForceTorqueSensor()) {
      const bool in_child = force_torque->Frame() == sdf::ForceTorqueFrame::CHILD;
      const bool on_parent = force_torque->MeasureDirection() ==
                             sdf::ForceTorqueMeasureDirection::CHILD_TO_PARENT;
      item += std::string(", \"frame\": ") + (in_child ? "\"child\"" : "\"other\"") +
              ", \"direction\": " + (on_parent ? "\"child_to_parent\"" : "\"parent_to_child\"");
    }
    sensors.push_back(item + "}");
  }
  return text + ", \"sensors\": " + list(sensors) + "}";
}

std::string model_report(const sdf::Model &model) {
  std::vector<std::string> links, joints;
  for (uint64_t i = 0; i < model.LinkCount(); ++i) {
    links.push_back(link_report(*model.LinkByIndex(i)));
  }
  for (uint64_t i = 0; i < model.JointCount(); ++i) {
    joints.push_back(joint_report(*model.JointByIndex(i)));
  }
  return "{\"name\": " + quoted(model.Name()) + ", \"links\": " + list(links) +
         ", \"joints\": " + list(joints) + ", \"plugins\": " + plugins_of(model.Element()) + "}";
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: sdformat_report FILE\n";
    return 2;
  }
  sdf::Root root;
  note(root.Load(argv[1]));
  std::vector<std::string> models, worlds;
  if (const auto *model = root.Model()) models.push_back(model_report(*model));
  for (uint64_t i = 0; i < root.WorldCount(); ++i) {
    const auto *world = root.WorldByIndex(i);
    worlds.push_back("{\"name\": " + quoted(world->Name()) + ", \"gravity\": " +
                     vector_list(world->Gravity()) + ", \"plugins\": " +
                     plugins_of(world->Element()) + "}");
  }
  std::cout << "{\"version\": " << quoted(SDF_VERSION) << ", \"models\": " << list(models)
            << ", \"worlds\": " << list(worlds) << ", \"errors\": " << list(faults) << "}\n";
  return 0;
}
