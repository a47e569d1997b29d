#pragma once

// What Glibc's module map omits. Darwin uses kqueue, so there the header is empty.
#if defined(__linux__)
#include <malloc.h>
#include <pthread.h>
#include <sys/epoll.h>

// glibc declares it only with _GNU_SOURCE.
int pthread_setattr_default_np(const pthread_attr_t *attributes);
#endif
