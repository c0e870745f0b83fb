/* The stub's two images: what to measure, and what was measured. */
#ifndef SIMCUPTI_IMAGE_H
#define SIMCUPTI_IMAGE_H

#include <stdint.h>

#define CONFIG_IMAGE_MAGIC  0x47464e43u
#define COUNTER_IMAGE_MAGIC 0x54414443u

struct config_image {
    uint32_t magic;
    uint32_t hardware, sass; /* metrics of each kind */
};

struct counter_image {
    uint32_t magic;
    uint32_t ranges;
    struct config_image config;
};

#endif
