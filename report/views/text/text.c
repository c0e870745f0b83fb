/* The text report: what a person reads first. In ten seconds it must say what wastes the GPU. */
#include "text.h"

#include <math.h>
#include <string.h>

#include "findings/words.h"
#include "model/occupancy.h"
#include "views/views.h"

enum {
    FINDINGS_SHOWN = 8,
    KERNELS_SHOWN = 15,
    KERNELS_DETAILED = 6,
    SHAPES_SHOWN = 5,
    SHAPES_OF_FEW = 12,
    SHAPES_OF_CHOSEN = 100
};

struct limiter_text text_limiters(unsigned limiters)
{
    struct limiter_text result = {""};
    size_t used = 0;
    for (unsigned i = 0; i < LIMITER_KINDS; i++) {
        if ((limiters >> i & 1) && used < sizeof result.text) {
            const char *name = 1u << i == LIMITER_SHARED_MEMORY ? "shared memory" : limiter_names[i];
            used += (size_t)snprintf(result.text + used, sizeof result.text - used, "%s%s", used ? ", " : "",
                                     name);
        }
    }
    return result;
}

struct short_text short_count(uint64_t count)
{
    struct short_text result;
    if (count < 1000000000u) {
        snprintf(result.text, sizeof result.text, "%s", COUNT(count));
    } else {
        snprintf(result.text, sizeof result.text, "%.3e", (double)count);
    }
    return result;
}

struct short_text short_percent(double fraction)
{
    struct short_text result;
    if (fraction > 0 && fraction < 0.01) {
        strcpy(result.text, "<1 %");
    } else if (fraction > 0.99 && fraction < 1) {
        strcpy(result.text, ">99 %");
    } else {
        snprintf(result.text, sizeof result.text, "%.0f %%", fmin(fmax(round(fraction * 100), 0), 100));
    }
    return result;
}

struct short_text short_waves(double waves)
{
    struct short_text result;
    if (waves < 0.001) {
        strcpy(result.text, "<0.001");
    } else if (waves < 0.995) {
        snprintf(result.text, sizeof result.text, "%.2g", waves);
    } else {
        snprintf(result.text, sizeof result.text, "%.15s", WAVES(waves));
    }
    return result;
}

struct short_text short_limiter(unsigned limiters)
{
    struct short_text result = {""};
    for (unsigned i = 0; i < LIMITER_KINDS; i++) {
        if (limiters >> i & 1) {
            const char *name = 1u << i == LIMITER_SHARED_MEMORY ? "shared" : limiter_names[i];
            snprintf(result.text, sizeof result.text, "%s%s", name, limiters & (limiters - 1) ? "+" : "");
            break;
        }
    }
    return result;
}

void say_shape(struct sentence *sentence, const uint32_t shape[3])
{
    say(sentence, "%u", shape[0]);
    if (shape[1] > 1 || shape[2] > 1) {
        say(sentence, "×%u", shape[1]);
    }
    if (shape[2] > 1) {
        say(sentence, "×%u", shape[2]);
    }
}

enum style text_style_of_idle(double share)
{
    return share >= 0.5 ? BAD : share >= 0.2 ? FAIR : PLAIN;
}

bool view_text(const struct merged *merged, const struct view_options *options, FILE *out)
{
    struct page page = {out, options->colour, options->unicode, options->columns};
    bool asked = options->top != MERGED_NONE;
    text_head(&page, merged);
    if (merged->kernels_count > 0) {
        text_findings(&page, merged, asked && options->top > FINDINGS_SHOWN ? options->top : FINDINGS_SHOWN);
        text_elsewhere(&page, merged, asked ? options->top : KERNELS_SHOWN);
        text_kernels(&page, merged, asked ? options->top : KERNELS_SHOWN);
        text_shapes(&page, merged, asked ? options->top : KERNELS_DETAILED,
                    merged->kernels_count > 2 ? SHAPES_SHOWN
                    : options->chosen         ? SHAPES_OF_CHOSEN
                                              : SHAPES_OF_FEW);
    }
    text_devices(&page, merged);
    text_processes(&page, merged);
    text_foot(&page, merged);
    return true;
}
