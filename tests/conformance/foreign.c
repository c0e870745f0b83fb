/* Opens a library of NVIDIA's and calls functions of it, which make it look for its driver.
 * usage: foreign LIBRARY FUNCTION…     prints what each returned */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    /* Handles, versions, identifiers: each function writes its result through its first argument. */
    static char result[65536];
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        printf("%s\n", count > 1 ? dlerror() : "usage: foreign LIBRARY FUNCTION…");
        return 1;
    }
    for (int i = 2; i < count; i++) {
        int (*function)(void *, int, void *) = (int (*)(void *, int, void *))dlsym(library, arguments[i]);
        if (function == NULL) {
            printf("%s: %s\n", arguments[i], dlerror());
            return 1;
        }
        printf("%s %d\n", arguments[i], function(result, 1, NULL));
        fflush(stdout);
    }
    return 0;
}
