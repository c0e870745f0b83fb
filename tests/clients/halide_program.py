"""A client of Halide, whose compiled pipelines find the driver's functions with dlsym: a matrix product in tiles, a stencil."""
import halide

target = halide.get_host_target().with_feature(halide.TargetFeature.CUDA)
x, y, xi, yi = (halide.Var(name) for name in ("x", "y", "xi", "yi"))
size = 256


def matrix_product():
    a, b, product = halide.Func("a"), halide.Func("b"), halide.Func("product")
    k = halide.RDom([(0, size)])
    a[x, y] = halide.f32(x + y)
    b[x, y] = halide.f32(x - y)
    product[x, y] = halide.f32(0)
    product[x, y] += a[k.x, y] * b[x, k.x]
    for stage in (a.compute_root(), b.compute_root(), product, product.update()):
        stage.gpu_tile(x, y, xi, yi, 16, 16)
    return product


def stencil():
    source, blurred = halide.Func("source"), halide.Func("blurred")
    source[x, y] = halide.f32(x) * halide.f32(y)
    blurred[x, y] = (source[x, y] + source[x + 1, y] + source[x, y + 1]) / 3
    source.compute_root().gpu_tile(x, y, xi, yi, 32, 8)
    blurred.gpu_tile(x, y, xi, yi, 32, 8)
    return blurred


for make, times in ((matrix_product, 3), (stencil, 5)):
    pipeline = make()
    pipeline.compile_jit(target)
    result = halide.Buffer(halide.Float(32), [size, size])
    for _ in range(times):
        pipeline.realize(result, target)
    result.device_sync()
print("done")
