#pragma once
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
