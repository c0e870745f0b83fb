/* `warpwatch model coalescing` and `warpwatch model banks`: what one memory instruction of a warp touches. */
#include "model/access.h"
#include "verbs/model/common_parameters.h"
#include "verbs/model/model.h"
#include "verbs/model/text.h"

/* --- global memory -------------------------------------------------------------------------------------- */

enum { STRIDE, ELEMENT_BYTES, OFFSET, COALESCING_NAME, COALESCING_PARAMETERS };

static const struct parameter coalescing_parameters[COALESCING_PARAMETERS] = {
    [STRIDE] = {.name = "stride",
                .kind = PARAMETER_INTEGER,
                .least = 0,
                .most = 1 << 30,
                .help = "elements from lane to lane",
                .required = true},
    [ELEMENT_BYTES] = {.name = "element_bytes",
                       .kind = PARAMETER_INTEGER,
                       .least = 1,
                       .most = 128,
                       .help = "read by a lane",
                       .required = true},
    [OFFSET] = {.name = "offset",
                .kind = PARAMETER_INTEGER,
                .least = 0,
                .most = 1 << 30,
                .help = "bytes from a line's start to the first lane"},
    [COALESCING_NAME] = {PARAMETER_ROW_NAME},
};

static const char *const coalescing_columns[] = {
    "sectors_per_request", "lines_per_request", "bytes_requested", "bytes_moved", "efficiency", NULL};

static struct coalescing_request request_of(const struct argument *arguments)
{
    return (struct coalescing_request){.stride = (uint64_t)arguments[STRIDE].integer,
                                       .offset_bytes = (uint64_t)arguments[OFFSET].integer,
                                       .element_bytes = (uint32_t)arguments[ELEMENT_BYTES].integer};
}

static void coalescing_answer(const struct argument *arguments, struct answer *answer)
{
    if (!arguments[STRIDE].given || !arguments[ELEMENT_BYTES].given) {
        int missing = arguments[STRIDE].given ? ELEMENT_BYTES : STRIDE;
        answer_refuse(answer, missing, ": is missing");
        return;
    }
    struct coalescing_request request = request_of(arguments);
    struct coalescing coalescing = coalescing_compute(&request);
    answer_integer(answer, "sectors_per_request", coalescing.sectors_per_request);
    answer_integer(answer, "lines_per_request", coalescing.lines_per_request);
    answer_integer(answer, "bytes_requested", (int64_t)coalescing.bytes_requested);
    answer_integer(answer, "bytes_moved", (int64_t)coalescing.bytes_moved);
    answer_number(answer, "efficiency", coalescing.efficiency);
}

static void coalescing_explain(const struct argument *arguments, FILE *stream)
{
    char text[3][MODEL_TEXT_BYTES], start[2 * MODEL_TEXT_BYTES] = "at a line's start";
    struct coalescing_request request = request_of(arguments);
    struct coalescing coalescing = coalescing_compute(&request);
    uint64_t into_line = request.offset_bytes % ACCESS_LINE_BYTES;
    if (into_line) {
        snprintf(start, sizeof start, "%s into a line", text_counted(into_line, "byte", text[0]));
    }
    fprintf(stream, "32 lanes read %s each, %s apart, the first %s\n",
            text_counted(request.element_bytes, "byte", text[0]),
            text_counted(request.stride * request.element_bytes, "byte", text[1]), start);
    fprintf(stream, "  %s of 32 bytes in %s of 128\n",
            text_counted(coalescing.sectors_per_request, "sector", text[0]),
            text_counted(coalescing.lines_per_request, "line", text[1]));
    fprintf(stream, "  %s moved for %s asked for: %s of them useful\n",
            text_counted(coalescing.bytes_moved, "byte", text[0]),
            text_count(coalescing.bytes_requested, text[1]), text_percent(coalescing.efficiency, text[2]));
    if (request.offset_bytes % request.element_bytes) {
        fputs("  as one load this faults: an address must be a multiple of the size read\n", stream);
    }
}

const struct model model_coalescing = {
    .name = "coalescing",
    .summary = "sectors and lines of global memory that a warp's request touches",
    .usage = "--stride N --element-bytes B [--offset O]",
    .parameters = coalescing_parameters,
    .parameters_count = COALESCING_PARAMETERS,
    .csv_columns = coalescing_columns,
    .answer = coalescing_answer,
    .explain = coalescing_explain,
};

/* --- shared memory -------------------------------------------------------------------------------------- */

enum { BANKS_STRIDE, WORD_BYTES, BANKS_NAME, BANKS_PARAMETERS };

static const char *const word_sizes[] = {"1", "2", "4", "8", "16", NULL};

static const struct parameter banks_parameters[BANKS_PARAMETERS] = {
    [BANKS_STRIDE] = {.name = "stride",
                      .kind = PARAMETER_INTEGER,
                      .least = 0,
                      .most = 1 << 30,
                      .help = "words from lane to lane",
                      .required = true},
    [WORD_BYTES] = {.name = "word_bytes",
                    .kind = PARAMETER_CHOICE,
                    .choices = word_sizes,
                    .help = "read by a lane, 4 if not given"},
    [BANKS_NAME] = {PARAMETER_ROW_NAME},
};

static const char *const banks_columns[] = {"conflict_degree", "broadcast", NULL};

static unsigned word_bytes_of(const struct argument *arguments)
{
    return arguments[WORD_BYTES].given ? 1u << arguments[WORD_BYTES].integer : ACCESS_BANK_BYTES;
}

static void banks_answer(const struct argument *arguments, struct answer *answer)
{
    if (!arguments[BANKS_STRIDE].given) {
        answer_refuse(answer, BANKS_STRIDE, ": is missing");
        return;
    }
    struct banks banks = banks_compute((uint64_t)arguments[BANKS_STRIDE].integer, word_bytes_of(arguments));
    answer_integer(answer, "conflict_degree", banks.conflict_degree);
    answer_boolean(answer, "broadcast", banks.broadcast);
    answer_integer(answer, "lanes_per_pass", banks.lanes_per_pass);
}

static void banks_explain(const struct argument *arguments, FILE *stream)
{
    char text[2][MODEL_TEXT_BYTES];
    unsigned word_bytes = word_bytes_of(arguments);
    uint64_t stride = (uint64_t)arguments[BANKS_STRIDE].integer;
    struct banks banks = banks_compute(stride, word_bytes);
    fprintf(stream, "32 lanes read a word of %s each, %s apart, from 32 banks of 4 bytes\n",
            text_counted(word_bytes, "byte", text[0]), text_counted(stride, "word", text[1]));
    if (banks.conflict_degree == 1) {
        fputs("  no conflict: each bank is asked for one word", stream);
    } else {
        fprintf(stream, "  %u-way conflict: the busiest bank is asked for %u words, one after the other",
                banks.conflict_degree, banks.conflict_degree);
    }
    if (banks.lanes_per_pass < 32) {
        fprintf(stream, ", %u lanes at a time", banks.lanes_per_pass);
    }
    fputs(banks.broadcast ? "\n  lanes that read the same word share one answer\n" : "\n", stream);
}

const struct model model_banks = {
    .name = "banks",
    .summary = "bank conflicts of a warp's request to shared memory",
    .usage = "--stride N [--word-bytes 4]",
    .parameters = banks_parameters,
    .parameters_count = BANKS_PARAMETERS,
    .csv_columns = banks_columns,
    .answer = banks_answer,
    .explain = banks_explain,
};
