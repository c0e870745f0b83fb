/* `warpwatch model waves`: waves and tail of a grid; or from which grid on the tail never matters much. */
#include "model/waves.h"
#include "verbs/model/common_parameters.h"
#include "verbs/model/model.h"
#include "verbs/model/text.h"

enum { GRID, SMS, DEVICE, BLOCKS_PER_SM, UTILIZATION, NAME, PARAMETERS };
enum { BLOCKS_PER_SM_MAX = 64 };

static const struct parameter parameters[PARAMETERS] = {
    [GRID] = {.name = "grid", .kind = PARAMETER_BLOCKS, .help = "blocks of the launch"},
    [SMS] = {PARAMETER_ROW_SMS},
    [DEVICE] = {PARAMETER_ROW_DEVICE},
    [BLOCKS_PER_SM] = {.name = "blocks_per_sm",
                       .kind = PARAMETER_INTEGER,
                       .least = 1,
                       .most = BLOCKS_PER_SM_MAX,
                       .help = "resident blocks, as `warpwatch model occupancy` answers",
                       .required = true},
    [UTILIZATION] = {.name = "utilization",
                     .kind = PARAMETER_NUMBER,
                     .least = 0,
                     .most = 1,
                     .help = "instead of --grid: blocks from which on utilization never falls below",
                     .above = true},
    [NAME] = {PARAMETER_ROW_NAME},
};

static const char *const csv_columns[] = {
    "slots", "waves", "full_waves", "tail_fullness", "tail_waste", "slot_utilization", "always_from_blocks",
    NULL};

static unsigned sms_of(const struct argument *arguments)
{
    return arguments[DEVICE].given ? (unsigned)arguments[DEVICE].device->sms
                                   : (unsigned)arguments[SMS].integer;
}

static bool makes_sense(const struct argument *arguments, struct answer *answer)
{
    struct chosen_device chosen;
    if (!device_parameters_read(arguments, (struct device_parameters){DEVICE, -1, SMS}, &chosen, answer)) {
        return false;
    }
    if (!arguments[BLOCKS_PER_SM].given) {
        answer_refuse(answer, BLOCKS_PER_SM, ": is missing; give a whole number from 1 to %d",
                      BLOCKS_PER_SM_MAX);
    } else if (!arguments[GRID].given && !arguments[UTILIZATION].given) {
        answer_refuse(answer, GRID, ": is missing; give it or a utilization");
    }
    return answer->faulty_parameter < 0;
}

static void answer(const struct argument *arguments, struct answer *answer)
{
    if (!makes_sense(arguments, answer)) {
        return;
    }
    bool grid = arguments[GRID].given;
    uint64_t blocks = (uint64_t)arguments[GRID].integer;
    struct waves waves = waves_compute(blocks, sms_of(arguments), (unsigned)arguments[BLOCKS_PER_SM].integer);
    uint64_t always = arguments[UTILIZATION].given
                          ? waves_always_from_blocks(arguments[UTILIZATION].number, waves.slots)
                          : 0;
    answer_integer(answer, "slots", (int64_t)waves.slots);
    answer_number_if(answer, grid, "waves", waves.waves);
    answer_integer_if(answer, grid, "full_waves", (int64_t)waves.full_waves);
    answer_number_if(answer, grid, "tail_fullness", waves.tail_fullness);
    answer_number_if(answer, grid, "tail_waste", waves.tail_waste);
    answer_number_if(answer, grid, "slot_utilization",
                     grid ? waves_slot_utilization(blocks, waves.slots) : 0);
    answer_integer_if(answer, always > 0, "always_from_blocks", (int64_t)always);
    answer_integer_if(answer, grid, "idle_sms", (int64_t)waves.idle_sms);
}

static void explain_grid(uint64_t blocks, unsigned sms, unsigned blocks_per_sm, FILE *stream)
{
    char text[4][MODEL_TEXT_BYTES];
    struct waves waves = waves_compute(blocks, sms, blocks_per_sm);
    fprintf(stream, "%s on %s × %s = %s: %.4g wave%s\n", text_counted(blocks, "block", text[0]),
            text_counted(sms, "SM", text[1]), text_counted(blocks_per_sm, "block", text[2]),
            text_counted(waves.slots, "slot", text[3]), waves.waves, waves.waves == 1 ? "" : "s");
    if (blocks % waves.slots == 0) {
        fputs("  every wave is full: no tail\n", stream);
    } else if (waves.full_waves == 0) {
        fputs("  less than one wave\n", stream);
    } else {
        fprintf(stream, "  %s full, then a tail that fills %s of its slots\n",
                text_count(waves.full_waves, text[0]), text_percent(waves.tail_fullness, text[1]));
    }
    fprintf(stream, "  slots are used to %s: %s of slot time is wasted\n",
            text_percent(waves_slot_utilization(blocks, waves.slots), text[0]),
            text_percent(waves.tail_waste, text[1]));
    if (waves.idle_sms > 0) {
        fprintf(stream, "  %llu of %u SMs have no block in the %s wave\n", (unsigned long long)waves.idle_sms,
                sms, waves.full_waves ? "last" : "only");
    }
}

static void explain_utilization(double utilization, uint64_t slots, FILE *stream)
{
    char text[3][MODEL_TEXT_BYTES];
    uint64_t always = waves_always_from_blocks(utilization, slots);
    if (always == 0) {
        fprintf(stream, "%s: every grid that is not a whole number of waves falls below %s\n",
                text_counted(slots, "slot", text[0]), text_percent(utilization, text[1]));
        return;
    }
    fprintf(stream, "%s: from %s on, utilization is never below %s\n", text_counted(slots, "slot", text[0]),
            text_counted(always, "block", text[1]), text_percent(utilization, text[2]));
}

static void explain(const struct argument *arguments, FILE *stream)
{
    unsigned sms = sms_of(arguments), blocks_per_sm = (unsigned)arguments[BLOCKS_PER_SM].integer;
    if (arguments[GRID].given) {
        explain_grid((uint64_t)arguments[GRID].integer, sms, blocks_per_sm, stream);
    }
    if (arguments[UTILIZATION].given) {
        explain_utilization(arguments[UTILIZATION].number, (uint64_t)sms * blocks_per_sm, stream);
    }
}

const struct model model_waves = {
    .name = "waves",
    .summary = "waves and tail of a grid, or the grid from which the tail never costs more",
    .usage = "--grid N --sms N --blocks-per-sm N\n"
             "       warpwatch model waves --utilization U --sms N --blocks-per-sm N",
    .parameters = parameters,
    .parameters_count = PARAMETERS,
    .csv_columns = csv_columns,
    .answer = answer,
    .explain = explain,
};
