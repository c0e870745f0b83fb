/* The table of handles, by address and by owner. */
#include "registry.h"

#include "index.h"
#include "intern.h"
#include "pool.h"
#include "recorder.h"
#include "resolve.h"

/* Libraries set these two before every launch, mostly to what they are. */
#define FIRST_KEPT CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
#define LAST_KEPT  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
_Static_assert(LAST_KEPT - FIRST_KEPT == 1, "two attributes");

struct setting {
    int32_t value, device;
    bool known;
};

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

static struct pool handles = {.item_bytes = sizeof(struct handle)};
static struct pool owners = {.item_bytes = sizeof(struct owner)};
static struct pool sightings = {.item_bytes = sizeof(struct sighting)};
static struct pool legacy_shapes = {.item_bytes = sizeof(struct legacy_shape)};
static bool full; /* some handle could not be noted: an unknown one may be of any kind */

static struct handle *handle_at(uint32_t number)
{
    return pool_item(&handles, number);
}

static struct owner *owner_at(uint32_t number)
{
    return pool_item(&owners, number);
}

static struct sighting *sighting_at(uint32_t number)
{
    return pool_item(&sightings, number);
}

static uint32_t hash_address(const void *address)
{
    uint64_t hash = (uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 32);
}

static uint32_t hash_handle(uint32_t number)
{
    return hash_address(handle_at(number)->address);
}

static bool same_handle(uint32_t number, const void *address)
{
    return handle_at(number)->address == address;
}

static uint32_t hash_owner(uint32_t number)
{
    return hash_address(owner_at(number)->address);
}

static bool same_owner(uint32_t number, const void *address)
{
    return owner_at(number)->address == address;
}

static struct index handle_index = {.hash_of = hash_handle, .equal = same_handle};
static struct index owner_index = {.hash_of = hash_owner, .equal = same_owner};

void registry_close(void)
{
    pool_close(&handles);
    pool_close(&owners);
    pool_close(&sightings);
    pool_close(&legacy_shapes);
    index_clear(&handle_index);
    index_clear(&owner_index);
}

/* 0 if it is not known. */
static uint32_t find(const struct index *index, const void *address)
{
    uint32_t number = index_find(index, hash_address(address), address);
    return number == INDEX_NONE ? 0 : number;
}

static uint32_t find_or_make(void *address)
{
    uint32_t number = find(&handle_index, address);
    if (number == 0) {
        number = pool_take(&handles);
        if (number) {
            handle_at(number)->address = address;
            index_insert(&handle_index, hash_address(address), number);
        }
    }
    full = full || number == 0;
    return number;
}

static uint32_t find_or_make_owner(void *address)
{
    uint32_t number = address ? find(&owner_index, address) : 0;
    if (number == 0 && address) {
        number = pool_take(&owners);
        if (number) {
            owner_at(number)->address = address;
            index_insert(&owner_index, hash_address(address), number);
        }
    }
    return number;
}

static void own(uint32_t number, uint32_t owner)
{
    struct handle *handle = handle_at(number);
    handle->owner = owner;
    handle->previous_owned = 0;
    handle->next_owned = owner ? owner_at(owner)->first : 0;
    if (handle->next_owned) {
        handle_at(handle->next_owned)->previous_owned = number;
    }
    if (owner) {
        owner_at(owner)->first = number;
    }
}

static void disown(struct handle *handle)
{
    if (handle->next_owned) {
        handle_at(handle->next_owned)->previous_owned = handle->previous_owned;
    }
    if (handle->previous_owned) {
        handle_at(handle->previous_owned)->next_owned = handle->next_owned;
    } else if (handle->owner) {
        owner_at(handle->owner)->first = handle->next_owned;
    }
}

static void forget(struct handle *handle)
{
    keys_end(&recorder.keys, handle->keys);
    handle->keys = 0;
    handle->last_set[0].known = handle->last_set[1].known = false;
    while (handle->sightings) {
        uint32_t number = handle->sightings;
        handle->sightings = sighting_at(number)->next;
        pool_give(&sightings, number);
    }
}

/* Nothing of what was known of the address holds any longer. */
static void start_anew(struct handle *handle)
{
    forget(handle);
    resolve_drop_pending(handle->address);
    if (handle->legacy_shape) {
        pool_give(&legacy_shapes, handle->legacy_shape);
    }
    handle->legacy_shape = handle->name = handle->kernel = 0;
    handle->has_functions = false;
    handle->context = NULL;
}

void registry_note_owner(void *address, CUcontext context, const char *image)
{
    uint32_t number = find_or_make_owner(address);
    if (number) {
        owner_at(number)->context = context;
        owner_at(number)->image = intern(image);
    }
}

void registry_note_view(void *module, void *library, CUcontext context)
{
    uint32_t number = find_or_make_owner(module), parent = find(&owner_index, library);
    if (number) {
        owner_at(number)->parent = library;
        owner_at(number)->context = context;
        owner_at(number)->image = parent ? owner_at(parent)->image : 0;
    }
}

static struct handle *note(void *address, enum handle_kind kind, uint32_t owner)
{
    uint32_t number = find_or_make(address);
    if (number == 0) {
        return NULL;
    }
    struct handle *handle = handle_at(number);
    if (handle->owner != owner || handle->kind != kind) {
        start_anew(handle);
        disown(handle);
        own(number, owner);
        handle->kind = (uint8_t)kind;
    }
    return handle;
}

void registry_note(void *address, enum handle_kind kind, void *owner_address, CUcontext context,
                   const char *name)
{
    uint32_t owner = find_or_make_owner(owner_address);
    struct handle *handle = note(address, kind, owner);
    if (handle) {
        handle->context = owner && owner_at(owner)->context ? owner_at(owner)->context : context;
        handle->name = name ? intern(name) : handle->name;
    }
}

