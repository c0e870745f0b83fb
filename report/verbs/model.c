/* `warpwatch model NAME`: one launch from options, or a table of them with --batch. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "verbs.h"
#include "verbs/catalog.h"
#include "verbs/model/model.h"

static const struct model *const models[] = {
    &model_occupancy, &model_waves, &model_advise, &model_divergence, &model_coalescing, &model_banks, NULL};

struct request {
    const struct model *model;
    struct argument arguments[MODEL_PARAMETERS_MAX];
    bool json, batch;
    const char *input, *output, *devices;
};

static void print_help(FILE *stream)
{
    fputs("usage: warpwatch model NAME [options] [--json] [-o FILE]\n"
          "       warpwatch model NAME --batch [FILE]     CSV in, the same with the answers out\n\n",
          stream);
    for (size_t i = 0; models[i]; i++) {
        fprintf(stream, "  %-11s %s\n", models[i]->name, models[i]->summary);
    }
    fputs("\nwarpwatch model NAME --help lists the options of one.\n", stream);
}

static const char *value_name(enum parameter_kind kind)
{
    switch (kind) {
    case PARAMETER_SWITCH:
        return "";
    case PARAMETER_DEVICE:
        return " NAME";
    case PARAMETER_CHOICE:
        return " VALUE";
    default:
        return " N";
    }
}

static void print_model_help(const struct model *model, FILE *stream)
{
    fprintf(stream, "usage: warpwatch model %s %s\n\n%c%s.\n\n", model->name, model->usage,
            toupper((unsigned char)model->summary[0]), model->summary + 1);
    for (int i = 0; i < model->parameters_count; i++) {
        const struct parameter *parameter = &model->parameters[i];
        char option[PARAMETER_OPTION_BYTES], accepts[PARAMETER_ACCEPTS_BYTES];
        if (parameter->kind == PARAMETER_TEXT) {
            continue;
        }
        parameter_option(parameter, option);
        parameter_accepts(parameter, accepts, sizeof accepts);
        if (parameter->kind == PARAMETER_DEVICE) {
            snprintf(accepts, sizeof accepts, "a name that warpwatch devices lists");
        }
        bool has_value = parameter->kind != PARAMETER_SWITCH;
        const char *value = value_name(parameter->kind);
        int room = 32 - (int)strlen(option);
        fprintf(stream, "  %s%-*s %s%s%s\n", option, room, value, parameter->help, has_value ? ": " : "",
                has_value ? accepts : "");
    }
    fputs("  --json                           all figures, unrounded\n"
          "  --batch [FILE]                   CSV from FILE or stdin; columns are the options' names, with _ "
          "for -\n"
          "  --devices FILE                   more devices, as in WARPWATCH_DEVICES; see docs/devices.md\n"
          "  -o FILE                          write there instead of stdout\n",
          stream);
}

static const struct parameter *find_option(const struct model *model, const char *text, size_t length)
{
    for (int i = 0; i < model->parameters_count; i++) {
        char option[PARAMETER_OPTION_BYTES];
        parameter_option(&model->parameters[i], option);
        if (model->parameters[i].kind != PARAMETER_TEXT && strlen(option) == length &&
            strncmp(option, text, length) == 0) {
            return &model->parameters[i];
        }
    }
    return NULL;
}

static bool complain_about_value(const struct parameter *parameter, const char *text)
{
    char option[PARAMETER_OPTION_BYTES], accepts[PARAMETER_ACCEPTS_BYTES];
    parameter_option(parameter, option);
    parameter_accepts(parameter, accepts, sizeof accepts);
    if (text) {
        cli_complain("%s '%s': give %s", option, text, accepts);
    } else {
        cli_complain("%s: is missing; give %s", option, accepts);
    }
    return false;
}

/* The value behind `--option` or in `--option=value`; NULL: there is none. */
static const char *value_of(char **argv, int argc, int *i)
{
    const char *equals = strchr(argv[*i], '=');
    if (equals) {
        return equals + 1;
    }
    return *i + 1 < argc ? argv[++*i] : NULL;
}

static bool read_parameter(struct request *request, int argc, char **argv, int *i)
{
    const struct parameter *parameter = find_option(request->model, argv[*i], strcspn(argv[*i], "="));
    if (!parameter) {
        cli_complain("model %s '%s': no such option; see warpwatch model %s --help", request->model->name,
                     argv[*i], request->model->name);
        return false;
    }
    struct argument *argument = &request->arguments[parameter - request->model->parameters];
    const char *value = parameter->kind == PARAMETER_SWITCH ? "1" : value_of(argv, argc, i);
    if (!value || !parameter_read(parameter, value, argument)) {
        return complain_about_value(parameter, value);
    }
    return true;
}

