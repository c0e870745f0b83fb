/* The simulated devices: which ones there are, and what each can do. */
#ifndef SIMCUDA_DEVICE_H
#define SIMCUDA_DEVICE_H

#include "driver.h"

#define MAX_DEVICES 16
#define MAX_GPCS    16

/* The same on every device of compute capability 7.0 and later. */
enum {
    MAX_THREADS_PER_BLOCK = 1024,
    MAX_BLOCK_X = 1024,
    MAX_BLOCK_Y = 1024,
    MAX_BLOCK_Z = 64,
    MAX_GRID_X = 2147483647,
    MAX_GRID_YZ = 65535,
    WARP_THREADS = 32,
    REGISTERS_PER_SM = 65536,
    SHARED_WITHOUT_OPTIN_BYTES = 49152,
    PCI_BUS_OF_FIRST = 0x17
};

struct device_model { /* devices.def */
    const char *name;
    const char *product;
    int capability, sms;
    unsigned memory_mib;
    int l2_kib, clock_khz, memory_clock_khz, bus_bits;
    int gpcs[MAX_GPCS + 1]; /* ended by 0 */
};

struct device_capability { /* capabilities.def */
    int capability, threads, blocks, shared_kib, shared_optin_kib, reserved_bytes;
    int cluster, cluster_non_portable; /* 0: no cluster launch */
};

struct device {
    int ordinal;
    const struct device_model *model;
    const struct device_capability *sm;
    char name[128];
    CUuuid uuid;
    struct CUctx_st *primary;
    struct CUmemPoolHandle_st *default_pool, *current_pool;
    _Atomic uint64_t used_bytes;
};

/* Reads SIMCUDA_DEVICES and CUDA_VISIBLE_DEVICES, once, at cuInit. */
CUresult devices_init(void);
int device_count(void);
/* NULL for an ordinal that does not exist. */
struct device *device_of(CUdevice ordinal);

int device_attribute(const struct device *device, CUdevice_attribute attribute, int *value);

#endif
