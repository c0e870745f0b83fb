/* `warpwatch model advise`: every block size in one table, and the one to take by a stated rule. */
#include "model/advise.h"

#include <stdlib.h>

#include "verbs/model/common_parameters.h"
#include "verbs/model/model.h"
#include "verbs/model/text.h"

enum {
    DEVICE,
    CC,
    SMS,
    REGISTERS,
    STATIC_SHARED,
    SHARED_PER_THREAD,
    ELEMENTS,
    LATENCY,
    INSTRUCTIONS_BETWEEN_STALLS,
    ALL,
    NAME,
    PARAMETERS
};
enum { ROWS_MAX = 1024 };

static const struct parameter parameters[PARAMETERS] = {
    [DEVICE] = {PARAMETER_ROW_DEVICE},
    [CC] = {PARAMETER_ROW_CC},
    [SMS] = {PARAMETER_ROW_SMS},
    [REGISTERS] = {PARAMETER_ROW_REGISTERS},
    [STATIC_SHARED] = {PARAMETER_ROW_STATIC_SHARED},
    [SHARED_PER_THREAD] = {.name = "shared_per_thread",
                           .kind = PARAMETER_INTEGER,
                           .least = 0,
                           .most = 232448,
                           .help = "bytes that a block needs more for each thread"},
    [ELEMENTS] = {.name = "elements",
                  .kind = PARAMETER_INTEGER,
                  .least = 1,
                  .most = 1LL << 53,
                  .help = "one thread each",
                  .required = true},
    [LATENCY] = {.name = "latency",
                 .kind = PARAMETER_NUMBER,
                 .least = 0,
                 .most = 1e6,
                 .help = "cycles of a typical stall, as measured",
                 .above = true},
    [INSTRUCTIONS_BETWEEN_STALLS] = {.name = "instructions_between_stalls",
                                     .kind = PARAMETER_NUMBER,
                                     .least = 0,
                                     .most = 1e6,
                                     .help = "of a warp, as measured",
                                     .above = true},
    [ALL] = {.name = "all", .kind = PARAMETER_SWITCH, .help = "all block sizes from 1 to 1024"},
    [NAME] = {PARAMETER_ROW_NAME},
};

static const char *const csv_columns[] = {
    "recommended", "highest_occupancy", "blocks_per_sm",   "theoretical_occupancy", "limiters", "blocks",
    "waves",       "tail_waste",        "surplus_threads", "idle_lanes_per_block",  NULL};

struct advised {
    struct occupancy_sm sm;
    unsigned sms;
    struct advise_work work;
    struct advise_choice choice;
    int warps_needed;
    size_t count;
    struct advise_row rows[ROWS_MAX];
};

static bool find_device(const struct argument *arguments, struct advised *advised, struct answer *answer)
{
    struct chosen_device chosen;
    if (!device_parameters_read(arguments, (struct device_parameters){DEVICE, CC, SMS}, &chosen, answer)) {
        return false;
    }
    advised->sms = (unsigned)chosen.sms;
    return occupancy_sm_of_capability(chosen.compute_capability, &advised->sm);
}

static bool find_work(const struct argument *arguments, struct advised *advised, struct answer *answer)
{
    if (!arguments[ELEMENTS].given) {
        answer_refuse(answer, ELEMENTS, ": is missing; give the number of threads with work to do");
        return false;
    }
    if (arguments[LATENCY].given != arguments[INSTRUCTIONS_BETWEEN_STALLS].given) {
        answer_refuse(answer, arguments[LATENCY].given ? INSTRUCTIONS_BETWEEN_STALLS : LATENCY,
                      ": is missing; the two are of use together");
        return false;
    }
    advised->work = (struct advise_work){
        .elements = (uint64_t)arguments[ELEMENTS].integer,
        .registers_per_thread = (int)arguments[REGISTERS].integer,
        .static_shared_bytes = (int)arguments[STATIC_SHARED].integer,
        .shared_per_thread_bytes = (int)arguments[SHARED_PER_THREAD].integer,
        .latency_cycles = arguments[LATENCY].number,
        .instructions_between_stalls = arguments[INSTRUCTIONS_BETWEEN_STALLS].number,
    };
    return true;
}

static bool compute(const struct argument *arguments, struct advised *advised, struct answer *answer)
{
    if (!find_device(arguments, advised, answer) || !find_work(arguments, advised, answer)) {
        return false;
    }
    bool all = arguments[ALL].given && arguments[ALL].integer;
    advised->count = all ? ROWS_MAX : ADVISE_SIZES;
    for (size_t i = 0; i < advised->count; i++) {
        int threads = all ? (int)i + 1 : advise_sizes[i];
        advise_row(&advised->sm, advised->sms, &advised->work, threads, &advised->rows[i]);
    }
    advised->warps_needed = advise_warps_needed(&advised->sm, &advised->work);
    advised->choice = advise_choose(advised->rows, advised->count, advised->warps_needed);
    return true;
}

