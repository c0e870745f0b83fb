/* fork: a child of a process that had initialised the driver is refused; one forked before is a process of
 * its own. */
#include "conformance.h"

#include <sys/wait.h>
#include <unistd.h>

static int status_of(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The child's exit status is the first result that is not the expected one, 0 if there is none. */
static int child_after_init(CUfunction plain)
{
    pid_t child = fork();
    if (child == 0) {
        int count;
        CUresult results[] = {api.cuInit(0), api.cuDeviceGetCount(&count),
                              api.cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)};
        for (int i = 0; i < 3; i++) {
            if (results[i] != CUDA_ERROR_NOT_INITIALIZED) {
                _exit(results[i] ? (int)results[i] & 127 : 127);
            }
        }
        _exit(0);
    }
    return status_of(child);
}

static int child_before_init(void)
{
    pid_t child = fork();
    if (child == 0) {
        int count = 0;
        _exit(api.cuInit(0) == CUDA_SUCCESS && api.cuDeviceGetCount(&count) == CUDA_SUCCESS && count > 0 ? 0
                                                                                                         : 1);
    }
    return status_of(child);
}

int main(void)
{
    conformance_load();
    CHECK(child_before_init() == 0);
    conformance_begin();
    CUmodule module = load_ptx(kernels_ptx);
    CUfunction plain = function_of(module, "plain");
    CHECK(child_after_init(plain) == 0);
    SUCCEED(api.cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SUCCEED(api.cuCtxSynchronize());
    return conformance_end();
}
