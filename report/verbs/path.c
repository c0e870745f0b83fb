/* warpwatch path: where the library is, for LD_PRELOAD=$(warpwatch path). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "library.h"
#include "verbs.h"

static const char usage[] = "usage: warpwatch path\n\n"
                            "Prints the absolute path of libwarpwatch.so:\n"
                            "    LD_PRELOAD=$(warpwatch path) python train.py\n";

int verb_path(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return EXIT_OK;
    }
    if (argc > 1) {
        cli_complain("path: no argument '%s'; see warpwatch path --help", argv[1]);
        return EXIT_USAGE;
    }
    char *path = library_path();
    if (!path) {
        return EXIT_UNREADABLE;
    }
    puts(path);
    free(path);
    return EXIT_OK;
}
