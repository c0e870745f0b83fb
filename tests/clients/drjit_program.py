"""A client of Dr.Jit, which compiles what it traced to PTX and finds the driver's functions with dlsym: a loop, sums."""
import drjit
from drjit.cuda import Float, UInt

x = drjit.linspace(Float, 0, 1, 100000)
y = drjit.sin(x) + 2 * x
for _ in range(6):
    y = y * 0.5 + drjit.cos(y)
    drjit.eval(y)
total, running = drjit.sum(y), drjit.cumsum(y)
drjit.eval(total, running)

histogram = drjit.zeros(Float, 64)
drjit.scatter_reduce(drjit.ReduceOp.Add, histogram, y, UInt(x * 63))
drjit.eval(histogram)
drjit.sync_thread()
print("done")
