#include "kqueue.h"

#ifdef __linux__

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

// kqueue(2) by epoll, as far as the engine goes: level-triggered filters for reading and writing, one change at a time,
// and filters that go when their descriptor is closed. It replaces kqueue where there is none, for tests only.

enum { descriptors = 65536, largest_batch = 256 };

// Which epoll events each descriptor has in each queue. Of a descriptor that was closed it is out of date until the number
// is watched again: epoll has forgotten it, and says so.
static uint8_t *watched[descriptors];

int kqueue(void) {
    int queue = epoll_create1(0);
    if (queue < 0) return -1;
    if (queue >= descriptors) abort();
    // What a queue of that number had, which is closed.
    free(watched[queue]);
    watched[queue] = calloc(descriptors, 1);
    if (!watched[queue]) abort();
    return queue;
}

// The end of the input interests readers only; to others it would be reported again and again.
static uint32_t with_end(uint8_t events) { return events & EPOLLIN ? events | EPOLLRDHUP : events; }

static int apply(int queue, const struct kevent *change) {
    if (change->ident >= descriptors) { errno = ENOMEM; return -1; }
    int descriptor = (int)change->ident;
    uint8_t bit = change->filter == EVFILT_READ ? EPOLLIN : EPOLLOUT;
    uint8_t before = watched[queue][descriptor];
    uint8_t after = change->flags & EV_ADD ? before | bit : before & ~bit;
    if (change->flags & EV_DELETE && !(before & bit)) { errno = ENOENT; return -1; }
    struct epoll_event event = { .events = with_end(after), .data.fd = descriptor };
    int code = epoll_ctl(queue, after ? before ? EPOLL_CTL_MOD : EPOLL_CTL_ADD : EPOLL_CTL_DEL, descriptor, &event);
    if (code != 0 && errno == ENOENT && change->flags & EV_ADD) {
        after = bit;
        event.events = with_end(after);
        code = epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event);
    }
    if (code == 0) watched[queue][descriptor] = after;
    return code;
}

// An end is reported to readers, a broken connection to both directions and with a reason.
static int report(const struct epoll_event *event, uint8_t bit, struct kevent *found) {
    uint32_t ended = bit == EPOLLIN ? EPOLLRDHUP | EPOLLHUP | EPOLLERR : EPOLLHUP | EPOLLERR;
    if (!(event->events & (bit | ended))) return 0;
    *found = (struct kevent){
        .ident = event->data.fd,
        .filter = bit == EPOLLIN ? EVFILT_READ : EVFILT_WRITE,
        .flags = event->events & ended ? EV_EOF : 0,
        // The socket would give its reason only once, and the engine asks for it.
        .fflags = event->events & EPOLLERR ? ECONNRESET : 0,
    };
    return 1;
}

int kevent(int queue, const struct kevent *changes, int change_count, struct kevent *found, int room,
    const struct timespec *timeout) {
    for (int index = 0; index < change_count; index++)
        if (apply(queue, &changes[index]) != 0) return -1;
    if (room == 0) return 0;
    struct epoll_event events[largest_batch];
    int most = room / 2 < largest_batch ? room / 2 : largest_batch;
    int milliseconds = timeout ? (int)(timeout->tv_sec * 1000 + (timeout->tv_nsec + 999999) / 1000000) : -1;
    int count = epoll_wait(queue, events, most, milliseconds);
    if (count < 0) return -1;
    int reported = 0;
    for (int index = 0; index < count; index++) {
        uint8_t bits = watched[queue][events[index].data.fd];
        if (bits & EPOLLIN) reported += report(&events[index], EPOLLIN, &found[reported]);
        if (bits & EPOLLOUT) reported += report(&events[index], EPOLLOUT, &found[reported]);
    }
    return reported;
}

#endif
