/* The little language of --fail-on: FIGURE, `>` or `<`, a number; with a sign it is a change. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *parse_figure(const char *text, enum scan_figure *figure)
{
    for (int i = 0; i < SCAN_FIGURES; i++) {
        size_t length = strlen(scan_figure_names[i]);
        if (strncmp(text, scan_figure_names[i], length) == 0) {
            *figure = (enum scan_figure)i;
            return text + length;
        }
    }
    return NULL;
}

bool scan_condition_parse(const char *text, struct scan_condition *condition)
{
    *condition = (struct scan_condition){.text = text};
    const char *at = parse_figure(text, &condition->figure);
    if (!at || (*at != '>' && *at != '<')) {
        return false;
    }
    condition->below = *at++ == '<';
    condition->change = *at == '+' || *at == '-';
    if (!strchr("+-.0123456789", *at) || !*at) {
        return false;
    }
    char *end;
    condition->limit = strtod(at, &end);
    condition->relative = *end == '%';
    end += condition->relative;
    return end != at && *end == 0 && isfinite(condition->limit) &&
           (condition->change || !condition->relative);
}

bool scan_condition_met(const struct scan_condition *condition, const struct scan_pair *pair)
{
    const struct scan_figures *old = &pair->old_figures, *new = &pair->new_figures;
    enum scan_figure figure = condition->figure;
    if (!pair->after || !new->known[figure]) {
        return false;
    }
    double value = new->at[figure];
    if (condition->change) {
        if (!pair->before || !old->known[figure]) {
            return false;
        }
        value -= old->at[figure];
        /* From nothing to something is more than any percentage. */
        value = condition->relative && value != 0 ? 100 * value / old->at[figure] : value;
    }
    return condition->below ? value < condition->limit : value > condition->limit;
}
