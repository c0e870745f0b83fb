/* The pools that handles come from. */
#include "object.h"
#include "require.h"

#include <stdlib.h>
#include <string.h>

void *pool_take(struct pool *pool, enum object_kind kind)
{
    pthread_mutex_lock(&pool->lock);
    struct object *object = pool->free;
    if (object) {
        pool->free = object->next_free;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!object) {
        object = malloc(pool->object_bytes);
    }
    if (object) {
        size_t after_kind = offsetof(struct object, reserved);
        memset((char *)object + after_kind, 0, pool->object_bytes - after_kind);
        atomic_store_explicit(&object->kind, kind, memory_order_release);
    }
    return object;
}

void pool_give(struct pool *pool, void *given)
{
    struct object *object = given;
    atomic_store_explicit(&object->kind, OBJECT_DEAD, memory_order_release);
    pthread_mutex_lock(&pool->lock);
    object->next_free = pool->free;
    pool->free = object;
    pthread_mutex_unlock(&pool->lock);
}

CUresult object_refuse(const void *handle, enum call call)
{
    if (object_is(handle, OBJECT_DEAD)) {
        ledger_fault("use after unload or destruction: %s", call_name(call));
    } else if (handle) {
        ledger_fault("wrong kind of handle: %s", call_name(call));
    }
    return CUDA_ERROR_INVALID_HANDLE;
}
