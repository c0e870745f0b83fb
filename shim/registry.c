/* The table of handles, by address and by owner. */
#include "registry.h"

#include "index.h"
#include "pool.h"
#include "recorder.h"

struct handle {
    void *address, *owner;
    uint32_t keys; /* launch keys that end with it */
    uint32_t sightings;
    uint32_t next_owned, previous_owned; /* of the same owner */
    uint32_t legacy_shape;
    enum handle_kind kind;
};

struct owner {
    void *address;
    uint32_t first; /* of its handles */
};

enum {
    MOST_HANDLES = 1 << 20,
    MOST_OWNERS = 1 << 18,
    MOST_SIGHTINGS = 1 << 19,
    MOST_LEGACY_SHAPES = 1 << 12
};

static struct pool handles = {.item_bytes = sizeof(struct handle), .limit = MOST_HANDLES};
static struct pool owners = {.item_bytes = sizeof(struct owner), .limit = MOST_OWNERS};
static struct pool sightings = {.item_bytes = sizeof(struct sighting), .limit = MOST_SIGHTINGS};

static struct pool legacy_shapes = {.item_bytes = sizeof(struct legacy_shape), .limit = MOST_LEGACY_SHAPES};

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

static struct owner *find_owner(void *address)
{
    uint32_t number = index_find(&owner_index, hash_address(address), address);
    return number == INDEX_NONE ? NULL : owner_at(number);
}

static struct owner *find_or_make_owner(void *address)
{
    struct owner *owner = find_owner(address);
    uint32_t number = owner ? 0 : pool_take(&owners);
    if (number) {
        owner = owner_at(number);
        owner->address = address;
        index_insert(&owner_index, hash_address(address), number);
    }
    return owner;
}

static void own(uint32_t number, void *address)
{
    struct handle *handle = handle_at(number);
    struct owner *owner = address ? find_or_make_owner(address) : NULL;
    handle->owner = owner ? address : NULL;
    handle->previous_owned = 0;
    handle->next_owned = owner ? owner->first : 0;
    if (owner) {
        if (owner->first) {
            handle_at(owner->first)->previous_owned = number;
        }
        owner->first = number;
    }
}

static void disown(uint32_t number)
{
    struct handle *handle = handle_at(number);
    if (handle->owner == NULL) {
        return;
    }
    if (handle->next_owned) {
        handle_at(handle->next_owned)->previous_owned = handle->previous_owned;
    }
    if (handle->previous_owned) {
        handle_at(handle->previous_owned)->next_owned = handle->next_owned;
    } else {
        find_owner(handle->owner)->first = handle->next_owned;
    }
    handle->owner = NULL;
}

static void forget(struct handle *handle)
{
    keys_end(&recorder.keys, handle->keys);
    handle->keys = 0;
    while (handle->sightings) {
        uint32_t number = handle->sightings;
        handle->sightings = sighting_at(number)->next;
        pool_give(&sightings, number);
    }
}

static void drop_legacy_shape(struct handle *handle)
{
    if (handle->legacy_shape) {
        pool_give(&legacy_shapes, handle->legacy_shape);
        handle->legacy_shape = 0;
    }
}

static uint32_t find(const void *address)
{
    uint32_t number = index_find(&handle_index, hash_address(address), address);
    return number == INDEX_NONE ? 0 : number;
}

static uint32_t find_or_make(void *address)
{
    uint32_t number = find(address);
    if (number == 0) {
        number = pool_take(&handles);
        if (number) {
            handle_at(number)->address = address;
            index_insert(&handle_index, hash_address(address), number);
        }
    }
    return number;
}

void registry_note(void *address, enum handle_kind kind, void *owner)
{
    uint32_t number = find_or_make(address);
    if (number == 0 || handle_at(number)->owner == owner) {
        return;
    }
    forget(handle_at(number));
    drop_legacy_shape(handle_at(number));
    disown(number);
    own(number, owner);
    handle_at(number)->kind = kind;
}

enum handle_kind registry_kind(void *address)
{
    uint32_t number = find(address);
    return number ? handle_at(number)->kind : HANDLE_FUNCTION;
}

bool registry_seen(void *address, uint32_t device, struct sighting *sighting)
{
    uint32_t number = find(address);
    for (uint32_t i = number ? handle_at(number)->sightings : 0; i; i = sighting_at(i)->next) {
        if (sighting_at(i)->device == device) {
            *sighting = *sighting_at(i);
            return true;
        }
    }
    return false;
}

bool registry_add_sighting(void *address, const struct sighting *sighting)
{
    uint32_t handle = find_or_make(address), number = handle ? pool_take(&sightings) : 0;
    if (number == 0) {
        return false;
    }
    struct sighting *place = sighting_at(number);
    *place = *sighting;
    place->next = handle_at(handle)->sightings;
    handle_at(handle)->sightings = number;
    return true;
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
    uint32_t number = make ? find_or_make(address) : find(address);
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
    uint32_t number = find(address);
    if (number) {
        forget(handle_at(number));
    }
}

void registry_end_owner(void *address)
{
    uint32_t number = index_find(&owner_index, hash_address(address), address);
    if (number == INDEX_NONE) {
        return;
    }
    for (uint32_t i = owner_at(number)->first; i;) {
        uint32_t next = handle_at(i)->next_owned;
        forget(handle_at(i));
        drop_legacy_shape(handle_at(i));
        index_remove(&handle_index, hash_handle(i), i);
        pool_give(&handles, i);
        i = next;
    }
    index_remove(&owner_index, hash_owner(number), number);
    pool_give(&owners, number);
}
