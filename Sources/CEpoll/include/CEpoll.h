#pragma once

// What Glibc's module map leaves out. Darwin has kqueue instead, so there the header is empty.
#if defined(__linux__)
#include <malloc.h>
#include <pthread.h>
#include <sys/epoll.h>

// The header has it for those alone who define _GNU_SOURCE.
int pthread_setattr_default_np(const pthread_attr_t *attributes);
#endif
