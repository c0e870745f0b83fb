/* `warpwatch model divergence`: what a branch costs when lanes of a warp disagree, and what a measured branch
 * efficiency says about the lanes. */
#include "model/divergence.h"
#include "verbs/model/common_parameters.h"
#include "verbs/model/model.h"
#include "verbs/model/text.h"

enum { LANE_PROBABILITY, SPLIT, BRANCH_EFFICIENCY, PATTERN, THEN_COST, ELSE_COST, NAME, PARAMETERS };

/* In the order of enum divergence_pattern. */
static const char *const patterns[] = {"random", "interleaved", "aligned", NULL};

static const struct parameter parameters[PARAMETERS] = {
    [LANE_PROBABILITY] = {.name = "lane_probability",
                          .kind = PARAMETER_NUMBER,
                          .least = 0,
                          .most = 1,
                          .help = "that a lane takes the path"},
    [SPLIT] = {.name = "split",
               .kind = PARAMETER_INTEGER,
               .least = 0,
               .most = 32,
               .help = "instead: lanes of each warp that take the path"},
    [BRANCH_EFFICIENCY] = {.name = "branch_efficiency",
                           .kind = PARAMETER_NUMBER,
                           .least = 0,
                           .most = 1,
                           .help = "instead: measured share of branches at which the warp agrees"},
    [PATTERN] = {.name = "pattern",
                 .kind = PARAMETER_CHOICE,
                 .choices = patterns,
                 .help = "how lanes that take the path lie, random if not given"},
    [THEN_COST] = {.name = "then_cost",
                   .kind = PARAMETER_NUMBER,
                   .least = 0,
                   .most = 1e9,
                   .help = "of the path, 1 if not given"},
    [ELSE_COST] = {.name = "else_cost",
                   .kind = PARAMETER_NUMBER,
                   .least = 0,
                   .most = 1e9,
                   .help = "of the other path, 1 if not given"},
    [NAME] = {PARAMETER_ROW_NAME},
};

static const char *const csv_columns[] = {"warp_issues_path",
                                          "warp_diverges",
                                          "expected_cost",
                                          "ideal_cost",
                                          "divergence_tax",
                                          "lane_utilization",
                                          "implied_lane_probability",
                                          NULL};

static bool makes_sense(const struct argument *arguments, struct answer *answer)
{
    int given =
        arguments[LANE_PROBABILITY].given + arguments[SPLIT].given + arguments[BRANCH_EFFICIENCY].given;
    if (given != 1) {
        answer_refuse(answer, LANE_PROBABILITY,
                      ": give one of lane probability, split and branch efficiency");
    } else if (arguments[PATTERN].given && !arguments[LANE_PROBABILITY].given) {
        answer_refuse(answer, PATTERN, ": goes with a lane probability only");
    }
    return answer->faulty_parameter < 0;
}

static double cost(const struct argument *argument)
{
    return argument->given ? argument->number : 1;
}

static struct divergence compute(const struct argument *arguments, double *lane_probability)
{
    const struct divergence_branch given = {arguments[LANE_PROBABILITY].number, cost(&arguments[THEN_COST]),
                                            cost(&arguments[ELSE_COST])};
    struct divergence_branch branch = given;
    if (arguments[SPLIT].given) {
        return divergence_of_split((int)arguments[SPLIT].integer, branch.then_cost, branch.else_cost);
    }
    if (arguments[BRANCH_EFFICIENCY].given) {
        branch.lane_probability = divergence_lane_probability(arguments[BRANCH_EFFICIENCY].number);
    }
    *lane_probability = branch.lane_probability;
    return divergence_compute((enum divergence_pattern)arguments[PATTERN].integer, &branch);
}

static void answer(const struct argument *arguments, struct answer *answer)
{
    if (!makes_sense(arguments, answer)) {
        return;
    }
    double lane_probability = 0;
    struct divergence divergence = compute(arguments, &lane_probability);
    answer_number(answer, "warp_issues_path", divergence.warp_issues_path);
    answer_number(answer, "warp_diverges", divergence.warp_diverges);
    answer_number(answer, "expected_cost", divergence.expected_cost);
    answer_number(answer, "ideal_cost", divergence.ideal_cost);
    answer_number(answer, "divergence_tax", divergence.divergence_tax);
    answer_number(answer, "lane_utilization", divergence.lane_utilization);
    answer_number_if(answer, arguments[BRANCH_EFFICIENCY].given, "lane_probability", lane_probability);
    answer_number(answer, "warp_issues_else", divergence.warp_issues_else);
}

static void explain_case(const struct argument *arguments, double lane_probability, FILE *stream)
{
    char text[2][MODEL_TEXT_BYTES];
    if (arguments[SPLIT].given) {
        fprintf(stream, "%lld of the 32 lanes of each warp take the path\n",
                (long long)arguments[SPLIT].integer);
    } else if (arguments[BRANCH_EFFICIENCY].given) {
        fprintf(stream,
                "warps agree at %s of branches: as if each lane took the path with probability %.4g\n"
                "(or %.4g) by itself\n",
                text_percent(arguments[BRANCH_EFFICIENCY].number, text[0]), lane_probability,
                1 - lane_probability);
    } else {
        static const char *const how[] = {"each lane by itself", "every n-th thread", "whole warps alike"};
        fprintf(stream, "%s of lanes take the path: %s\n", text_percent(lane_probability, text[0]),
                how[arguments[PATTERN].integer]);
    }
}

static void explain(const struct argument *arguments, FILE *stream)
{
    char text[3][MODEL_TEXT_BYTES];
    double lane_probability = 0;
    struct divergence divergence = compute(arguments, &lane_probability);
    explain_case(arguments, lane_probability, stream);
    fprintf(stream, "  %s of warps issue the path, %s issue the other, %s diverge and issue both\n",
            text_percent(divergence.warp_issues_path, text[0]),
            text_percent(divergence.warp_issues_else, text[1]),
            text_percent(divergence.warp_diverges, text[2]));
    fprintf(stream, "  cost of a warp: %.4g, against %.4g if no warp issued both: %.4g times the work\n",
            divergence.expected_cost, divergence.ideal_cost, divergence.divergence_tax);
    fprintf(stream, "  %s of the lanes issued do useful work\n",
            text_percent(divergence.lane_utilization, text[0]));
}

const struct model model_divergence = {
    .name = "divergence",
    .summary = "how often warps issue both paths of a branch, and what that costs",
    .usage =
        "--lane-probability P [--pattern random|interleaved|aligned] [--then-cost A --else-cost B]\n"
        "       warpwatch model divergence --split K | --branch-efficiency E [--then-cost A --else-cost B]",
    .parameters = parameters,
    .parameters_count = PARAMETERS,
    .csv_columns = csv_columns,
    .answer = answer,
    .explain = explain,
};
