/* Handles by address, modules and libraries by address, and which handles each of these owns. Numbers count
 * from 1, 0 is none. All functions want the recorder's lock. */
#ifndef WARPWATCH_HANDLES_H
#define WARPWATCH_HANDLES_H

#include "driver.h"

/* An attribute as it was set last. */
struct setting {
    int32_t value, device;
    bool known;
};

/* Libraries set these two before every launch, mostly to what they are. */
#define FIRST_KEPT CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
#define LAST_KEPT  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
_Static_assert(LAST_KEPT - FIRST_KEPT == 1, "two attributes");

struct handle {
    void *address;
    CUcontext context;
    uint32_t owner;
    uint32_t next_owned, previous_owned; /* of the same owner */
    uint32_t keys;                       /* launch keys that end with it */
    uint32_t sightings;
    uint32_t legacy_shape;
    uint32_t name;
    uint32_t kernel;            /* a function's kernel, if it is known */
    struct setting last_set[2]; /* by attribute, from FIRST_KEPT on */
    uint8_t kind;
    bool has_functions;
};

struct owner { /* a module or library */
    void *address;
    void *parent; /* library that the module is a view of */
    CUcontext context;
    uint32_t first; /* of its handles */
    uint32_t image;
};

void handles_close(void);

struct handle *handle_at(uint32_t number);
uint32_t handle_find(const void *address);
uint32_t handle_find_or_make(void *address);
/* The handle goes to another owner. */
void handle_own(uint32_t number, uint32_t owner);
void handle_give(uint32_t number);
/* The highest number so far; free ones are among them. */
uint32_t handles_made(void);
/* Some handle could not be noted: an unknown one may be of any kind. */
bool handles_are_full(void);

struct owner *owner_at(uint32_t number);
uint32_t owner_find(const void *address);
uint32_t owner_find_or_make(void *address);
/* Not to be found by its address for a while. */
void owner_hide(uint32_t number);
void owner_show(uint32_t number);
void owner_give(uint32_t number); /* a hidden one */
uint32_t owners_made(void);

#endif
