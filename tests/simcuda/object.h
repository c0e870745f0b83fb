/* What every handle points to, and the pools that handles come from.
 *
 * A pool never gives memory back, so a handle that the client kept too long still points to an object, of
 * kind OBJECT_DEAD. Freed objects are handed out again last in, first out: handles are reused as a real
 * driver reuses them. */
#ifndef SIMCUDA_OBJECT_H
#define SIMCUDA_OBJECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum object_kind {
    OBJECT_DEAD = 0,
    OBJECT_CONTEXT = 0x51a00001,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_MODULE,
    OBJECT_LIBRARY,
    OBJECT_FUNCTION,
    OBJECT_KERNEL,
    OBJECT_POOL,
    OBJECT_ALLOCATION, /* cuMemCreate */
    OBJECT_LINKER,
    OBJECT_GREEN_CONTEXT,
    OBJECT_RESOURCES, /* cuDevResourceGenerateDesc */
    OBJECT_GRAPH,
    OBJECT_GRAPH_NODE,
    OBJECT_GRAPH_EXEC,
    OBJECT_USER_OBJECT
};

struct object {
    _Atomic uint32_t kind;
    uint32_t reserved;
    struct object *next_free;
};

static inline bool object_is(const void *handle, enum object_kind kind)
{
    return handle &&
           atomic_load_explicit(&((const struct object *)handle)->kind, memory_order_acquire) == kind;
}

/* What was filled in since pool_take is there for whoever finds the object's kind, however a handle reached
 * it: nvcc's code hands handles from thread to thread in ways that ThreadSanitizer does not see. */
static inline void object_publish(void *handle)
{
    struct object *object = handle;
    atomic_store_explicit(&object->kind, atomic_load_explicit(&object->kind, memory_order_relaxed),
                          memory_order_release);
}

struct pool {
    pthread_mutex_t lock;
    size_t object_bytes;
    struct object *free;
};
#define POOL(type)                                                                                           \
    {                                                                                                        \
        PTHREAD_MUTEX_INITIALIZER, sizeof(type), NULL                                                        \
    }

/* A zeroed object with `kind` set, or NULL. */
void *pool_take(struct pool *pool, enum object_kind kind);
/* Marks the object dead and keeps it for the next pool_take. */
void pool_give(struct pool *pool, void *object);

#endif
