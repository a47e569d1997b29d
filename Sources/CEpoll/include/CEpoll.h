#pragma once

// What Glibc's module map leaves out. Darwin has kqueue instead, so there the header is empty.
#if defined(__linux__)
#include <malloc.h>
#include <sys/epoll.h>
#endif
