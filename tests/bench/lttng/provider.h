/* Tracepoints of LTTng-ust with the fields that warpwatch records of a launch: as when it only counts, and
 * with the time of the launch call. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER warpwatch_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/lttng/provider.h"

#if !defined(WARPWATCH_BENCH_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define WARPWATCH_BENCH_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(
    warpwatch_bench, launch,
    LTTNG_UST_TP_ARGS(void *, function, const unsigned *, grid, const unsigned *, block, unsigned,
                      shared_bytes, void *, stream, int, result),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, function, (uintptr_t)function)
                            lttng_ust_field_array(unsigned, grid, grid, 3)
                                lttng_ust_field_array(unsigned, block, block, 3)
                                    lttng_ust_field_integer(unsigned, shared_bytes, shared_bytes)
                                        lttng_ust_field_integer_hex(uintptr_t, stream, (uintptr_t)stream)
                                            lttng_ust_field_integer(int, result, result)))

LTTNG_UST_TRACEPOINT_EVENT(
    warpwatch_bench, timed_launch,
    LTTNG_UST_TP_ARGS(void *, function, const unsigned *, grid, const unsigned *, block, unsigned,
                      shared_bytes, void *, stream, int, result, uint64_t, start_ns),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, function, (uintptr_t)function)
                            lttng_ust_field_array(unsigned, grid, grid, 3)
                                lttng_ust_field_array(unsigned, block, block, 3)
                                    lttng_ust_field_integer(unsigned, shared_bytes, shared_bytes)
                                        lttng_ust_field_integer_hex(uintptr_t, stream, (uintptr_t)stream)
                                            lttng_ust_field_integer(int, result, result)
                                                lttng_ust_field_integer(uint64_t, start_ns, start_ns)))

#endif

#include <lttng/tracepoint-event.h>
