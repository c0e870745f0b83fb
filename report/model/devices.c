/* The built-in GPUs and how a name finds its device. */
#include "model/devices.h"

#include <ctype.h>
#include <string.h>

const struct device devices[] = {
#define DEVICE(name, product, cc, sms, memory_gb, gpcs, sms_per_gpc, source)                                 \
    {name, product, cc, sms, memory_gb, gpcs, sms_per_gpc, source},
#define ALIAS(alias, name)
#include "model/devices.def"
#undef DEVICE
#undef ALIAS
};
const size_t devices_count = sizeof devices / sizeof devices[0];

static const struct {
    const char *alias, *name;
} aliases[] = {
#define DEVICE(name, product, cc, sms, memory_gb, gpcs, sms_per_gpc, source)
#define ALIAS(alias, name) {alias, name},
#include "model/devices.def"
#undef DEVICE
#undef ALIAS
};

/* Words that vendors and tools put around the part of a name that tells products apart. */
static bool is_filler(const char *word, size_t length)
{
    static const char *const fillers[] = {"nvidia", "tesla", "geforce", "simulated"};
    for (size_t i = 0; i < sizeof fillers / sizeof *fillers; i++) {
        if (strlen(fillers[i]) == length && memcmp(fillers[i], word, length) == 0) {
            return true;
        }
    }
    return false;
}

enum { KEY_BYTES = 96 };

/* Letters and digits of the name in lower case, without filler words. */
static void make_key(const char *name, char key[KEY_BYTES])
{
    size_t used = 0, word = 0;
    for (;; name++) {
        unsigned char c = (unsigned char)*name;
        if (isalnum(c) && used < KEY_BYTES - 1) {
            key[used++] = (char)tolower(c);
            continue;
        }
        if (is_filler(key + word, used - word)) {
            used = word;
        }
        word = used;
        if (!c || used == KEY_BYTES - 1) {
            break;
        }
    }
    key[used] = 0;
}

bool device_name_matches(const char *left, const char *right)
{
    char left_key[KEY_BYTES], right_key[KEY_BYTES];
    make_key(left, left_key);
    make_key(right, right_key);
    return *left_key && strcmp(left_key, right_key) == 0;
}

const struct device *device_find(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (device_name_matches(name, aliases[i].alias)) {
            name = aliases[i].name;
        }
    }
    for (size_t i = 0; i < devices_count; i++) {
        if (device_name_matches(name, devices[i].name) || device_name_matches(name, devices[i].product)) {
            return &devices[i];
        }
    }
    return NULL;
}
