#pragma once
#include <tl/expected.hpp>
