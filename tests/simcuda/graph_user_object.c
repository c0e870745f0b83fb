/* User objects: reference counts that graphs can hold on behalf of the client. */
#include "graph.h"
#include "require.h"

#include <limits.h>
#include <stdlib.h>

struct CUuserObject_st {
    struct object object;
    _Atomic uint64_t references;
    CUhostFn destroy;
    void *data;
};

struct graph_user_reference {
    struct graph_user_reference *next;
    struct CUuserObject_st *object;
    uint64_t count;
};

static struct pool object_pool = POOL(struct CUuserObject_st);

/* A destructor runs on a thread that may not call the driver; the calling one is marked so meanwhile. */
static void object_destroy(struct CUuserObject_st *object)
{
    CUhostFn destroy = object->destroy;
    void *data = object->data;
    struct thread_state *thread = thread_current();
    bool outer = thread->in_callback;
    pool_give(&object_pool, object);
    thread->in_callback = true;
    destroy(data);
    thread->in_callback = outer;
}

static CUresult object_release(struct CUuserObject_st *object, uint64_t count)
{
    uint64_t held = atomic_load(&object->references);
    do {
        REQUIRE(count <= held);
    } while (!atomic_compare_exchange_weak(&object->references, &held, held - count));
    if (held == count) {
        object_destroy(object);
    }
    return CUDA_SUCCESS;
}

static struct graph_user_reference **find(CUgraph graph, const struct CUuserObject_st *object)
{
    struct graph_user_reference **link = &graph->users;
    while (*link && (*link)->object != object) {
        link = &(*link)->next;
    }
    return link;
}

/* The references themselves are the caller's affair. */
static CUresult graph_hold(CUgraph graph, struct CUuserObject_st *object, uint64_t count)
{
    struct graph_user_reference **link = find(graph, object);
    if (!*link) {
        *link = calloc(1, sizeof(**link));
        if (!*link) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        (*link)->object = object;
    }
    (*link)->count += count;
    return CUDA_SUCCESS;
}

void graph_user_references_free(CUgraph graph)
{
    struct graph_user_reference *next;
    for (struct graph_user_reference *user = graph->users; user; user = next) {
        next = user->next;
        object_release(user->object, user->count);
        free(user);
    }
    graph->users = NULL;
}

CUresult graph_user_references_copy(CUgraph from, CUgraph to)
{
    for (struct graph_user_reference *user = from->users; user; user = user->next) {
        TRY(graph_hold(to, user->object, user->count));
        atomic_fetch_add(&user->object->references, user->count);
    }
    return CUDA_SUCCESS;
}

/* --- exported ------------------------------------------------------------------------------------------ */

#define REQUIRE_COUNT(count) REQUIRE((count) != 0 && (count) <= INT_MAX)

CUresult CUDAAPI cuUserObjectCreate(CUuserObject *object, void *data, CUhostFn destroy, unsigned references,
                                    unsigned flags)
{
    ENTER(cuUserObjectCreate);
    REQUIRE(object && destroy && flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    REQUIRE_COUNT(references);
    struct CUuserObject_st *made = pool_take(&object_pool, OBJECT_USER_OBJECT);
    if (!made) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    atomic_store(&made->references, references);
    made->destroy = destroy;
    made->data = data;
    *object = made;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuUserObjectRetain(CUuserObject object, unsigned count)
{
    ENTER(cuUserObjectRetain);
    REQUIRE_OBJECT(object, OBJECT_USER_OBJECT, cuUserObjectRetain);
    REQUIRE_COUNT(count);
    atomic_fetch_add(&object->references, count);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuUserObjectRelease(CUuserObject object, unsigned count)
{
    ENTER(cuUserObjectRelease);
    REQUIRE_OBJECT(object, OBJECT_USER_OBJECT, cuUserObjectRelease);
    REQUIRE_COUNT(count);
    return object_release(object, count);
}

CUresult CUDAAPI cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags)
{
    ENTER(cuGraphRetainUserObject);
    REQUIRE_GRAPH(graph, cuGraphRetainUserObject);
    REQUIRE_OBJECT(object, OBJECT_USER_OBJECT, cuGraphRetainUserObject);
    REQUIRE_COUNT(count);
    REQUIRE((flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE) == 0);
    TRY(graph_hold(graph, object, count));
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) {
        atomic_fetch_add(&object->references, count);
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count)
{
    ENTER(cuGraphReleaseUserObject);
    REQUIRE_GRAPH(graph, cuGraphReleaseUserObject);
    REQUIRE_OBJECT(object, OBJECT_USER_OBJECT, cuGraphReleaseUserObject);
    REQUIRE_COUNT(count);
    struct graph_user_reference **link = find(graph, object), *user = *link;
    REQUIRE(user && count <= user->count);
    user->count -= count;
    if (user->count == 0) {
        *link = user->next;
        free(user);
    }
    return object_release(object, count);
}
