"""python -m tests.isa.check v_add_f32 s_bfe_u32 'v_cvt_*' ...: runs these opcodes' cases only."""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time

from tests.isa.families import families
from tests.isa.runner import Failure


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.isa.check", description=__doc__)
    parser.add_argument("patterns", nargs="+", help="mnemonics without suffix, or shell patterns")
    parser.add_argument("--list", action="store_true", help="print the cases, run nothing")
    parser.add_argument("--all", action="store_true", help="print every failing form")
    parser.add_argument("--quiet", action="store_true", help="print failing opcodes only")
    options = parser.parse_args(argv)
    total, failed, forms, unsupported = 0, 0, 0, 0
    start = time.time()
    for family in families():
        names = [
            n for n in family.mnemonics if any(fnmatch.fnmatch(n, p) for p in options.patterns)
        ]
        if not names:
            continue
        assembled = family.assembled(names)
        total += len(names)
        if options.list:
            for name, some in assembled.items():
                print(f"{name}: {len(some)} forms")
                print("".join(f"  {case.assembly()}\n" for case in some), end="")
            continue
        suite = family.suite(assembled)
        for name in names:
            failures = suite.check(name)
            failed += bool(failures)
            forms += len(assembled[name])
            unsupported += len(suite.unsupported.get(name, []))
            report(name, len(assembled[name]), failures, options)
    if total == 0:
        print(
            "no opcode matches; names are as in v_add_f32, s_bfe_u32, ds_read_b32", file=sys.stderr
        )
        return 2
    print(
        f"{failed} of {total} opcodes fail, {forms} forms ({unsupported} that the simulator "
        f"refuses), {time.time() - start:.1f} s"
    )
    return int(failed > 0)


def report(name: str, count: int, failures: list[Failure], options: argparse.Namespace) -> None:
    if not failures:
        if not options.quiet:
            print(f"{name}: " + (f"{count} forms ok" if count else "not on this target"))
        return
    print(f"{name}: {len(failures)} of {count} forms FAIL")
    shown = failures if options.all else failures[:2]
    for failure in shown:
        print(f"  {failure}")
    if len(failures) > len(shown):
        print(f"  also: {', '.join(f.label.split(' ', 1)[1] for f in failures[len(shown) :])}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
