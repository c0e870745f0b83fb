/* The test's script (environment) and the log of calls and violations, written at exit. */
#include "stub.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNCTIONS  64
#define VIOLATIONS 64

static struct {
    pthread_mutex_t lock;
    struct {
        const char *name;
        unsigned long calls;
    } functions[FUNCTIONS];
    char violations[VIOLATIONS][200];
    unsigned violation_count;
} log_book = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count_call(const char *function)
{
    pthread_mutex_lock(&log_book.lock);
    for (int i = 0; i < FUNCTIONS; i++) {
        if (!log_book.functions[i].name) {
            log_book.functions[i].name = function;
        }
        if (strcmp(log_book.functions[i].name, function) == 0) {
            log_book.functions[i].calls++;
            break;
        }
    }
    pthread_mutex_unlock(&log_book.lock);
}

/* SIMCUPTI_FAIL: "function=code,function:argument=code". */
static CUptiResult scripted_result(const char *function)
{
    const char *script = getenv("SIMCUPTI_FAIL");
    size_t length = strlen(function);
    for (const char *item = script; item && *item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL) {
        if (strncmp(item, function, length) == 0 && item[length] == '=') {
            return (CUptiResult)strtol(item + length + 1, NULL, 10);
        }
    }
    return CUPTI_SUCCESS;
}

CUptiResult stub_called(const char *function)
{
    count_call(function);
    return scripted_result(function);
}

CUptiResult stub_called_for(const char *function, int argument)
{
    char with_argument[128];
    CUptiResult result = stub_called(function);
    snprintf(with_argument, sizeof with_argument, "%s:%d", function, argument);
    return result ? result : scripted_result(with_argument);
}

CUptiResult stub_violation(const char *function, const char *what)
{
    pthread_mutex_lock(&log_book.lock);
    if (log_book.violation_count < VIOLATIONS) {
        snprintf(log_book.violations[log_book.violation_count++], sizeof log_book.violations[0], "%s: %s",
                 function, what);
    }
    pthread_mutex_unlock(&log_book.lock);
    return CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult stub_check_size(const char *function, size_t given, size_t least)
{
    if (given != least) {
        stub_violation(function, "structSize is not the one of this version");
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    return CUPTI_SUCCESS;
}

long stub_number(const char *variable, long otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? strtol(value, NULL, 10) : otherwise;
}

bool stub_listed(const char *variable, const char *item)
{
    const char *list = getenv(variable);
    size_t length = strlen(item);
    for (; list && *list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL) {
        if (strncmp(list, item, length) == 0 && (list[length] == ',' || list[length] == 0)) {
            return true;
        }
    }
    return false;
}

__attribute__((destructor)) static void write_log(void)
{
    const char *path = getenv("SIMCUPTI_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) {
        return;
    }
    fprintf(file, "process %d\n", (int)getpid());
    for (int i = 0; i < FUNCTIONS && log_book.functions[i].name; i++) {
        fprintf(file, "call %s %lu\n", log_book.functions[i].name, log_book.functions[i].calls);
    }
    for (unsigned i = 0; i < log_book.violation_count; i++) {
        fprintf(file, "violation %s\n", log_book.violations[i]);
    }
    fclose(file);
}
