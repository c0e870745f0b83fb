/* Puts the JSON on stdin into the HTML page on stdout: shows the page to a browser without a store. */
#include <stdio.h>
#include <stdlib.h>

#include "report/views/html/html.h"

static bool copy_stdin(FILE *stream, const void *context)
{
    (void)context;
    char chunk[4096];
    for (size_t bytes; (bytes = fread(chunk, 1, sizeof chunk, stdin)) > 0;) {
        fwrite(chunk, 1, bytes, stream);
    }
    return true;
}

int main(void)
{
    return html_write(stdout, copy_stdin, NULL) && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
