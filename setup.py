from setuptools import Extension, setup

from build_support.command import BuildExt

# BuildExt finds the sources; what it builds depends on the machine.
setup(ext_modules=[Extension("tq_ext._C", sources=[])], cmdclass={"build_ext": BuildExt})
