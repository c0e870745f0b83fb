/* warpwatch doctor: what would be seen in this environment, what not, and the way out. */
#include <cjson/cJSON.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "doctor/doctor.h"
#include "verbs.h"

static const char usage[] =
    "usage: warpwatch doctor [--json] [PROGRAM]\n\n"
    "Says what warpwatch would see here and what not, each with the way out: library, output\n"
    "directory, driver, other profilers, counters, and whether PROGRAM can be preloaded.\n";

static const char *const level_names[] = {
    [DOCTOR_FINE] = "ok", [DOCTOR_NOTE] = "note", [DOCTOR_PROBLEM] = "problem"};

static void print_text(const struct doctor *doctor)
{
    size_t problems = 0;
    for (size_t i = 0; i < doctor->count; i++) {
        const struct doctor_line *line = &doctor->lines[i];
        printf("%-8s %s: %s\n", level_names[line->level], line->subject, line->found);
        if (*line->way_out) {
            printf("         → %s\n", line->way_out);
        }
        problems += line->level == DOCTOR_PROBLEM;
    }
    if (problems) {
        printf("\n%zu problem%s: launches or figures would be missed.\n", problems, problems == 1 ? "" : "s");
    } else {
        puts("\nNothing stands in the way.");
    }
}

static void print_json(const struct doctor *doctor)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < doctor->count; i++) {
        const struct doctor_line *line = &doctor->lines[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "level", level_names[line->level]);
        cJSON_AddStringToObject(item, "subject", line->subject);
        cJSON_AddStringToObject(item, "found", line->found);
        cJSON_AddItemToObject(item, "way_out",
                              *line->way_out ? cJSON_CreateString(line->way_out) : cJSON_CreateNull());
        cJSON_AddItemToArray(list, item);
    }
    char *text = cJSON_Print(list);
    puts(text ? text : "null");
    free(text);
    cJSON_Delete(list);
}

int verb_doctor(int argc, char **argv)
{
    static const struct option longs[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    static struct doctor doctor;
    bool json = false;
    optind = 0;
    for (int option; (option = cli_option(argc, argv, "+h", longs)) != -1;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option == '?') {
            return EXIT_USAGE;
        }
        json = true;
    }
    doctor_check_library(&doctor);
    doctor_check_preloads(&doctor);
    doctor_check_output(&doctor);
    doctor_check_driver(&doctor);
    doctor_check_profilers(&doctor);
    doctor_check_counters(&doctor);
    if (optind < argc) {
        doctor_check_program(&doctor, argv[optind]);
    }
    if (json) {
        print_json(&doctor);
    } else {
        print_text(&doctor);
    }
    return EXIT_OK;
}
