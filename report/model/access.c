/* Sectors, lines and banks, by looking at the 32 addresses. */
#include "model/access.h"

enum { WARP_LANES = 32 };

/* Units of `unit_bytes` that the request touches. Lanes ascend, so a unit is new when it lies beyond the last
 * one counted. */
static unsigned units_touched(const struct coalescing_request *request, uint64_t unit_bytes)
{
    unsigned count = 0;
    uint64_t next = 0; /* first unit not counted yet */
    for (uint64_t lane = 0; lane < WARP_LANES; lane++) {
        uint64_t begin = request->offset_bytes + lane * request->stride * request->element_bytes;
        uint64_t first = begin / unit_bytes;
        uint64_t last = (begin + request->element_bytes - 1) / unit_bytes;
        first = first > next ? first : next;
        if (last >= first) {
            count += (unsigned)(last - first + 1);
            next = last + 1;
        }
    }
    return count;
}

struct coalescing coalescing_compute(const struct coalescing_request *request)
{
    struct coalescing result = {
        .sectors_per_request = units_touched(request, ACCESS_SECTOR_BYTES),
        .lines_per_request = units_touched(request, ACCESS_LINE_BYTES),
        .bytes_requested = (uint64_t)request->element_bytes * (request->stride ? WARP_LANES : 1),
    };
    result.bytes_moved = (uint64_t)result.sectors_per_request * ACCESS_SECTOR_BYTES;
    result.efficiency = (double)result.bytes_requested / (double)result.bytes_moved;
    return result;
}

/* Different words that a group of lanes wants from each bank; the most of them is the number of passes. */
static unsigned passes(uint64_t stride, unsigned word_bytes, unsigned first_lane, unsigned lanes,
                       bool *broadcast)
{
    unsigned wanted[ACCESS_BANKS] = {0};
    unsigned most = 0;
    uint64_t next = 0; /* first word not counted yet: lanes ascend */
    for (unsigned lane = first_lane; lane < first_lane + lanes; lane++) {
        uint64_t begin = lane * stride * word_bytes;
        uint64_t last = (begin + word_bytes - 1) / ACCESS_BANK_BYTES;
        for (uint64_t word = begin / ACCESS_BANK_BYTES; word <= last; word++) {
            if (word < next) {
                *broadcast = true;
                continue;
            }
            unsigned in_bank = ++wanted[word % ACCESS_BANKS];
            most = in_bank > most ? in_bank : most;
            next = word + 1;
        }
    }
    return most;
}

struct banks banks_compute(uint64_t stride, unsigned word_bytes)
{
    struct banks result = {.conflict_degree = 1};
    unsigned words_per_lane = word_bytes > ACCESS_BANK_BYTES ? word_bytes / ACCESS_BANK_BYTES : 1;
    result.lanes_per_pass = WARP_LANES / words_per_lane;
    for (unsigned lane = 0; lane < WARP_LANES; lane += result.lanes_per_pass) {
        unsigned degree = passes(stride, word_bytes, lane, result.lanes_per_pass, &result.broadcast);
        result.conflict_degree = degree > result.conflict_degree ? degree : result.conflict_degree;
    }
    return result;
}
