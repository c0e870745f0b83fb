/* The command line: finds the verb and hands over. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "verbs.h"

static const struct {
    const char *name;
    verb_function *run;
    const char *help;
} verbs[] = {
#define VERB(name, function, help) {name, function, help},
#include "verbs.def"
#undef VERB
    {NULL, NULL, NULL}};

static const struct {
    const char *name, *help;
} variables[] = {
#define VARIABLE(name, value, help) {"WARPWATCH_" name "=" value, help},
#include "variables.def"
#undef VARIABLE
};

static void print_help(FILE *stream)
{
    fputs("usage: warpwatch VERB [options]\n\n"
          "Watches every CUDA kernel launch of an unmodified program, and says which launches waste the GPU, "
          "and "
          "why:\n"
          "    warpwatch run -- python train.py\n"
          "or, without a second process:\n"
          "    LD_PRELOAD=$(warpwatch path) python train.py\n"
          "    warpwatch report\n\n",
          stream);
    for (size_t i = 0; verbs[i].name; i++) {
        fprintf(stream, "  %-8s  %s\n", verbs[i].name, verbs[i].help);
    }
    fputs("\nEnvironment of the watched program:\n", stream);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        fprintf(stream, "  %-26s %s\n", variables[i].name, variables[i].help);
    }
    fputs("\nwarpwatch help VERB, or warpwatch VERB --help, explains a verb.\n", stream);
}

/* `warpwatch help VERB…` is `warpwatch VERB… --help`. */
static void turn_help_around(int argc, char **argv)
{
    static char option[] = "--help";
    if (argc > 2 && strcmp(argv[1], "help") == 0) {
        memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
        argv[argc - 1] = option;
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    turn_help_around(argc, argv);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("warpwatch " WARPWATCH_VERSION);
        return EXIT_OK;
    }
    for (size_t i = 0; verbs[i].name; i++) {
        if (strcmp(argv[1], verbs[i].name) == 0) {
            return verbs[i].run(argc - 1, argv + 1);
        }
    }
    cli_complain("no verb '%s': see warpwatch --help", argv[1]);
    return EXIT_USAGE;
}
