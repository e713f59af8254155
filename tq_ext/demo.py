"""Runs a vector kernel from Python: `python -m tq_ext.demo`, or `make demo` in the source tree."""

import torch

import tq_ext
from tq_ext import _C

ELEMENTS = 100_000
FACTOR = 2.5


def main() -> None:
    info = tq_ext.build_info()
    if info["mode"] == "cpu":
        raise SystemExit("This build has no kernels; missing: " + "; ".join(info["missing"]))
    on_gpu = info["mode"] == "rocm"
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.randn(ELEMENTS, generator=generator) for _ in range(2))
    # One rounding (a fused multiply-add) or two: both are right, and differ by less than an
    # ulp of the product and one of the sum.
    expected = FACTOR * x.double() + y.double()
    tolerance = torch.finfo(torch.float32).eps * ((FACTOR * x).abs() + expected.abs())

    device = "cuda" if on_gpu else "cpu"
    result = y.to(device)
    _C.axpy(FACTOR, x.to(device), result)

    error = (result.cpu().double() - expected).abs()
    print(f"y += {FACTOR} * x, {ELEMENTS:,} floats, compiled for {', '.join(info['targets'])}")
    print("  by", info["compiler"])
    print("  on", torch.cuda.get_device_name() if on_gpu else "the simulator gfxsim")
    print(f"  largest error {error.max():.2e}")
    if not on_gpu:
        print_counts()
    if (error > tolerance).any():
        raise SystemExit("  wrong result")
    print("  the result is correct")


def print_counts() -> None:
    from tq_ext import gfxsim

    print("  the simulator counted:")
    for name, value in gfxsim.last_launch().as_dict().items():
        print(f"    {name}: {value}")


if __name__ == "__main__":
    main()
