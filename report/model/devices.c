/* The built-in GPUs and how a name finds its device. */
#include "model/devices.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const struct device devices[] = {
#define DEVICE(name, product, cc, sms, memory_gb, gpcs, sms_per_gpc, source)                                 \
    {name, product, cc, sms, memory_gb, gpcs, sms_per_gpc, source},
#include "model/devices.def"
#undef DEVICE
};
const size_t devices_count = sizeof devices / sizeof devices[0];

/* What vendors and tools put around the part of a name that tells products apart. */
static const char *const filler_words[] = {"nvidia", "tesla", "geforce", "(simulated)"};

static const char *skip_filler(const char *text)
{
    for (size_t i = 0; i < sizeof filler_words / sizeof filler_words[0];) {
        const char *word = filler_words[i];
        while (*text && !isalnum((unsigned char)*text) && *text != '(') {
            text++;
        }
        if (strncasecmp(text, word, strlen(word)) == 0) {
            text += strlen(word);
            i = 0;
        } else {
            i++;
        }
    }
    return text;
}

bool device_name_matches(const char *left, const char *right)
{
    for (;;) {
        left = skip_filler(left);
        right = skip_filler(right);
        while (*left == '(') {
            left++;
        }
        while (*right == '(') {
            right++;
        }
        if (tolower((unsigned char)*left) != tolower((unsigned char)*right)) {
            return false;
        }
        if (!*left) {
            return true;
        }
        left++;
        right++;
    }
}

const struct device *device_find(const char *name)
{
    for (size_t i = 0; i < devices_count; i++) {
        if (device_name_matches(name, devices[i].name) || device_name_matches(name, devices[i].product)) {
            return &devices[i];
        }
    }
    return NULL;
}
