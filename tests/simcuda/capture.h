/* What streams, events and memory ask of stream capture (capture.c). Nothing here is called on a stream that
 * is not capturing, except capture_forbids_unsafe, which is one relaxed load while no capture is under way.
 */
#ifndef SIMCUDA_CAPTURE_H
#define SIMCUDA_CAPTURE_H

#include "event.h"
#include "stream.h"

/* The stream is capturing: adds a node, or says why that is not possible. */
CUresult capture_record(struct CUstream_st *stream, const struct operation *operation);

/* Work submitted to the legacy stream while a blocking stream of the context captures. */
CUresult capture_refuse_legacy(struct CUstream_st *legacy);

/* Calls that a capture in the mode of this thread forbids: cuMemAlloc, synchronous copies … SUCCESS if there
 * is none; else the captures concerned are invalidated. */
CUresult capture_forbids_unsafe(void);

/* Synchronising or querying a capturing stream, its context, or an event that a capture recorded. */
CUresult capture_refuse_synchronize(struct CUstream_st *stream);
CUresult capture_forbids_synchronize(struct CUctx_st *context);
CUresult capture_refuse_event(struct CUevent_st *event);

/* cuStreamWaitEvent of an event recorded in a capture, on a stream that is not capturing: the stream joins.
 */
CUresult capture_join(struct CUstream_st *stream, struct CUevent_st *event);

/* True while the calling thread has, or could disturb, a capture: queries are then faults of the client. */
bool capture_is_under_way(void);

void capture_stream_ending(struct CUstream_st *stream);
void capture_context_ending(struct CUctx_st *context);

/* cuGraphLaunch queued behind other work (graph.c): runs the copies, fills and host functions of a replay. */
void graph_replay_execute(CUgraphExec exec, void *replay);

#endif
