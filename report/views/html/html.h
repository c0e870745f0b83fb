/* The report as one HTML file that needs no network: page, style and script around the report's JSON. */
#ifndef WARPWATCH_HTML_H
#define WARPWATCH_HTML_H

#include <stdbool.h>
#include <stdio.h>

/* Writes the report as JSON (docs/schemas/report.schema.json) to `stream`. False: out of memory. */
typedef bool html_json_writer(FILE *stream, const void *context);

/* False: out of memory; errors of the stream stay in it, for the caller to find with ferror. */
bool html_write(FILE *stream, html_json_writer *write_json, const void *context);

#endif
