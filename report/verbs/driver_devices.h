/* The GPUs of this machine, asked of the driver if there is one. Makes no context and runs nothing. */
#ifndef WARPWATCH_DRIVER_DEVICES_H
#define WARPWATCH_DRIVER_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

enum { DRIVER_DEVICES_MAX = 64 };

struct driver_device {
    char name[128];
    int compute_capability;
    int sms;
    int threads_per_sm;
    int shared_per_sm_bytes;
    int shared_per_block_optin_bytes;
    int registers_per_sm;
    int blocks_per_sm; /* -1: a driver before CUDA 11 does not tell */
    uint64_t memory_bytes;
    bool simulated;
};

struct driver_devices {
    int count;
    struct driver_device devices[DRIVER_DEVICES_MAX];
    char reason[160]; /* why there are none; empty if there are */
};

void driver_devices_read(struct driver_devices *found);

#endif
