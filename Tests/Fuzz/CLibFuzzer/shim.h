#pragma once
#include <stddef.h>
#include <stdint.h>

/* libFuzzer has no header; this is its documented way to run it from a main function of one's own. */
int LLVMFuzzerRunDriver(int *argument_count, char ***arguments, int (*test_one_input)(const uint8_t *, size_t));
