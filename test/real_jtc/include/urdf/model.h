// A stand-in of urdf: urdfdom reads the description.
#pragma once
#include <string>

#include <urdf_parser/urdf_parser.h>

namespace urdf
{
class Model : public ModelInterface
{
public:
  bool initString(const std::string & text)
  {
    const auto read = parseURDF(text);
    if (read) static_cast<ModelInterface &>(*this) = *read;
    return read != nullptr;
  }
};
}  // namespace urdf