/* How far the busiest SM is above an equal share. */
static const char *text_excess(const struct advise_row *row, char text[MODEL_TEXT_BYTES])
{
    return text_percent(row->excess, text);
}

enum { WHY_BYTES = 512 };

/* Where the rule and "highest occupancy wins" part ways, and for which reason. */
static void explain_choice(const struct advised *advised, char why[WHY_BYTES])
{
    char text[4][MODEL_TEXT_BYTES];
    if (advised->choice.recommended == SIZE_MAX) {
        snprintf(why, WHY_BYTES, "no block size can run with these registers and this shared memory");
        return;
    }
    const struct advise_row *best = &advised->rows[advised->choice.recommended];
    const struct advise_row *fullest = &advised->rows[advised->choice.highest_occupancy];
    text_percent(best->occupancy.theoretical_occupancy, text[0]);
    text_percent(fullest->occupancy.theoretical_occupancy, text[1]);
    text_excess(best, text[2]);
    text_excess(fullest, text[3]);
    if (best == fullest) {
        snprintf(
            why, WHY_BYTES,
            "the two rules agree: %d threads give the highest occupancy, %s, and the busiest SM does %s more "
            "than an equal share",
            best->threads, text[0], text[2]);
    } else if (best->occupancy.warps_per_sm == fullest->occupancy.warps_per_sm) {
        bool more_even = best->excess < fullest->excess;
        snprintf(why, WHY_BYTES,
                 "the occupancy of %d and %d threads is the same, %s, but with %d the busiest SM does %s "
                 "more than "
                 "an equal share, with %d %s%s",
                 best->threads, fullest->threads, text[0], best->threads, text[2], fullest->threads, text[3],
                 more_even ? "" : "; where both are about as even the size nearer to 256 is the handier one");
    } else {
        snprintf(
            why, WHY_BYTES,
            "%d threads have the highest occupancy, %s against %s, but %d warps on an SM are enough and %d "
            "threads keep %d there; beyond that the load decides: the busiest SM does %s more than an equal "
            "share with %d threads, %s more with %d",
            fullest->threads, text[1], text[0], advised->choice.warps_enough, best->threads,
            best->occupancy.warps_per_sm, text[2], best->threads, text[3], fullest->threads);
    }
}

static void answer(const struct argument *arguments, struct answer *answer)
{
    struct advised advised;
    if (!compute(arguments, &advised, answer)) {
        return;
    }
    bool runs = advised.choice.recommended != SIZE_MAX;
    const struct advise_row none = {.occupancy = {.blocks_per_sm = 0}};
    const struct advise_row *best = runs ? &advised.rows[advised.choice.recommended] : &none;
    answer_integer_if(answer, runs, "recommended", best->threads);
    answer_integer_if(answer, runs, "highest_occupancy",
                      runs ? advised.rows[advised.choice.highest_occupancy].threads : 0);
    answer_integer_if(answer, runs, "blocks_per_sm", best->occupancy.blocks_per_sm);
    answer_number_if(answer, runs, "theoretical_occupancy", best->occupancy.theoretical_occupancy);
    answer_limiters(answer, "limiters", best->occupancy.limiters);
    answer_integer_if(answer, runs, "blocks", (int64_t)best->blocks);
    answer_number_if(answer, runs, "waves", best->waves);
    answer_number_if(answer, runs, "tail_waste", best->tail_waste);
    answer_integer_if(answer, runs, "surplus_threads", (int64_t)best->surplus_threads);
    answer_integer_if(answer, runs, "idle_lanes_per_block", best->idle_lanes_per_block);
    answer_integer_if(answer, advised.warps_needed > 0, "warps_needed", advised.warps_needed);
}

static cJSON *row_json(const struct advise_row *row)
{
    struct answer values;
    answer_clear(&values);
    bool runs = row->slots > 0;
    answer_integer(&values, "threads", row->threads);
    answer_integer(&values, "blocks_per_sm", row->occupancy.blocks_per_sm);
    answer_number(&values, "theoretical_occupancy", row->occupancy.theoretical_occupancy);
    answer_limiters(&values, "limiters", row->occupancy.limiters);
    answer_integer(&values, "blocks", (int64_t)row->blocks);
    answer_number_if(&values, runs, "waves", row->waves);
    answer_number_if(&values, runs, "tail_waste", row->tail_waste);
    answer_integer(&values, "surplus_threads", (int64_t)row->surplus_threads);
    answer_integer(&values, "uncovered_one_block_short", (int64_t)row->uncovered_one_short);
    answer_integer(&values, "idle_lanes_per_block", row->idle_lanes_per_block);
    answer_number_if(&values, runs, "busiest_sm_excess", row->excess);
    answer_boolean(&values, "enough_warps", row->enough_warps);
    return answer_json(&values);
}

