#pragma once
// Input is const then, as it is in truth.
#define ZLIB_CONST
#include <zlib.h>
