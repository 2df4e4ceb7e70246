// A stand-in of pal_statistics.
#pragma once
#include "pal_statistics/pal_statistics_utils.hpp"
#define REGISTER_ENTITY(...)
#define UNREGISTER_ENTITY(...)
#define CLEAR_ALL_REGISTRIES()
#define INITIALIZE_REGISTRY(...)
#define START_PUBLISH_THREAD(...)
#define PUBLISH_ASYNC_STATISTICS(...)
#define PUBLISH_STATISTICS(...)
