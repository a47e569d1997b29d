#pragma once

#include <stddef.h>

// Files that are compiled into the program, so that they are wherever it is. In C, since the compiler of Swift takes half a
// minute for an array of their 220,000 bytes.
struct embedded_file {
    // Such as "page/index.html".
    const char *path;
    const unsigned char *bytes;
    size_t count;
};

size_t embedded_file_count(void);

// The index is below the count.
struct embedded_file embedded_file_at(size_t index);