void registry_note_function_of(void *function, void *kernel, CUcontext context)
{
    uint32_t number = find(&handle_index, kernel);
    struct handle *handle = note(function, HANDLE_FUNCTION, number ? handle_at(number)->owner : 0);
    if (handle) {
        handle->context = context;
        handle->kernel = number;
    }
    if (handle && number) {
        handle->name = handle_at(number)->name;
        handle_at(number)->has_functions = true;
    }
}

struct handle_facts registry_facts(void *address)
{
    uint32_t number = find(&handle_index, address);
    if (number == 0) {
        return (struct handle_facts){full ? HANDLE_UNKNOWN : HANDLE_FUNCTION, "", "", NULL};
    }
    const struct handle *handle = handle_at(number);
    uint32_t image = handle->owner ? owner_at(handle->owner)->image : 0;
    return (struct handle_facts){handle->kind, interned(handle->name), interned(image), handle->context};
}

bool registry_seen(void *address, uint32_t device, struct sighting *sighting)
{
    uint32_t number = find(&handle_index, address);
    for (uint32_t i = number ? handle_at(number)->sightings : 0; i; i = sighting_at(i)->next) {
        if (sighting_at(i)->device == device) {
            *sighting = *sighting_at(i);
            return true;
        }
    }
    return false;
}

void registry_add_sighting(void *address, const struct sighting *sighting)
{
    uint32_t handle = find_or_make(address), number = handle ? pool_take(&sightings) : 0;
    if (number) {
        *sighting_at(number) = *sighting;
        sighting_at(number)->next = handle_at(handle)->sightings;
        handle_at(handle)->sightings = number;
    }
}

void registry_add_key(void *address, const struct launch_words *words, uint32_t target)
{
    uint32_t number = find_or_make(address);
    struct handle *handle = number ? handle_at(number) : NULL;
    uint32_t key = handle ? keys_insert(&recorder.keys, words, target, handle->keys) : 0;
    if (key) {
        handle->keys = key;
    }
}

struct legacy_shape *registry_legacy_shape(void *address, bool make)
{
    uint32_t number = make ? find_or_make(address) : find(&handle_index, address);
    if (number == 0) {
        return NULL;
    }
    struct handle *handle = handle_at(number);
    if (handle->legacy_shape == 0 && make) {
        handle->legacy_shape = pool_take(&legacy_shapes);
    }
    return handle->legacy_shape ? pool_item(&legacy_shapes, handle->legacy_shape) : NULL;
}

void registry_forget(void *address)
{
    uint32_t number = find(&handle_index, address);
    if (number == 0) {
        return;
    }
    struct handle *handle = handle_at(number);
    uint32_t kernel = handle->kernel ? handle->kernel : handle->has_functions ? number : 0;
    forget(handle);
    for (uint32_t i = kernel && handle->owner ? owner_at(handle->owner)->first : 0; i;
         i = handle_at(i)->next_owned) {
        if (i == kernel || handle_at(i)->kernel == kernel) {
            forget(handle_at(i));
        }
    }
}

void registry_attribute_set(void *address, CUfunction_attribute attribute, int32_t value, int32_t device)
{
    uint32_t number = find(&handle_index, address);
    if (number == 0 || attribute < FIRST_KEPT || attribute > LAST_KEPT) {
        registry_forget(address);
        return;
    }
    struct setting *set = &handle_at(number)->last_set[attribute - FIRST_KEPT];
    struct setting *other = &handle_at(number)->last_set[LAST_KEPT - attribute], kept = *other;
    if (!set->known || set->value != value || set->device != device) {
        registry_forget(address);
        *set = (struct setting){value, device, true};
        *other = kept;
    }
}

void registry_forget_all(void)
{
    for (uint32_t number = 1; number <= handles.made; number++) {
        if (find(&handle_index, handle_at(number)->address) == number) {
            forget(handle_at(number));
        }
    }
}

static bool is_child(uint32_t owner, const void *parent)
{
    return owner_at(owner)->parent == parent && find(&owner_index, owner_at(owner)->address) == owner;
}

static void drop_pending_of(uint32_t owner)
{
    for (uint32_t i = owner_at(owner)->first; i; i = handle_at(i)->next_owned) {
        resolve_drop_pending(handle_at(i)->address);
    }
}

uint32_t registry_owner_ending(void *address)
{
    uint32_t number = find(&owner_index, address);
    if (number) {
        index_remove(&owner_index, hash_owner(number), number);
        for (uint32_t i = owner_at(number)->first; i; i = handle_at(i)->next_owned) {
            forget(handle_at(i));
        }
        drop_pending_of(number);
    }
    for (uint32_t child = 1; number && child <= owners.made; child++) {
        if (is_child(child, address)) {
            drop_pending_of(child);
        }
    }
    return number;
}

static void end_owner(uint32_t number)
{
    while (owner_at(number)->first) {
        uint32_t i = owner_at(number)->first;
        start_anew(handle_at(i));
        disown(handle_at(i));
        index_remove(&handle_index, hash_handle(i), i);
        pool_give(&handles, i);
    }
    pool_give(&owners, number);
}

static void end_children(const void *parent)
{
    for (uint32_t number = 1; number <= owners.made; number++) {
        if (is_child(number, parent)) {
            index_remove(&owner_index, hash_owner(number), number);
            end_owner(number);
        }
    }
}

void registry_owner_ended(uint32_t ending, bool really)
{
    if (ending == 0) {
        return;
    }
    if (!really) {
        index_insert(&owner_index, hash_owner(ending), ending);
        return;
    }
    void *address = owner_at(ending)->address;
    end_owner(ending);
    end_children(address);
}