/* Options that every model has. */
static bool read_common(struct request *request, int argc, char **argv, int *i, bool *known)
{
    *known = true;
    const char **file = strcmp(argv[*i], "-o") == 0          ? &request->output
                        : strcmp(argv[*i], "--devices") == 0 ? &request->devices
                                                             : NULL;
    if (strcmp(argv[*i], "--json") == 0) {
        request->json = true;
    } else if (strcmp(argv[*i], "--batch") == 0) {
        request->batch = true;
        if (*i + 1 < argc && (argv[*i + 1][0] != '-' || !argv[*i + 1][1])) {
            request->input = argv[++*i];
        }
    } else if (file) {
        if (*i + 1 >= argc) {
            cli_complain("%s: is missing a file name", argv[*i]);
            return false;
        }
        *file = argv[++*i];
    } else {
        *known = false;
    }
    return true;
}

static bool read_options(struct request *request, int argc, char **argv)
{
    /* Devices first, whatever the order: names may be among them. */
    for (int i = 0; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--devices") == 0) {
            request->devices = argv[i + 1];
        }
    }
    if (!catalog_load(request->devices)) {
        return false;
    }
    for (int i = 0; i < argc; i++) {
        bool known;
        if (!read_common(request, argc, argv, &i, &known) ||
            (!known && !read_parameter(request, argc, argv, &i))) {
            return false;
        }
    }
    return true;
}

static bool has_required(const struct request *request)
{
    for (int i = 0; i < request->model->parameters_count; i++) {
        if (request->model->parameters[i].required && !request->arguments[i].given) {
            return complain_about_value(&request->model->parameters[i], NULL);
        }
    }
    return true;
}

static void print_json(const struct request *request, const struct answer *answer, FILE *stream)
{
    cJSON *object = answer_json(answer);
    if (request->model->add_details) {
        request->model->add_details(request->arguments, object);
    }
    char *text = cJSON_Print(object);
    fprintf(stream, "%s\n", text ? text : "null");
    free(text);
    cJSON_Delete(object);
}

static int show_one(const struct request *request, FILE *stream)
{
    struct answer answer;
    answer_clear(&answer);
    request->model->answer(request->arguments, &answer);
    if (answer.faulty_parameter >= 0) {
        char option[PARAMETER_OPTION_BYTES];
        parameter_option(&request->model->parameters[answer.faulty_parameter], option);
        cli_complain("%s%s", option, answer.problem);
        return EXIT_USAGE;
    }
    if (request->json) {
        print_json(request, &answer, stream);
    } else {
        request->model->explain(request->arguments, stream);
    }
    return EXIT_OK;
}

static int show_table(const struct request *request, FILE *stream)
{
    bool standard = !request->input || strcmp(request->input, "-") == 0;
    FILE *input = standard ? stdin : fopen(request->input, "r");
    if (!input) {
        cli_complain("--batch '%s': %s", request->input, strerror(errno));
        return EXIT_UNREADABLE;
    }
    int status = model_batch(request->model, request->arguments, input, stream);
    if (!standard) {
        fclose(input);
    }
    return status;
}

static int run_model(const struct model *model, int argc, char **argv)
{
    struct request request = {.model = model};
    if (!read_options(&request, argc, argv) || (!request.batch && !has_required(&request))) {
        return EXIT_USAGE;
    }
    if (request.batch && request.json) {
        cli_complain("--json: not with --batch, which answers in CSV");
        return EXIT_USAGE;
    }
    struct cli_output *output = cli_output_open(request.output);
    if (!output) {
        return EXIT_USAGE;
    }
    int status = request.batch ? show_table(&request, cli_output_stream(output))
                               : show_one(&request, cli_output_stream(output));
    if (status != EXIT_OK) {
        cli_output_discard(output);
        return status;
    }
    return cli_output_close(output) ? EXIT_OK : EXIT_UNREADABLE;
}

int verb_model(int argc, char **argv)
{
    bool help = false;
    for (int i = 1; i < argc; i++) {
        help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    }
    const char *name = argc > 1 ? argv[1] : "";
    for (size_t i = 0; models[i]; i++) {
        if (strcmp(models[i]->name, name) == 0) {
            if (help) {
                print_model_help(models[i], stdout);
                return EXIT_OK;
            }
            return run_model(models[i], argc - 2, argv + 2);
        }
    }
    if (help) {
        print_help(stdout);
        return EXIT_OK;
    }
    cli_complain("model '%s': give occupancy, waves, advise, divergence, coalescing or banks", name);
    return EXIT_USAGE;
}
