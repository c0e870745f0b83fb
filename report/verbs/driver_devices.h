/* The GPUs of this machine, asked of the driver if there is one. Makes no context and runs nothing. */
#ifndef WARPWATCH_DRIVER_DEVICES_H
#define WARPWATCH_DRIVER_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

enum { DRIVER_DEVICES_MAX = 64 };

struct driver_device {
    int ordinal;
    char name[128];
    int compute_capability;
    int sms;
    /* -1: not told, as blocks_per_sm by a driver before CUDA 11. */
    int threads_per_sm;
    int shared_per_sm_bytes;
    int shared_per_block_optin_bytes;
    int registers_per_sm;
    int blocks_per_sm;
    uint64_t memory_bytes; /* 0: not told */
    bool simulated;
};

struct driver_devices {
    int count;
    struct driver_device devices[DRIVER_DEVICES_MAX];
    char reason[256]; /* why there are none; empty if there are */
};

void driver_devices_read(struct driver_devices *found);

#endif
