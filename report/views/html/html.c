/* Fills the page: {{style}}, {{script}}, their hashes, and {{report}} with JSON in which nothing can end the
 * element that holds it. */
#include "html.h"

#include <string.h>
#include <sys/types.h>

#include "page_hashes.h"

extern const char html_page[], html_page_end[];
extern const char html_style[], html_style_end[];
extern const char html_script[], html_script_end[];

/* In JSON a '<' stands in strings only, where \u003c means the same: "</script>" and "<!--" lose their power.
 */
static ssize_t escape_write(void *cookie, const char *text, size_t bytes)
{
    FILE *stream = cookie;
    const char *end = text + bytes;
    for (const char *from = text; from < end;) {
        const char *less = memchr(from, '<', (size_t)(end - from));
        fwrite(from, 1, (size_t)((less ? less : end) - from), stream);
        if (less) {
            fputs("\\u003c", stream);
        }
        from = less ? less + 1 : end;
    }
    return ferror(stream) ? 0 : (ssize_t)bytes;
}

static bool write_report(FILE *stream, html_json_writer *write_json, const void *context)
{
    FILE *escaped = fopencookie(stream, "w", (cookie_io_functions_t){.write = escape_write});
    if (!escaped) {
        return false;
    }
    setvbuf(escaped, NULL, _IOFBF, 1 << 16);
    bool written = write_json(escaped, context);
    fclose(escaped);
    return written;
}

static void write_part(FILE *stream, const char *name, size_t bytes)
{
    const struct {
        const char *name, *begin, *end;
    } parts[] = {
        {"style", html_style, html_style_end},
        {"script", html_script, html_script_end},
        {"style-hash", PAGE_STYLE_HASH, strchr(PAGE_STYLE_HASH, 0)},
        {"script-hash", PAGE_SCRIPT_HASH, strchr(PAGE_SCRIPT_HASH, 0)},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strlen(parts[i].name) == bytes && memcmp(parts[i].name, name, bytes) == 0) {
            fwrite(parts[i].begin, 1, (size_t)(parts[i].end - parts[i].begin), stream);
        }
    }
}

bool html_write(FILE *stream, html_json_writer *write_json, const void *context)
{
    const char *from = html_page;
    bool written = true;
    while (from < html_page_end) {
        size_t left = (size_t)(html_page_end - from);
        const char *mark = memmem(from, left, "{{", 2);
        const char *close = mark ? memmem(mark, (size_t)(html_page_end - mark), "}}", 2) : NULL;
        if (!close) {
            fwrite(from, 1, left, stream);
            break;
        }
        fwrite(from, 1, (size_t)(mark - from), stream);
        size_t bytes = (size_t)(close - mark - 2);
        if (bytes == 6 && memcmp(mark + 2, "report", 6) == 0) {
            written = write_report(stream, write_json, context);
        } else {
            write_part(stream, mark + 2, bytes);
        }
        from = close + 2;
    }
    return written;
}
