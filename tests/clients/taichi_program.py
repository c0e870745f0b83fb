"""A client of Taichi, which compiles to PTX and drives libcuda by itself: fields, a stencil, a sum."""
import taichi

taichi.init(arch=taichi.cuda, log_level=taichi.ERROR)
size = 256
heat = taichi.field(taichi.f32, (size, size))
next_heat = taichi.field(taichi.f32, (size, size))


@taichi.kernel
def spread():
    for i, j in heat:
        total = 0.0
        for shift in taichi.static(((-1, 0), (1, 0), (0, -1), (0, 1))):
            total += heat[(i + shift[0]) % size, (j + shift[1]) % size]
        next_heat[i, j] = total / 4


@taichi.kernel
def copy_back():
    for cell in taichi.grouped(heat):
        heat[cell] = next_heat[cell]


@taichi.kernel
def total_heat() -> taichi.f32:
    total = 0.0
    for cell in taichi.grouped(heat):
        total += heat[cell]
    return total


heat.fill(1.0)
for _ in range(10):
    spread()
    copy_back()
total_heat()
taichi.sync()
print("done")
