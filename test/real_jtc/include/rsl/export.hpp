#pragma once
#define RSL_EXPORT
