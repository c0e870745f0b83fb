/* Events. Recording takes a ticket; the event is complete when the last ticket taken is done. */
#ifndef SIMCUDA_EVENT_H
#define SIMCUDA_EVENT_H

#include "object.h"
#include "operation.h"

struct capture;

struct CUevent_st {
    struct object object;
    struct CUctx_st *context;
    unsigned flags;
    _Atomic uint64_t recorded, completed; /* tickets */
    _Atomic uint64_t time_ns;             /* CLOCK_MONOTONIC, of the last completed recording */
    _Atomic unsigned references;          /* the handle, and queued operations */
    /* capture.c: the capture that last recorded it, and the node it stands for */
    _Atomic(struct capture *) capture;
    void *capture_state;
};

/* event_submit_* are cuEventRecord and cuStreamWaitEvent below the checks of their handles. */
CUresult event_submit_record(struct CUevent_st *event, struct CUstream_st *stream, unsigned flags);
CUresult event_submit_wait(struct CUevent_st *event, struct CUstream_st *stream, unsigned flags);

/* Used by graphs: records outside any stream's order. */
uint64_t event_take_ticket(struct CUevent_st *event);
void event_complete(struct CUevent_st *event, uint64_t ticket);
void event_wait(struct CUevent_st *event, uint64_t ticket);

#endif