/* In JSON the figures of the recommended size stand in its row. */
static void add_details(const struct argument *arguments, cJSON *object)
{
    static const char *const in_row[] = {
        "blocks_per_sm",   "theoretical_occupancy", "limiters", "blocks", "waves", "tail_waste",
        "surplus_threads", "idle_lanes_per_block"};
    struct advised advised;
    struct answer ignored;
    char why[WHY_BYTES];
    if (!compute(arguments, &advised, &ignored)) {
        return;
    }
    for (size_t i = 0; i < sizeof in_row / sizeof *in_row; i++) {
        cJSON_DeleteItemFromObjectCaseSensitive(object, in_row[i]);
    }
    explain_choice(&advised, why);
    cJSON_AddStringToObject(object, "why", why);
    cJSON_AddStringToObject(object, "rule", advise_rule);
    cJSON *rows = cJSON_AddArrayToObject(object, "rows");
    for (size_t i = 0; i < advised.count; i++) {
        cJSON_AddItemToArray(rows, row_json(&advised.rows[i]));
    }
}

static void print_row(const struct advised *advised, size_t index, FILE *stream)
{
    char occupancy[MODEL_TEXT_BYTES], waste[MODEL_TEXT_BYTES], excess[MODEL_TEXT_BYTES];
    char limiters[LIMITERS_TEXT_BYTES];
    const struct advise_row *row = &advised->rows[index];
    char mark = index == advised->choice.recommended         ? '>'
                : index == advised->choice.highest_occupancy ? '^'
                                                             : ' ';
    limiters_text(row->occupancy.limiters, limiters);
    fprintf(stream, "%c %7d %9d %9s", mark, row->threads, row->occupancy.blocks_per_sm,
            text_percent(row->occupancy.theoretical_occupancy, occupancy));
    if (row->slots > 0) {
        fprintf(stream, " %11llu %8.4g %7s %9s", (unsigned long long)row->blocks, row->waves,
                text_percent(row->tail_waste, waste), text_excess(row, excess));
    } else {
        fprintf(stream, " %11llu %8s %7s %9s", (unsigned long long)row->blocks, "-", "-", "-");
    }
    fprintf(stream, " %7llu %9llu %5u  %s\n", (unsigned long long)row->surplus_threads,
            (unsigned long long)row->uncovered_one_short, row->idle_lanes_per_block, limiters);
}

static void print_argument(const char *title, const char *sentence, FILE *stream)
{
    char paragraph[2 * WHY_BYTES];
    snprintf(paragraph, sizeof paragraph, "%s: %s.", title, sentence);
    text_paragraph(paragraph, stream);
}

static void print_enough(const struct advised *advised, FILE *stream)
{
    char enough[WHY_BYTES];
    const struct advise_choice *choice = &advised->choice;
    if (choice->warps_from_latency) {
        snprintf(
            enough, sizeof enough,
            "a stall of %g cycles, %g instructions between stalls and %d schedulers that issue one a cycle "
            "need %d warps on an SM%s",
            advised->work.latency_cycles, advised->work.instructions_between_stalls,
            advised->sm.sub_partitions, advised->warps_needed,
            choice->bar_out_of_reach ? "; no block size keeps as many, so the most have to do" : "");
    } else {
        snprintf(enough, sizeof enough, "%d on an SM, three quarters of the most that any size reaches",
                 choice->warps_enough);
    }
    print_argument("Enough warps", enough, stream);
}

static void explain(const struct argument *arguments, FILE *stream)
{
    struct advised advised;
    struct answer ignored;
    char why[WHY_BYTES];
    if (!compute(arguments, &advised, &ignored)) {
        return;
    }
    fputs("                                                             busiest         one block\n"
          "  threads blocks/SM occupancy      blocks    waves    tail        SM surplus     short  idle\n"
          "    /block                                           waste    excess threads  leaves out lanes  "
          "limiters\n",
          stream);
    for (size_t i = 0; i < advised.count; i++) {
        print_row(&advised, i, stream);
    }
    explain_choice(&advised, why);
    if (advised.choice.recommended != SIZE_MAX) {
        fprintf(stream, "\nTake %d threads a block (>).\n", advised.rows[advised.choice.recommended].threads);
        print_enough(&advised, stream);
    }
    print_argument("Why", why, stream);
    print_argument("The rule", advise_rule, stream);
}

const struct model model_advise = {
    .name = "advise",
    .summary = "every block size in a table, and the one to take by a stated rule",
    .usage = "--device NAME | --cc 9.0 --sms N, --registers N --elements N\n"
             "       [--static-shared B --shared-per-thread B --latency CYCLES --instructions-between-stalls "
             "N --all]",
    .parameters = parameters,
    .parameters_count = PARAMETERS,
    .csv_columns = csv_columns,
    .answer = answer,
    .add_details = add_details,
    .explain = explain,
};
