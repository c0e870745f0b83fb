"""A client of tinygrad, which drives libcuda by ctypes: a matrix product and a training step, replayed as a graph."""
from tinygrad import Context, Tensor, TinyJit, nn


class Model:
    def __init__(self):
        self.first, self.second = nn.Linear(64, 128), nn.Linear(128, 10)

    def __call__(self, x):
        return self.second(self.first(x).relu())


def main():
    Tensor.manual_seed(1)
    (Tensor.rand(64, 64) @ Tensor.rand(64, 64)).realize()

    model = Model()
    optimizer = nn.optim.SGD(nn.state.get_parameters(model), lr=0.01)

    @TinyJit
    def step(x, y):
        optimizer.zero_grad()
        loss = model(x).sparse_categorical_crossentropy(y).backward()
        optimizer.step()
        return loss.realize()

    x, y = Tensor.rand(32, 64).realize(), Tensor.zeros(32, dtype="int32").contiguous().realize()
    with Context(TRAINING=1):
        for _ in range(8):
            step(x, y)
    print("done")


main()
