/* Two pools, each with an index by address, and the lists of what is owned. */
#include "handles.h"

#include "index.h"
#include "pool.h"

static struct pool handles = {.item_bytes = sizeof(struct handle)};
static struct pool owners = {.item_bytes = sizeof(struct owner)};
static bool full;

struct handle *handle_at(uint32_t number)
{
    return pool_item(&handles, number);
}

struct owner *owner_at(uint32_t number)
{
    return pool_item(&owners, number);
}

static uint32_t hash_handle(uint32_t number)
{
    return index_hash_address(handle_at(number)->address);
}

static bool same_handle(uint32_t number, const void *address)
{
    return handle_at(number)->address == address;
}

static uint32_t hash_owner(uint32_t number)
{
    return index_hash_address(owner_at(number)->address);
}

static bool same_owner(uint32_t number, const void *address)
{
    return owner_at(number)->address == address;
}

static struct index handle_index = {.hash_of = hash_handle, .equal = same_handle};
static struct index owner_index = {.hash_of = hash_owner, .equal = same_owner};

void handles_close(void)
{
    pool_close(&handles);
    pool_close(&owners);
    index_clear(&handle_index);
    index_clear(&owner_index);
}

static uint32_t find(const struct index *index, const void *address)
{
    uint32_t number = index_find(index, index_hash_address(address), address);
    return number == INDEX_NONE ? 0 : number;
}

uint32_t handle_find(const void *address)
{
    return find(&handle_index, address);
}

uint32_t handle_find_or_make(void *address)
{
    uint32_t number = find(&handle_index, address);
    if (number == 0) {
        number = pool_take(&handles);
        if (number) {
            handle_at(number)->address = address;
            index_insert(&handle_index, index_hash_address(address), number);
        }
    }
    full = full || number == 0;
    return number;
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

void handle_own(uint32_t number, uint32_t owner)
{
    struct handle *handle = handle_at(number);
    disown(handle);
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

void handle_give(uint32_t number)
{
    disown(handle_at(number));
    index_remove(&handle_index, hash_handle(number), number);
    pool_give(&handles, number);
}

uint32_t handles_made(void)
{
    return handles.made;
}

bool handles_are_full(void)
{
    return full;
}

uint32_t owner_find(const void *address)
{
    return find(&owner_index, address);
}

uint32_t owner_find_or_make(void *address)
{
    uint32_t number = address ? find(&owner_index, address) : 0;
    if (number == 0 && address) {
        number = pool_take(&owners);
        if (number) {
            owner_at(number)->address = address;
            index_insert(&owner_index, index_hash_address(address), number);
        }
    }
    return number;
}

void owner_hide(uint32_t number)
{
    index_remove(&owner_index, hash_owner(number), number);
}

void owner_show(uint32_t number)
{
    index_insert(&owner_index, hash_owner(number), number);
}

void owner_give(uint32_t number)
{
    pool_give(&owners, number);
}

uint32_t owners_made(void)
{
    return owners.made;
}
