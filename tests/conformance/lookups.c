/* cuGetProcAddress, both versions, to the letter. */
#include "conformance.h"

typedef CUresult first_version(const char *, void **, int, cuuint64_t);
typedef CUresult second_version(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static first_version *v1;
static second_version *v2;

static char untouched;
#define UNTOUCHED ((void *)&untouched)

/* What v2 answers; the status must be the one given. */
static void *found(const char *name, int version, cuuint64_t flags, CUdriverProcAddressQueryResult expected)
{
    void *pointer = UNTOUCHED;
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)-1;
    SUCCEED(v2(name, &pointer, version, flags, &status));
    printf("# %s at %d with flags %llu: status %d\n", name, version, (unsigned long long)flags, (int)status);
    CHECK(status == expected);
    return pointer;
}

#define FOUND        CU_GET_PROC_ADDRESS_SUCCESS
#define NOT_FOUND    CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
#define TOO_OLD      CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
#define PER_THREAD   CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
#define symbol(name) conformance_symbol(name)

/* The runtime's first question. */
static void empty_name(void)
{
    void *pointer = UNTOUCHED;
    SUCCEED(v2("", &pointer, 0, 0, NULL));
    CHECK(pointer == NULL);
}

static void of_itself(void)
{
    CHECK(found("cuGetProcAddress", 11030, 0, FOUND) == symbol("cuGetProcAddress"));
    CHECK(found("cuGetProcAddress", 12000, 0, FOUND) == symbol("cuGetProcAddress_v2"));
    CHECK(symbol("cuGetProcAddress") != symbol("cuGetProcAddress_v2"));
}

static void default_streams(void)
{
    CHECK(found("cuLaunchKernel", 4000, 0, FOUND) == symbol("cuLaunchKernel"));
    CHECK(found("cuLaunchKernel", 7000, 0, FOUND) == symbol("cuLaunchKernel"));
    CHECK(found("cuLaunchKernel", 7000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, FOUND) ==
          symbol("cuLaunchKernel"));
    CHECK(found("cuLaunchKernel", 7000, PER_THREAD, FOUND) == symbol("cuLaunchKernel_ptsz"));
    CHECK(found("cuMemcpyHtoD", 7000, PER_THREAD, FOUND) == symbol("cuMemcpyHtoD_v2_ptds"));
    CHECK(found("cuMemAlloc", 7000, PER_THREAD, FOUND) == symbol("cuMemAlloc_v2"));
}

static void versions(void)
{
    CHECK(found("cuCtxCreate", 3020, 0, FOUND) == symbol("cuCtxCreate_v2"));
    CHECK(found("cuCtxCreate", 11040, 0, FOUND) == symbol("cuCtxCreate_v3"));
    CHECK(found("cuStreamGetCaptureInfo", 11030, PER_THREAD, FOUND) ==
          symbol("cuStreamGetCaptureInfo_v2_ptsz"));
    CHECK(found("cuLaunchKernel", 99000, 0, FOUND) == symbol("cuLaunchKernel"));
    CHECK(found("cuGetProcAddress", 99000, 0, FOUND) == symbol("cuGetProcAddress_v2"));
    CHECK(found("cuLaunchKernelEx", 11000, 0, TOO_OLD) == NULL);
}

static void absent(void)
{
    void *pointer = UNTOUCHED;
    CHECK(found("cuNoSuchFunction", 13000, 0, NOT_FOUND) == NULL);
    CHECK(found("cuLaunchKernel_ptsz", 13000, 0, NOT_FOUND) == NULL);
    CHECK(found("cuGetProcAddress_v2", 13000, 0, NOT_FOUND) == NULL);
    EXPECT(CUDA_ERROR_NOT_FOUND, v1("cuNoSuchFunction", &pointer, 13000, 0));
    CHECK(pointer == UNTOUCHED);
    EXPECT(CUDA_ERROR_NOT_FOUND, v1("cuLaunchKernelEx", &pointer, 11000, 0));
    CHECK(pointer == UNTOUCHED);
    SUCCEED(v1("cuLaunchKernel", &pointer, 7000, PER_THREAD));
    CHECK(pointer == symbol("cuLaunchKernel_ptsz"));
}

static void bad_arguments(void)
{
    void *pointer;
    EXPECT(CUDA_ERROR_INVALID_VALUE, v1(NULL, &pointer, 12000, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, v1("cuInit", NULL, 12000, 0));
    EXPECT(CUDA_ERROR_INVALID_VALUE, v2(NULL, &pointer, 12000, 0, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, v2("cuInit", NULL, 12000, 0, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, v2("cuInit", &pointer, 12000, 64, NULL));
}

/* Every exported variant is what its name, version and default stream lead to. */
static void all_variants(void)
{
    static const struct {
        const char *symbol, *name;
        int version;
        cuuint64_t flags;
    } exports[] = {
#define EXPORT(variant, name, version, default_stream) {#variant, #name, version, default_stream},
#define LEGACY                                         0
#include "tests/simcuda/exports.def"
#undef EXPORT
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof(exports) / sizeof(exports[0]); i++) {
        void *pointer = NULL, *exported = symbol(exports[i].symbol);
        CUresult result = v2(exports[i].name, &pointer, exports[i].version, exports[i].flags, NULL);
        if (result != CUDA_SUCCESS || !exported || pointer != exported) {
            printf("# %s at %d: %s\n", exports[i].symbol, exports[i].version,
                   exported ? "not what cuGetProcAddress gives" : "not exported");
            wrong++;
        }
    }
    GUESS(CUDA_SUCCESS, wrong ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS);
}

/* Before cuInit, as the runtime does it. */
int main(void)
{
    conformance_load();
    v1 = (first_version *)symbol("cuGetProcAddress");
    v2 = (second_version *)symbol("cuGetProcAddress_v2");
    empty_name();
    of_itself();
    default_streams();
    versions();
    absent();
    all_variants();
    bad_arguments();
    return conformance_end();
}
