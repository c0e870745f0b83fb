// The device code that modules.c and library.c load at run time, as a fat binary and as PTX.
extern "C" __global__ void scale(float *x, float factor)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}

extern "C" __global__ void offset(float *x, float by)
{
    extern __shared__ float copy[];
    copy[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x] + by;
}
