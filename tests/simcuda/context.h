/* Contexts: primary ones, one a device, and created ones; the stack of current contexts of each thread. */
#ifndef SIMCUDA_CONTEXT_H
#define SIMCUDA_CONTEXT_H

#include "device.h"
#include "object.h"

struct CUctx_st {
    struct object object; /* dead: destroyed, or a primary context that nobody retains */
    struct device *device;
    struct CUctx_st *root; /* whose modules and memory it uses: itself, or a green context's primary one */
    struct CUgreenCtx_st *green; /* or NULL */
    int sms;                     /* fewer than the device's in a green context */
    bool is_primary;
    unsigned retained; /* primary */
    unsigned attached; /* created: cuCtxAttach */
    unsigned flags;
    unsigned api_version;
    uint64_t id;
    uint64_t generation; /* of a primary context: how often it came to life */
    _Atomic size_t limits[CU_LIMIT_MAX];
    _Atomic int cache_config;

    pthread_mutex_t lock;        /* for the lists */
    struct CUstream_st *streams; /* all: legacy, per-thread, the client's */
    struct CUstream_st *legacy;
    struct CUmod_st *modules;
    _Atomic unsigned busy_streams;       /* with queued work */
    _Atomic unsigned capturing_blocking; /* capture.c: captures under way on blocking streams */
    _Atomic uint32_t peers;              /* bit n: access to device n enabled */
};

struct CUctx_st *context_current(void);
/* INVALID_CONTEXT without one, CONTEXT_IS_DESTROYED for a dead one. */
CUresult context_require_current(struct CUctx_st **context);
/* Brings the primary context to life without retaining it, as a library that loads lazily does. */
struct CUctx_st *context_primary(struct device *device);

/* What every context begins and ends with; the caller sets the object's kind to alive. */
void context_begin(struct CUctx_st *context, struct device *device, unsigned flags);
void context_end(struct CUctx_st *context);

/* Makes `context` current for a scope inside the driver. */
bool context_push(struct CUctx_st *context);
struct CUctx_st *context_pop(void);

#endif
