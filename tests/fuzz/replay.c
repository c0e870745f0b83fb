/* Runs a fuzz target over kept inputs, files or directories of them, without libFuzzer. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned replayed;

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t capacity = 0;
    FILE *copy = open_memstream(&bytes, &capacity);
    if (!file || !copy) {
        perror(path);
        exit(1);
    }
    for (int c; (c = fgetc(file)) != EOF;) {
        fputc(c, copy);
    }
    fclose(file);
    fclose(copy);
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, capacity);
    free(bytes);
    replayed++;
}

static void replay(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
        replay_file(path);
        return;
    }
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        char *inner;
        if (entry->d_name[0] != '.' && asprintf(&inner, "%s/%s", path, entry->d_name) >= 0) {
            replay(inner);
            free(inner);
        }
    }
    if (directory) {
        closedir(directory);
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        replay(argv[i]);
    }
    printf("%u inputs\n", replayed);
    return replayed == 0;
}
