#pragma once
#include <stddef.h>

/// A file as it was when this was compiled; it lives as long as the process.
struct wsbridge_public_file {
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t count;
};

/// `openapi.yaml` and the files of `public/`, by index, from 0; null behind the last one.
const struct wsbridge_public_file *_Nullable wsbridge_public_file_at(size_t index);

/// The files of `config/presets/`, by index, from 0; null behind the last one. Their names lack `.yaml`.
const struct wsbridge_public_file *_Nullable wsbridge_preset_at(size_t index);
