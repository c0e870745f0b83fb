/* The HTML view: the page around the report's JSON, its configurations in columns. */
#include "html.h"
#include "views/json.h"

struct json_request {
    const struct merged *merged;
    const struct view_options *options;
};

static bool write_json(FILE *stream, const void *context)
{
    const struct json_request *request = context;
    return view_json_in_columns(request->merged, request->options, stream);
}

bool view_html(const struct merged *merged, const struct view_options *options, FILE *out)
{
    struct json_request request = {merged, options};
    return html_write(out, write_json, &request);
}
