/* Inside stream capture: what is known of each capture under way. Everything is under one lock. */
#ifndef SIMCUDA_CAPTURE_STATE_H
#define SIMCUDA_CAPTURE_STATE_H

#include "capture.h"
#include "graph.h"

/* The nodes that the next one captured in a stream will depend on. */
struct node_set {
    CUgraphNode *nodes;
    CUgraphEdgeData *data;
    size_t count, room;
};

struct captured_stream {
    struct captured_stream *next;
    struct CUstream_st *stream;
    struct node_set tail;
};

struct captured_event {
    struct captured_event *next;
    struct CUevent_st *event;
    struct node_set tail; /* of the stream that recorded it, at that time */
};

struct capture {
    struct capture *next; /* of those under way */
    uint64_t id;
    CUstreamCaptureMode mode;
    const struct thread_state *thread; /* that began it */
    struct CUstream_st *origin;
    CUgraph graph;
    bool is_clients_graph; /* cuStreamBeginCaptureToGraph */
    bool is_invalidated;
    struct captured_stream *streams; /* the origin and those that joined */
    struct captured_event *events;
};

void capture_lock(void);
void capture_unlock(void);

/* All of these under the lock. */
CUresult node_set_assign(struct node_set *set, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                         size_t count);
CUresult node_set_add(struct node_set *set, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                      size_t count);
void node_set_free(struct node_set *set);

CUresult capture_begin(struct CUstream_st *stream, CUstreamCaptureMode mode, CUgraph graph,
                       const struct node_set *tail);
/* Releases all streams and events. The graph is the caller's, or NULL if it was the capture's and is
 * `discarded`. */
CUgraph capture_finish(struct capture *capture, bool discarded);
/* NULL unless the stream is capturing. */
struct capture *capture_of(const struct CUstream_st *stream);
struct captured_stream *capture_stream_state(struct capture *capture, const struct CUstream_st *stream);
bool capture_is_joined(const struct capture *capture);
CUresult capture_add_stream(struct capture *capture, struct CUstream_st *stream, const struct node_set *tail);
void capture_remove_stream(struct capture *capture, struct captured_stream *state);
struct capture *capture_first(void);

/* A blocking stream, which the legacy stream would have to wait for. */
bool capture_blocks_legacy(const struct CUstream_st *stream);

static inline CUresult capture_invalidate(struct capture *capture, CUresult reason)
{
    capture->is_invalidated = true;
    return reason;
}

/* Where events point whose capture has ended: they are no good until they are recorded again. */
extern struct capture capture_ended;

/* Whether there is a capture under way; without the lock. */
bool capture_any(void);

#endif
