"""Runs setup.py under a torch that says it was built for ROCm: as_rocm.py SETUP_ARGUMENT..."""

import runpy

import torch

torch.version.hip = "7.1"
torch.version.cuda = None
torch.cuda._is_compiled = lambda: True
runpy.run_path("setup.py", run_name="__main__")
